"""The scene that the page shows: routers, their addresses and their cables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labs.glass import handouts
from topo.model import End, Switch, Topology


@dataclass(frozen=True)
class Router:
    """A device that speaks P4Runtime and vitrine.v1."""

    name: str
    address: str
    device_id: int


@dataclass(frozen=True)
class Scene:
    """A network and the world that it is in."""

    # live, virtual or recorded
    world: str
    routers: Sequence[Router]
    # The result of `network_of` for the topology; empty where only addresses are known.
    network: Mapping[str, Any] = field(default_factory=dict)
    # Which router and port it is about, as a lab says.
    router: str = ""
    port: int | None = None
    title: str = ""
    # A lesson of the page, by the name of its lab.
    lesson: str = ""
    # Seconds of the network in one of the viewer, to begin with.
    pace: float = 1.0
    # A network in virtual time is watched until then before it is shown, so its rates are known.
    settled_ps: int = 0
    # Where a network in virtual time is driven.
    world_address: str = ""
    # The service that reports the hosts of a live network and starts flows there; pages do not
    # receive its address.
    hosts_address: str = ""
    hosts_key: str = ""
    # Where its programs are from, outside of the kit: what a page may read there is P4.
    folders: Sequence[str] = ()
    # The congestion controls of real hosts; of others they are the kit's own.
    controls: Sequence[str] = ()
    # Whether its time passes for the page alone; else others let it pass.
    is_driven: bool = False
    # The claims of telemetry systems about a queue of a recording: `told` of labs/score/replay.py.
    beliefs: Mapping[str, Any] | None = None
    # When the network came up: with another number it is another one.
    began_ns: int = 0

    def told(self, *, read_only: bool) -> dict[str, Any]:
        """As the page gets it."""
        return {
            "world": self.world,
            "title": self.title,
            "lesson": self.lesson,
            "handouts": handouts.names(),
            "pace": self.pace,
            "settledPs": self.settled_ps,
            "readOnly": read_only,
            "isDriven": self.is_driven,
            "hasHosts": bool(self.world_address),
            "tellsHosts": bool(self.world_address or self.hosts_address),
            "startsFlows": bool(self.world_address or self.hosts_key),
            "controls": list(self.controls),
            # A string: JavaScript has no integers of that size.
            "began": str(self.began_ns),
            "routers": [
                {"name": each.name, "deviceId": each.device_id, "address": each.address}
                for each in self.routers
            ],
            "network": dict(self.network),
            **({"beliefs": self.beliefs} if self.beliefs else {}),
            "about": {"router": self.router, "port": self.port},
        }


def network_of(topology: Topology) -> dict[str, Any]:
    """Names, addresses and cables: all that a drawing of a network needs."""
    return {
        "hosts": [
            {"name": host.name, "addresses": [str(each.ip) for each in host.addresses]}
            for host in topology.hosts
        ],
        "routers": [
            {
                "name": switch.name,
                "deviceId": switch.device_id,
                "addresses": _addresses_of(switch, topology),
            }
            for switch in topology.switches
        ],
        "cables": [
            [{"node": end.node, "port": end.port} for end in (link.a, link.b)]
            for link in topology.links
        ],
    }


def _addresses_of(switch: Switch, topology: Topology) -> list[str]:
    """A router's own addresses: those of its ports, and those that its hosts have for it."""
    own = [each.ip for port in switch.ports for each in port.addresses]
    for host in topology.hosts:
        if topology.neighbour(End(host.name)).node == switch.name:
            own += [each for each in (host.gateway, host.gateway6) if each is not None]
    return [str(each) for each in dict.fromkeys(own)]
