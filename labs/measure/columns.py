"""The series of a port from samples that come together: as `router`, many instants at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from controller.columns import Counts, InputColumns, PortColumns
from labs.measure.router import Drop, PortSeries, QueueSeries

# Where packets are dropped, and why: a class, "port" or "input", and the reason.
_Place = tuple[int | str, str]


class GrowingByColumns:
    """A series together with the numbers that its differences are taken from."""

    def __init__(self) -> None:
        self.series = PortSeries()
        self._first: PortColumns | None = None
        # The last counts of drops.
        self._dropped: dict[_Place, int] = {}

    def add(
        self, times_s: Sequence[float], port: PortColumns, input_: InputColumns | None = None
    ) -> None:
        """The next samples."""
        is_first = self._first is None
        first = self._first = self._first or port
        series, total = self.series, port.total
        earlier = len(series.time_s)
        series.packets += total.held_packets
        series.bytes += total.held_bytes
        series.departed_packets += _since(first.total.departed_packets, total.departed_packets)
        series.departed_bytes += _since(first.total.departed_bytes, total.departed_bytes)
        series.backlog_packets += port.backlog_packets
        series.arriving_packets += port.arriving_packets
        series.leaving_packets += port.leaving_packets
        for class_, queue in port.queues.items():
            if class_ not in series.queues:
                # A queue that appears while the recording runs was empty before.
                nothing = [0] * earlier
                series.queues[class_] = QueueSeries([*nothing], [*nothing], [*nothing])
            column = series.queues[class_]
            began = first.queues.get(class_)
            column.packets += queue.held_packets
            column.bytes += queue.held_bytes
            column.departed_bytes += _since(
                began.departed_bytes if began else [0], queue.departed_bytes
            )
        if input_ is not None:
            self._add_input(earlier, len(times_s), input_)
        series.drops += self._new_drops(times_s, port, input_, is_first=is_first)
        # The readers of a growing series go by the length of its times, so they come last.
        series.time_s += times_s

    def _add_input(self, earlier: int, rows: int, columns: InputColumns) -> None:
        series = self.series.input
        series.packets += columns.total.held_packets
        held = {output: column for output, column in columns.voqs.items() if any(column)}
        for output in series.voqs.keys() | held.keys():
            column = series.voqs.setdefault(output, [0] * earlier)
            column += held.get(output, [0] * rows)

    def _new_drops(
        self,
        times_s: Sequence[float],
        port: PortColumns,
        input_: InputColumns | None,
        *,
        is_first: bool,
    ) -> Iterator[Drop]:
        """The drops from one sample to the next, each at the place that knows it best."""
        found: list[tuple[int, int | None, str, int]] = []
        in_queues: dict[tuple[int, str], int] = {}
        for class_, queue in port.queues.items():
            for row, reason, packets in self._risen(class_, queue, is_first=is_first):
                found.append((row, class_, reason, packets))
                in_queues[row, reason] = in_queues.get((row, reason), 0) + packets
        for row, reason, packets in self._risen("port", port.total, is_first=is_first):
            if packets > in_queues.get((row, reason), 0):
                found.append((row, None, reason, packets - in_queues.get((row, reason), 0)))
        if input_ is not None:
            for row, reason, packets in self._risen("input", input_.total, is_first=is_first):
                found.append((row, None, reason, packets))
        found.sort(key=lambda each: each[0])
        return (
            Drop(times_s[row], class_, reason, packets) for row, class_, reason, packets in found
        )

    def _risen(
        self, place: int | str, counts: Counts, *, is_first: bool
    ) -> Iterator[tuple[int, str, int]]:
        """By how much the counts of a place rose, and at which sample."""
        for reason, column in counts.dropped_packets.items():
            # Drops in the first sample happened before the recording began.
            before = column[0] if is_first else self._dropped.get((place, reason), 0)
            self._dropped[place, reason] = column[-1]
            if before == column[-1]:
                continue
            for row, packets in enumerate(column):
                if packets > before:
                    yield row, reason, packets - before
                before = packets


def _since(first: Sequence[int], column: Sequence[int]) -> list[int]:
    began = first[0]
    return [number - began for number in column]
