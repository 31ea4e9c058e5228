"""Finding bursts in packets' telemetry: the queue, its begin and end, and the owners of its
packets.

A queue is in a burst while it holds more than a threshold. Who filled it are the flows whose
packets came while it grew: from when it was last as good as empty until it was at its fullest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labs.measure.reports import HopReport

# Below this a queue holds what any two flows do that meet: some full frames.
THRESHOLD_BYTES = 20_000
EMPTY_BYTES = 3_000
# A queue that is above the threshold again after less than this is in the same burst.
LULL_S = 0.005
US_PER_S = 1e6


@dataclass(frozen=True)
class Burst:
    """A queue that filled and emptied again."""

    # Router, port, class.
    place: tuple[str, int, int]
    # From the first packet that came after it was nearly empty to the next one that left it so.
    start_s: float
    peak_s: float
    end_s: float
    peak_bytes: int
    # How many packets of each flow came while it grew.
    packets: Counter[str]

    @property
    def culprit(self) -> str:
        """The flow that brought the most."""
        return self.packets.most_common(1)[0][0] if self.packets else ""

    @property
    def culprit_share(self) -> float:
        """Its share of the arrivals."""
        return self.packets[self.culprit] / self.packets.total() if self.packets else 0.0


def by_place(reports: Iterable[HopReport]) -> dict[tuple[str, int, int], list[HopReport]]:
    """The reports of each queue, in the order of departures."""
    found: dict[tuple[str, int, int], list[HopReport]] = defaultdict(list)
    for report in reports:
        if report.occupancy_bytes is not None:
            found[report.place].append(report)
    for rows in found.values():
        rows.sort(key=lambda report: report.time_s)
    return dict(found)


def fullest(reports: Iterable[HopReport]) -> tuple[tuple[str, int, int], int]:
    """The queue in which a packet left the most behind, and how much."""
    highest = {
        place: max(row.occupancy_bytes or 0 for row in rows)
        for place, rows in by_place(reports).items()
    }
    place = max(highest, key=lambda each: (highest[each], each))
    return place, highest[place]


def find(reports: Iterable[HopReport]) -> list[Burst]:
    """All bursts in all queues, in the order of time."""
    bursts = [burst for rows in by_place(reports).values() for burst in _bursts_of(rows)]
    return sorted(bursts, key=lambda burst: burst.start_s)


def _bursts_of(rows: Sequence[HopReport]) -> Iterable[Burst]:
    """The bursts of one queue: packets that left it above the threshold, without a lull."""
    groups: list[list[int]] = []
    for index, row in enumerate(rows):
        if (row.occupancy_bytes or 0) < THRESHOLD_BYTES:
            continue
        if groups and row.time_s - rows[groups[-1][-1]].time_s <= LULL_S:
            groups[-1].append(index)
        else:
            groups.append([index])
    return [_burst(rows, group[0], group[-1]) for group in groups]


def _burst(rows: Sequence[HopReport], first: int, last: int) -> Burst:
    # Back to the packet that came first after the queue was nearly empty.
    start, end = first, last
    while start > 0 and (rows[start - 1].occupancy_bytes or 0) > EMPTY_BYTES:
        start -= 1
    while end + 1 < len(rows) and (rows[end].occupancy_bytes or 0) > EMPTY_BYTES:
        end += 1
    peak = max(range(first, last + 1), key=lambda index: rows[index].occupancy_bytes or 0)
    start_s, peak_s = arrival_s(rows[start]), rows[peak].time_s
    # Packets leave in the order in which they came: those behind the peak may have come before it.
    came = Counter(row.flow for row in rows[start : end + 1] if start_s <= arrival_s(row) <= peak_s)
    peak_bytes = rows[peak].occupancy_bytes or 0
    return Burst(rows[first].place, start_s, peak_s, rows[end].time_s, peak_bytes, came)


def arrival_s(row: HopReport) -> float:
    """When the packet came into the router."""
    return row.time_s - (row.latency_us or 0.0) / US_PER_S


def ways(reports: Iterable[HopReport], flow: str) -> list[dict[str, HopReport]]:
    """Each packet of a flow: every router's report on it, in the order of the reports."""
    packets: dict[tuple[str, int], dict[str, HopReport]] = defaultdict(dict)
    for report in reports:
        if report.flow == flow:
            packets[report.reporter, report.sequence][report.router] = report
    return list(packets.values())
