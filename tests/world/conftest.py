"""A real `vitrine-sim serve` on a free port, without root, and networks built in it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import grpc
import pytest
from vitrine.v1 import world_pb2

from controller import compiling
from controller.entries import Call, Entry, Lpm
from controller.session import Session
from controller.toolchain import Toolchain
from controller.values import Mac

ROOT = Path(__file__).resolve().parents[2]
# Where `make build` puts the binaries; another folder can be named for work on the simulator.
BINARIES = Path(os.environ.get("VITRINE_BIN", ROOT / "build/bin"))
DEADLINE_S = 60.0
PS_PER_MS = 10**9
PS_PER_S = 10**12


@dataclass
class World:
    """The calls of vitrine.v1.World, by their names: world.Look(connections=True)."""

    address: str
    channel: grpc.Channel

    def __getattr__(self, name: str) -> Any:
        request_type = getattr(world_pb2, f"{name}Request")
        response_type = getattr(world_pb2, f"{name}Response")
        is_stream = name in ("WatchHosts", "Capture")
        kind = self.channel.unary_stream if is_stream else self.channel.unary_unary
        call = kind(
            f"/vitrine.v1.World/{name}",
            request_serializer=request_type.SerializeToString,
            response_deserializer=response_type.FromString,
        )

        def ask(**fields: Any) -> Any:
            if not is_stream:
                return call(request_type(**fields), timeout=DEADLINE_S)
            stream = call(request_type(**fields))
            # From here on it tells everything.
            stream.initial_metadata()
            return stream

        return ask

    def start(self, host: str, **kind: Any) -> int:
        """Starts an application: start("h1", ping=Ping(...))."""
        return self.Start(host=host, app=world_pb2.App(**kind)).app

    def until_ended(self, *apps: int) -> int:
        """Lets time pass until these have ended, at most a minute; what time it is then."""
        ended = world_pb2.Stop(apps_ended=world_pb2.Stop.AppsEnded(apps=apps))
        stood = self.Advance(span_ps=60 * PS_PER_S, stops=[ended])
        assert stood.HasField("stop"), f"{apps} did not end: {self.Look(apps=True).apps}"
        return stood.time_ps

    def report(self, app: int) -> world_pb2.AppReport:
        """An application's results."""
        return next(each for each in self.Look(apps=True).apps if each.app == app)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A world in which nothing was built."""
    command = [BINARIES / "vitrine-sim", "serve", "--grpc", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["listening"]
            with grpc.insecure_channel(address) as channel:
                yield World(address, channel)
            assert process.poll() is None, "it does not end by itself"
        finally:
            process.terminate()


def host(number: int) -> world_pb2.HostConfig:
    """h1 at 10.0.1.1 behind 10.0.1.254, and so on; it knows its gateway's Ethernet address."""
    gateway = f"10.0.{number}.254"
    known = world_pb2.Neighbour(address=gateway, mac=f"02:00:00:00:00:f{number}")
    return world_pb2.HostConfig(
        name=f"h{number}",
        mac=f"02:00:00:00:00:0{number}",
        addresses=[f"10.0.{number}.1/24"],
        gateways=[gateway],
        neighbours=[known],
    )


def two_routers() -> world_pb2.Topology:
    """h1 - s1 - s2 - h2, 10 Mb/s in the middle and 100 Mb/s at its ends."""
    topology = world_pb2.Topology(hosts=[host(1), host(2)])
    for number in (1, 2):
        router = topology.routers.add(name=f"s{number}", device_id=number)
        router.ports.add(port=1).config.rate_bps = 100_000_000
        router.ports.add(port=2).config.rate_bps = 10_000_000
        cable = topology.cables.add()
        cable.one.node = f"h{number}"
        cable.other.node, cable.other.port = f"s{number}", 1
    cable = topology.cables.add()
    for number, end in ((1, cable.one), (2, cable.other)):
        end.node, end.port = f"s{number}", 2
    return topology


# The Ethernet addresses of the routers' ports in the middle.
_MIDDLE = {1: Mac.parse("02:00:00:00:00:a1"), 2: Mac.parse("02:00:00:00:00:a2")}


def program(session: Session, number: int) -> None:
    """Gives a router of `two_routers` the kit's program and its two routes."""
    session.load(*Toolchain.VITRINE.compiled(compiling.find("router")))
    other = 3 - number
    gateway = Mac.parse(f"02:00:00:00:00:f{number}")
    session.insert(
        [
            _route(f"10.0.{number}.0", 1, gateway, Mac.parse(f"02:00:00:00:00:0{number}")),
            _route(f"10.0.{other}.0", 2, _MIDDLE[number], _MIDDLE[other]),
        ]
    )
    # Packets without a route go to the controller.
    session.modify([Entry("ipv4_routes", None, Call("no_route"))])


def _route(network: str, port: int, own: Mac, neighbour: Mac) -> Entry:
    hop = Call("set_next_hop", port=port, src_addr=own, dst_addr=neighbour)
    return Entry("ipv4_routes", {"hdr.ipv4.dst_addr": Lpm(IPv4Address(network), 24)}, hop)
