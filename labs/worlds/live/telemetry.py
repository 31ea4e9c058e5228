"""The reports of a telemetry domain: collected in a host, read when all have arrived."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from apps.domain import Domain
from controller.queues import Queues
from labs.measure.reports import HopReport
from labs.worlds.live.clock import Clock
from labs.worlds.live.collector import Collector
from topo import wait
from topo.live import LiveHost
from topo.model import Topology

END_DEADLINE_S = 60.0


class Telemetry:
    """A domain's collector."""

    def __init__(
        self,
        topology: Topology,
        host: Callable[[str], LiveHost],
        queues: Mapping[str, Queues],
        domain: Domain,
        clock: Clock,
    ) -> None:
        """`queues` are those of each router, by name."""
        self._topology = topology
        self._queues = queues
        self._domain = domain
        self._clock = clock
        self._collector = Collector(host(domain.collector))

    def finish(self) -> list[HopReport]:
        """Waits until the last packet has arrived and the last report is read; all reports."""
        wait.until(self._is_empty, "the end of all queues", END_DEADLINE_S)
        self._collector.wait_for(self._reports_sent)
        zeros = {
            switch.name: self._clock.router_zero_s(
                self._queues[switch.name], switch.ports[0].number
            )
            for switch in self._topology.switches
        }
        nodes = {node: name for name, node in self._domain.nodes.items()}
        return self._collector.finish(nodes, zeros)

    def _is_empty(self) -> bool:
        return not any(
            port.held_packets
            for queues in self._queues.values()
            for port in queues.read().ports.values()
        )

    def _reports_sent(self) -> int:
        """Nothing but reports goes to the collector's host."""
        switch, port = self._topology.attachment(self._domain.collector)
        state = self._queues[switch.name].read([port.number])
        return state.ports[port.number].departed_packets
