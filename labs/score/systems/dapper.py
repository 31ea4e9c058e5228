"""Dapper: whether its sender, the network or its receiver limits each TCP connection."""

from __future__ import annotations

from labs.score.claim import Claim, from_estimates
from labs.score.system import PS_PER_NS, Device, Question, Report, System

# Of reports, as bits: what was seen in a window. SENDER stands alone.
SENDER, NETWORK, RECEIVER = 1, 2, 4
# 1.05 ms at 1 Gb/s.
WINDOW_BITS = 20


class Dapper(System):
    """Connections that the network limits are its sign of a queue; it sees TCP only."""

    name = "dapper"
    summary = "TCP connections that the network limits, and their packets in each ms"
    after = "Ghasemi, Benson and Rexford, Dapper, SOSR 2017"

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._reports: list[Report] = []

    def install(self, device: Device) -> None:
        """How much longer than the shortest a round trip may take."""
        device.write("threshold_ns", self.question.threshold_ps // PS_PER_NS)

    def take(self, report: Report) -> None:
        """The limit of a connection in its last window, and its packets there."""
        self._reports.append(report)

    def claims(self) -> list[Claim]:
        """Windows in which the network limits a connection, one after the other."""
        sightings = [report.sighting() for report in self._reports if report.reason & NETWORK]
        return from_estimates(
            sightings, 2 * self.question.line.window_ps(WINDOW_BITS), has_depth=False
        )
