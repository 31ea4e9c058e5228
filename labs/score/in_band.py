"""INT over both routers: the kit's int_router as source and sink, and its collector.

h1 ... h8 -- s1: adds its values -- s2: takes them out, reports to h9 -- r1
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from apps import domain as domains
from controller.telemetry.packet import Flow as CollectorFlow
from controller.world import World
from labs.score import network
from labs.score.flow import Flow
from labs.score.line import Line
from labs.score.network import BOTTLENECK, COLLECTOR, ROUTER
from labs.score.system import PS_PER_NS, Report
from labs.worlds.virtual import telemetry
from labs.worlds.virtual.told import DatagramWatch
from topo.model import Topology

DOMAIN = domains.load(Path(__file__).parent / "in_band.yaml")
# Room for INT beyond the hosts' 1500 bytes: 16 bytes, and 20 for each of two hops.
_MTU_BYTES = 1556
# Ethernet, IPv4 and UDP of a report.
_FRAMING_BYTES = 42


@functools.cache
def topology(line: Line) -> Topology:
    """The scoreboard's network with room for INT between the routers."""
    return network.topology(line, mtu_bytes=_MTU_BYTES)


class Collector:
    """The reports that arrive at the collector's host, for the length of a `with` block."""

    def __init__(self, world: World) -> None:
        world.start(COLLECTOR, telemetry.sink())
        self._watch = DatagramWatch(world, COLLECTOR)

    def __enter__(self) -> Collector:
        self._watch.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.__exit__(kind, error, trace)

    @property
    def bytes(self) -> int:
        """Of all reports, as frames."""
        return sum(len(payload) + _FRAMING_BYTES for _, payload in self._watch.datagrams)

    def reports(self, end_ps: int) -> Iterator[Report]:
        """The first router's values for packets of the scored queue, in order."""
        self._watch.wait_for(end_ps)
        collection = telemetry.collected(self._watch.datagrams)
        flows = {str(flow): _flow(flow) for _, flow in collection.flows.items() if flow}
        every = collection.series(None, DOMAIN.nodes[ROUTER], BOTTLENECK[1], rows_max=1 << 20)
        for row in every:
            if row["egress_port"] != BOTTLENECK[0]:
                continue
            yield Report(
                known_ps=row["received_ns"] * PS_PER_NS,
                time_ps=row["egress_time"] * PS_PER_NS,
                depth_bytes=row["queue_occupancy"],
                wait_ps=row["hop_latency"] * PS_PER_NS,
                packets=1,
                reason=0,
                flow=flows[row["flow"]],
            )


def _flow(flow: CollectorFlow) -> Flow:
    return Flow(
        int(ipaddress.ip_address(flow.source)),
        int(ipaddress.ip_address(flow.destination)),
        flow.protocol,
        flow.source_port,
        flow.destination_port,
    )
