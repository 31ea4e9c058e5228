"""A telemetry domain as data: who is in it, what is watched, where reports go.

    nodes: {s1: 1, s2: 2, s3: 3}       # every router of the domain and its node id
    collector: h9                      # the host that runs the collector
    watch:
      - flow: {source: 10.0.1.0/24, destination: 10.0.2.2/32, protocol: tcp, destination port: 5001}
        mode: md                       # md, mx, postcards or drops-only
        collect: [node id, ports, hop latency, queue]
        hops: 6
    drops: {every: 10 ms, all flows: yes}
    congestion: {above: 30 kB, reports: 100}
    report queue: 1                    # of every port, so that reports do not wait with the data

Mistakes are said with file and line. `apps.telemetry` makes table entries of it.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from controller.telemetry.instructions import (
    BITMAP_BITS,
    CHECKSUM_COMPLEMENT,
    NODE_ID,
    PACKET_INSTRUCTIONS,
    words_of,
)
from topo import units
from topo.document import Place

# The words of a stack that the sink's parser has room for.
STACK_WORDS_MAX = 63
REPORTED_BYTES = 256
NS_PER_US = 1000

_PROTOCOLS = {"tcp": 6, "udp": 17, "any": 0}
_COLLECT = {
    "node id": 0,
    "ports": 1,
    "hop latency": 2,
    "queue": 3,
    "ingress time": 4,
    "egress time": 5,
    "interfaces": 6,
    "utilisation": 7,
    "buffer": 8,
    "checksum complement": 15,
}

# The port that the kit's routers send their reports to.
REPORT_PORT = 32766


class Mode(Enum):
    """How the nodes of a flow report its packets."""

    # Every hop writes into the packet, the sink reports.
    MD = "md"
    # The source writes instructions into the packet, every hop reports.
    MX = "mx"
    # Every hop reports, nothing is written into the packet.
    POSTCARDS = "postcards"
    # Only drops and congestion are reported.
    DROPS_ONLY = "drops-only"


@dataclass(frozen=True)
class Flows:
    """Which packets are meant; None and 0 mean any."""

    source: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    destination: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    protocol: int = 0
    source_port: int = 0
    destination_port: int = 0

    @property
    def versions(self) -> tuple[int, ...]:
        """The IP versions that the addresses allow."""
        given = {network.version for network in (self.source, self.destination) if network}
        return tuple(version for version in (4, 6) if not given or given == {version})


@dataclass(frozen=True)
class Watch:
    """The metadata to report for some flows."""

    flows: Flows
    mode: Mode
    bitmap: int = 0
    hops: int = 0

    @property
    def hop_words(self) -> int:
        """The words that each hop adds to a packet."""
        return words_of(self.bitmap, PACKET_INSTRUCTIONS) if self.mode is Mode.MD else 0


@dataclass(frozen=True)
class Congestion:
    """Packets that leave more than this behind are reported, up to a number in one event."""

    above_bytes: int
    reports_max: int


@dataclass(frozen=True)
class Drops:
    """Drops are reported once for each flow, queue and reason in this time."""

    every_us: int
    all_flows: bool


@dataclass(frozen=True)
class Domain:
    """Node ids by router, the collector's host, and what is watched; earlier entries win."""

    nodes: dict[str, int]
    collector: str
    watch: tuple[Watch, ...]
    drops: Drops | None = None
    congestion: Congestion | None = None
    # The longest IP packet that INT may make; None: what each link takes.
    mtu_bytes: int | None = None
    reported_bytes: int = REPORTED_BYTES
    # The queue (class) of every port that reports wait in, on all their way.
    report_queue: int = 0


def load(path: Path) -> Domain:
    """Reads a domain; a `ModelError` names the line of a mistake."""
    optional = ("watch", "drops", "congestion", "mtu", "reported", "report queue")
    parts = Place.load(path).fields(required=("nodes", "collector"), optional=optional)
    size = {
        name: parts[name].parse(units.size_bytes) for name in ("mtu", "reported") if name in parts
    }
    return Domain(
        nodes={
            name: place.whole(low=1, high=0xFFFFFFFF)
            for name, place in parts["nodes"].entries().items()
        },
        collector=parts["collector"].text(),
        watch=tuple(_watch(place) for place in parts["watch"].items()) if "watch" in parts else (),
        drops=_drops(parts["drops"]) if "drops" in parts else None,
        congestion=_congestion(parts["congestion"]) if "congestion" in parts else None,
        mtu_bytes=size.get("mtu"),
        reported_bytes=size.get("reported", REPORTED_BYTES),
        report_queue=parts["report queue"].whole(high=7) if "report queue" in parts else 0,
    )


def _watch(place: Place) -> Watch:
    fields = place.fields(required=("mode",), optional=("flow", "collect", "hops"))
    mode = fields["mode"].one_of({mode.value: mode for mode in Mode})
    flows = _flows(fields["flow"]) if "flow" in fields else Flows()
    if mode is Mode.DROPS_ONLY:
        return Watch(flows, mode)
    if "collect" not in fields:
        place.refuse("lacks 'collect': which values the nodes are to tell.")
    bitmap = 0
    for item in fields["collect"].items():
        bitmap |= 1 << (BITMAP_BITS - 1 - item.one_of(_COLLECT))
    if mode is not Mode.MD:
        # Reports have the node's id in front, and no checksum to complement.
        return Watch(flows, mode, bitmap & ~(NODE_ID.mask | CHECKSUM_COMPLEMENT.mask))
    words = words_of(bitmap, PACKET_INSTRUCTIONS)
    most = STACK_WORDS_MAX // max(1, words)
    hops = fields["hops"].whole(low=1, high=255) if "hops" in fields else min(most, 8)
    if hops > most:
        fields["hops"].refuse(
            f"is {hops}, and {words} words a hop leave room for {most}: "
            f"a sink takes {STACK_WORDS_MAX} words out."
        )
    return Watch(flows, mode, bitmap, hops)


def _flows(place: Place) -> Flows:
    ports = ("source port", "destination port")
    fields = place.fields(optional=("source", "destination", "protocol", *ports))
    flows = Flows(
        source=fields["source"].parse(ipaddress.ip_network) if "source" in fields else None,
        destination=(
            fields["destination"].parse(ipaddress.ip_network) if "destination" in fields else None
        ),
        protocol=fields["protocol"].one_of(_PROTOCOLS) if "protocol" in fields else 0,
        source_port=_port(fields, "source port"),
        destination_port=_port(fields, "destination port"),
    )
    if not flows.versions:
        place.refuse("has a source and a destination of different IP versions.")
    return flows


def _port(fields: dict[str, Place], name: str) -> int:
    return fields[name].whole(low=1, high=0xFFFF) if name in fields else 0


def _drops(place: Place) -> Drops:
    fields = place.fields(required=("every",), optional=("all flows",))
    every_ns = fields["every"].parse(units.span_ns)
    all_flows = fields["all flows"].flag() if "all flows" in fields else False
    # The program counts microseconds, and takes 0 for "off".
    return Drops(max(1, every_ns // NS_PER_US), all_flows)


def _congestion(place: Place) -> Congestion:
    fields = place.fields(required=("above", "reports"))
    above_bytes = fields["above"].parse(units.size_bytes)
    return Congestion(above_bytes, fields["reports"].whole(low=1, high=0xFFFF))
