"""Everything that one run of a lab has recorded, and its files.

All times are seconds since the start of the recording, see `measure.clock`. The files hold the same
numbers as the figures and the table, in columns that carry their units, for a spreadsheet or a
script of the reader's own.
"""

from __future__ import annotations

import bisect
import csv
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

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
        """The rate at which payload arrived within a span of time, as its sender was told."""
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
    """What a run has left. Empty where the lab used no such instrument."""

    # Ports by the name of their interface: s1-eth2.
    ports: dict[str, PortSeries] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    pings: dict[str, Pings] = field(default_factory=dict)
    pages: list[Fetch] = field(default_factory=list)
    # All TCP connections of the hosts that were sampled, by host.
    sockets: dict[str, list[SocketSample]] = field(default_factory=dict)
    # Senders of datagrams, by name.
    bursts: dict[str, Bursts] = field(default_factory=dict)
    # What the routers' telemetry told, a row for each packet and router.
    reports: list[HopReport] = field(default_factory=list)
    # Instants worth a word in the figures.
    moments: list[tuple[float, str]] = field(default_factory=list)
    # What a reader of the numbers has to know about how the routers were set up.
    remarks: list[str] = field(default_factory=list)
    # What the machine took of the time.
    hold_ups: HoldUps = field(default_factory=HoldUps)
    # What else the lab computed or was told, by name.
    numbers: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """One CSV file for each instrument."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, series in self.ports.items():
            _write(folder / f"queues-{name}.csv", *_port_table(series))
            _write_rows(folder / f"drops-{name}.csv", series.drops)
        for host, samples in self.sockets.items():
            _write_rows(folder / f"sockets-{host}.csv", samples)
        for name, pings in self.pings.items():
            _write_rows(folder / f"ping-{name.replace(' ', '-')}.csv", pings.echoes)
        if self.pages:
            _write_rows(folder / "pages.csv", self.pages)
        _write_rows(folder / "datagrams.csv", list(self.bursts.values()))
        _write_rows(folder / "reports.csv", self.reports)


def _port_table(series: PortSeries) -> tuple[list[str], Iterable[Sequence[Any]]]:
    columns: dict[str, Sequence[Any]] = {
        "time_s": [f"{time_s:.6f}" for time_s in series.time_s],
        "packets": series.packets,
        "bytes": series.bytes,
        "departed_packets": series.departed_packets,
        "departed_bytes": series.departed_bytes,
    }
    if series.input.packets:
        columns["input_packets"] = series.input.packets
    for output, packets in sorted(series.input.voqs.items()):
        columns[f"voq_to_{output}_packets"] = packets
    for class_, queue in sorted(series.used_queues().items()):
        columns[f"queue{class_}_packets"] = queue.packets
        columns[f"queue{class_}_bytes"] = queue.bytes
        columns[f"queue{class_}_departed_bytes"] = queue.departed_bytes
    return list(columns), zip(*columns.values(), strict=True)


def _write_rows(path: Path, rows: Sequence[Any]) -> None:
    """Dataclasses as a table; a file without rows is not written."""
    if rows:
        names = [each.name for each in fields(rows[0])]
        _write(path, names, ([getattr(row, name) for name in names] for row in rows))


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
