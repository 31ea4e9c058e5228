"""Hosts, switches and links as data. Nothing here starts anything.

A `Topology` that exists is consistent: names are unique, links join things that exist, no port is
used twice, every host has one link and lies in the network of its gateway. Port numbers are the
numbers that P4 programs, P4Runtime, Mininet and the kernel's names (`s1-eth2`) use.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from controller.values import Mac
from topo.errors import ModelError

# Names become parts of interface names, of which Linux takes 15 characters: "s12-eth34".
_NAME = re.compile(r"[a-z][a-z0-9]{0,7}")


@dataclass(frozen=True)
class Host:
    """A machine with one interface behind one port of a router."""

    name: str
    address: ipaddress.IPv4Interface
    # The router's address in the host's network; the router answers for it with its port's MAC.
    gateway: ipaddress.IPv4Address
    mac: Mac


@dataclass(frozen=True)
class Port:
    """A port of a switch and what its output queue looks like."""

    number: int
    mac: Mac
    # The line's speed; None: as fast as the machine.
    rate_bps: int | None = None
    # The limit of each queue; None: the switch's default.
    queue_packets: int | None = None


@dataclass(frozen=True)
class Switch:
    """A router: one vitrine-switch."""

    name: str
    device_id: int
    grpc_port: int
    ports: tuple[Port, ...]

    def port(self, number: int) -> Port:
        """The port with that number."""
        for port in self.ports:
            if port.number == number:
                return port
        raise ModelError(f"{self.name} has no port {number}.")


@dataclass(frozen=True)
class End:
    """One end of a link: a node, and the port where the node is a switch."""

    node: str
    port: int | None = None

    def __str__(self) -> str:
        return self.node if self.port is None else f"{self.node} port {self.port}"


@dataclass(frozen=True)
class Link:
    """A cable. Rates and queues belong to the ports at its ends, not to the cable."""

    a: End
    b: End


@dataclass(frozen=True)
class Topology:
    """A network. The constructor refuses one that contradicts itself."""

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        _check_names([node.name for node in (*self.hosts, *self.switches)])
        _check_unique("address", (str(host.address.ip) for host in self.hosts))
        _check_unique("gRPC port", (str(switch.grpc_port) for switch in self.switches))
        for host in self.hosts:
            _check_gateway(host)
        for switch in self.switches:
            _check_unique(f"port of {switch.name}", (str(port.number) for port in switch.ports))
        self._check_links()

    def host(self, name: str) -> Host:
        """The host with that name."""
        return _named("host", name, self.hosts)

    def switch(self, name: str) -> Switch:
        """The switch with that name."""
        return _named("switch", name, self.switches)

    def attachment(self, host: str) -> tuple[Switch, Port]:
        """The switch and the port that a host hangs on."""
        for link in self.links:
            for end, other in ((link.a, link.b), (link.b, link.a)):
                if end.node == host and other.port is not None:
                    switch = self.switch(other.node)
                    return switch, switch.port(other.port)
        raise ModelError(f"there is no host {host!r} on any link.")

    def _check_links(self) -> None:
        hosts = {host.name for host in self.hosts}
        ends = [end for link in self.links for end in (link.a, link.b)]
        for end in ends:
            if end.node in hosts:
                if end.port is not None:
                    raise ModelError(
                        f"link end {end}: a host has one interface, leave the port out."
                    )
            elif end.port is None:
                self.switch(end.node)
                raise ModelError(f"link end {end}: say which port of the switch, as in s1:1.")
            else:
                self.switch(end.node).port(end.port)
        _check_unique("link end", map(str, ends))
        linked = {end.node for end in ends}
        for name in sorted(hosts - linked):
            raise ModelError(f"host {name} is on no link.")
        for switch in self.switches:
            for port in switch.ports:
                if End(switch.name, port.number) not in ends:
                    raise ModelError(f"port {port.number} of {switch.name} is on no link.")


def _named(kind: str, name: str, nodes: Iterable[Host | Switch]) -> Host | Switch:
    for node in nodes:
        if node.name == name:
            return node
    raise ModelError(f"there is no {kind} {name!r}.")


def _check_names(names: list[str]) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ModelError(
                f"{name!r} is no name for a node: use a letter and up to seven letters or digits, "
                "such as h1 or s1."
            )
    _check_unique("name", names)


def _check_unique(what: str, values: Iterable[str]) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise ModelError(f"{what} {value} is used {count} times.")


def _check_gateway(host: Host) -> None:
    if host.gateway not in host.address.network:
        raise ModelError(
            f"host {host.name}: the gateway {host.gateway} is outside its network "
            f"{host.address.network}."
        )
    if host.gateway == host.address.ip:
        raise ModelError(f"host {host.name}: the gateway cannot be the host's own address.")
