"""The results of one run of a cell, in either world, and the figures for comparison."""

from __future__ import annotations

import bisect
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labs.measure.router import PortSeries
from tests.conformance.tcp.cells import Cell

# Before this much has left, only greetings have: the flows begin here.
_BEGUN_BYTES = 5_000


@dataclass
class Flow:
    """One connection over time."""

    time_s: list[float] = field(default_factory=list)
    cwnd: list[int] = field(default_factory=list)
    ssthresh: list[int] = field(default_factory=list)
    rtt_ms: list[float] = field(default_factory=list)
    unacked: list[int] = field(default_factory=list)
    retransmits: list[int] = field(default_factory=list)
    acked_bytes: list[int] = field(default_factory=list)


@dataclass
class Run:
    """One run: the bottleneck over time, and its flows."""

    time_s: list[float] = field(default_factory=list)
    packets: list[int] = field(default_factory=list)
    departed_bytes: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    # How long the machine held the router up, in lags of more than `live.LATE_S`.
    held_up_s: list[float] = field(default_factory=list)
    # How hosts and router were scheduled: see `priority`.
    priority: str = ""

    def begins_at_zero(self) -> Run:
        """The same with times that count from the first data."""
        first = bisect.bisect_right(self.departed_bytes, self.departed_bytes[0] + _BEGUN_BYTES)
        zero_s = self.time_s[max(0, min(first, len(self.time_s)) - 1)]
        self.time_s = [time_s - zero_s for time_s in self.time_s]
        for flow in self.flows:
            flow.time_s = [time_s - zero_s for time_s in flow.time_s]
        return self

    def covers(self, cell: Cell) -> bool:
        """Whether all of the cell's flows were there for all of the measured time."""
        return len(self.flows) == cell.flows and all(
            flow.time_s[0] <= cell.settle_s and flow.time_s[-1] >= cell.seconds
            for flow in self.flows
        )

    def save(self, path: Path) -> None:
        """Everything, for looking at."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Run:
        """Reads a saved run."""
        fields: dict[str, Any] = json.loads(path.read_text())
        flows = [Flow(**flow) for flow in fields.pop("flows")]
        return cls(flows=flows, **fields)


def dropped(series: PortSeries) -> list[int]:
    """How many packets a port had dropped, at the instants of its series."""
    drops = iter([*series.drops, None])
    drop, count, counts = next(drops), 0, []
    for time_s in series.time_s:
        while drop is not None and drop.time_s <= time_s:
            count += drop.packets
            drop = next(drops)
        counts.append(count)
    return counts


@dataclass(frozen=True)
class Figures:
    """The numbers that are compared, over a cell's span of measurement."""

    utilisation: float
    queue_packets: float
    drops: int
    # The smallest and the largest flow's share of the total.
    share_min: float
    share_max: float
    retransmits: int
    held_up_s: list[float] = field(default_factory=list)
    priority: str = ""


def figures(cell: Cell, run: Run) -> Figures:
    """Of a run that begins at zero."""
    first = bisect.bisect_left(run.time_s, cell.settle_s)
    last = bisect.bisect_right(run.time_s, cell.seconds) - 1
    span_s = run.time_s[last] - run.time_s[first]
    bits = (run.departed_bytes[last] - run.departed_bytes[first]) * 8
    queue = run.packets[first : last + 1]
    acked = [_between(cell, flow, flow.acked_bytes) for flow in run.flows]
    whole = max(1, sum(acked))
    return Figures(
        utilisation=bits / span_s / cell.rate_bps,
        queue_packets=sum(queue) / len(queue),
        drops=run.dropped[last] - run.dropped[first],
        share_min=min(acked) / whole,
        share_max=max(acked) / whole,
        retransmits=sum(_between(cell, flow, flow.retransmits) for flow in run.flows),
        held_up_s=run.held_up_s,
        priority=run.priority,
    )


def _between(cell: Cell, flow: Flow, column: list[int]) -> int:
    first = min(bisect.bisect_left(flow.time_s, cell.settle_s), len(column) - 1)
    last = bisect.bisect_right(flow.time_s, cell.seconds) - 1
    return column[last] - column[first]
