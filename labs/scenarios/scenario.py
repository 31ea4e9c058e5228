"""A scenario: a network as the kit's topology files describe it, and what its hosts do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from vitrine.v1 import world_pb2

from apps.domain import Domain
from controller.classes import Rule
from controller.session import Session
from controller.toolchain import ROOT
from topo.model import Topology

P4_SOURCES = ROOT / "p4src"
ROUTER = P4_SOURCES / "programs" / "router.p4"
PS_PER_S = 10**12
# A host's name and what it does.
App: TypeAlias = tuple[str, world_pb2.App]


@dataclass(frozen=True)
class Scenario:
    """A network in virtual time with its traffic, ready to be watched."""

    name: str
    title: str
    # Its point, in a sentence or two.
    summary: str
    topology: Topology
    # The programs that its hosts start at the instant 0, in this order.
    apps: Sequence[App]
    # The router and the port that it is about.
    router: str
    port: int
    # All its routers run this; None: the kit's router, with telemetry where there is a domain.
    program: Path | None = None
    domain: Domain | None = None
    # Which packets go into which class, by router.
    rules: Sequence[tuple[str, Sequence[Rule]]] = ()
    # Other writes to routers before the first packet.
    filling: Sequence[tuple[str, Callable[[Session], None]]] = ()
    # A lesson of the page, by the name of its lab.
    lesson: str = ""
    # Seconds of the network in one of the viewer.
    pace: float = 1e-3
    # How much time has passed when it is first seen.
    settled_ps: int = PS_PER_S
    seed: int = 1
    # In the gallery scenarios stand together by this.
    group: str = "Labs"


def tcp(
    source: str, target: str, port: int, congestion: str = "", pacing_bps: int = 0
) -> list[App]:
    """A TCP flow as long as the world lasts; its listener comes first."""
    peer = world_pb2.Peer(host=target, port=port)
    bulk = world_pb2.Bulk(to=peer, congestion_control=congestion, pacing_rate_bps=pacing_bps)
    return [
        (target, world_pb2.App(listener=world_pb2.Listener(port=port))),
        (source, world_pb2.App(bulk=bulk)),
    ]


def bursts(
    source: str, target: str, port: int, *, payload_bytes: int, datagrams: int, bps: int
) -> list[App]:
    """Bursts of datagrams with pauses between, at that mean rate."""
    sender = world_pb2.DatagramSource(
        to=world_pb2.Peer(host=target, port=port),
        payload_bytes=payload_bytes,
        bursts=world_pb2.DatagramSource.Bursts(rate_bps=bps, datagrams=datagrams),
    )
    return [
        (target, world_pb2.App(datagram_sink=world_pb2.DatagramSink(port=port))),
        (source, world_pb2.App(datagram_source=sender)),
    ]


def poisson(source: str, target: str, port: int, *, payload_bytes: int, bps: int) -> list[App]:
    """Datagrams at a constant mean rate and at random instants: no two senders keep in step."""
    sender = world_pb2.DatagramSource(
        to=world_pb2.Peer(host=target, port=port),
        payload_bytes=payload_bytes,
        poisson=world_pb2.DatagramSource.Poisson(rate_bps=bps),
    )
    return [
        (target, world_pb2.App(datagram_sink=world_pb2.DatagramSink(port=port))),
        (source, world_pb2.App(datagram_source=sender)),
    ]


def ping(source: str, target: str) -> App:
    """Ten requests a second."""
    return source, world_pb2.App(ping=world_pb2.Ping(to=target, interval_ns=100_000_000))
