"""Everything that one run of a lab has recorded; `recording_files` writes it down.

All times are seconds since the start of the recording.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from labs.glass.tape import Tape
from labs.measure import iperf
from labs.measure.datagrams import Bursts
from labs.measure.holdups import HoldUps
from labs.measure.page import Fetch
from labs.measure.ping import Pings
from labs.measure.reports import HopReport
from labs.measure.router import PortSeries
from labs.measure.sockets import SocketSample


@dataclass(frozen=True)
class Flow:
    """A TCP flow by iperf3, from both ends."""

    name: str
    source: str
    target: str
    congestion: str
    result: iperf.Result
    # The sender's connection that carried the data, over time.
    samples: Sequence[SocketSample]

    def throughput_bps(self, start_s: float, end_s: float) -> float:
        """The rate at which payload arrived within a span of time, by its sender's
        acknowledgments."""
        arrived_bytes = _at(self.samples, end_s) - _at(self.samples, start_s)
        return arrived_bytes * 8 / (end_s - start_s)

    def rates(self, window_s: float) -> tuple[list[float], list[float]]:
        """The middle of each window and the payload that arrived in it, in bits a second."""
        if not self.samples:
            return [], []
        start_s, end_s = self.samples[0].time_s, self.samples[-1].time_s
        edges = [start_s + k * window_s for k in range(int((end_s - start_s) / window_s) + 1)]
        spans = list(itertools.pairwise(edges))
        return [(a + b) / 2 for a, b in spans], [self.throughput_bps(a, b) for a, b in spans]


def _at(samples: Sequence[SocketSample], time_s: float) -> float:
    """The payload that had arrived at an instant: on the line between two samples.

    Counted in delivered segments. Acknowledged bytes stand still while a hole is open and jump when
    it closes, although the receiver has everything behind it.
    """
    after = bisect.bisect_left(samples, time_s, key=lambda sample: sample.time_s)
    if after == 0:
        return 0.0
    if after == len(samples):
        return _arrived_bytes(samples[-1])
    left, right = samples[after - 1], samples[after]
    share = (time_s - left.time_s) / (right.time_s - left.time_s)
    before, behind = _arrived_bytes(left), _arrived_bytes(right)
    return before + share * (behind - before)


def _arrived_bytes(sample: SocketSample) -> int:
    return sample.delivered_packets * sample.mss_bytes


@dataclass
class Recording:
    """The records of a run. Empty where the lab used no such instrument."""

    # Ports by the name of their interface: s1-eth2.
    ports: dict[str, PortSeries] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    pings: dict[str, Pings] = field(default_factory=dict)
    pages: list[Fetch] = field(default_factory=list)
    # All TCP connections of the hosts that were sampled, by host.
    sockets: dict[str, list[SocketSample]] = field(default_factory=dict)
    # Senders of datagrams, by name.
    bursts: dict[str, Bursts] = field(default_factory=dict)
    # The routers' telemetry, a row for each packet and router.
    reports: list[HopReport] = field(default_factory=list)
    # Instants worth a word in the figures.
    moments: list[tuple[float, str]] = field(default_factory=list)
    # Remarks on how the routers were set up, for a reader of the numbers.
    remarks: list[str] = field(default_factory=list)
    # Live routers' events, for the page; it is kept as a page of its own.
    tape: Tape | None = None
    # The machine's delays.
    hold_ups: HoldUps = field(default_factory=HoldUps)
    # The lab's other numbers, by name: single ones, and rows by columns.
    numbers: dict[str, float] = field(default_factory=dict)
    tables: dict[str, list[dict[str, float | str]]] = field(default_factory=dict)
