"""The router's own view of a port: what waits in its queues, what left, what was dropped and why.

    with Recorder(queues, zero_s, ports=[2], interval_ms=1) as recorder:
        ...the flows run and recorder.series[2] grows...

One thread reads the switch's samples. They carry the switch's own time, so that a reader who is
late changes nothing in them.
"""

from __future__ import annotations

import bisect
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, TypeVar

from controller.queues import InputState, PortState, Sample
from topo.backend import QueueReadings


@dataclass(frozen=True)
class Drop:
    """Packets dropped between two samples, for one reason."""

    time_s: float
    # None: dropped before any queue was chosen.
    class_: int | None
    reason: str
    packets: int


@dataclass
class QueueSeries:
    """One queue; each list has an element for every time of its port's series."""

    packets: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    departed_bytes: list[int] = field(default_factory=list)


@dataclass
class InputSeries:
    """The queues of an input port before the fabric, over time."""

    packets: list[int] = field(default_factory=list)
    # Virtual output queues by output, all classes together; a FIFO has none.
    voqs: dict[int, list[int]] = field(default_factory=dict)


@dataclass
class PortSeries:
    """A port over time. Lists grow together; totals count from the first sample."""

    time_s: list[float] = field(default_factory=list)
    packets: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    departed_packets: list[int] = field(default_factory=list)
    departed_bytes: list[int] = field(default_factory=list)
    queues: dict[int, QueueSeries] = field(default_factory=dict)
    # The cable's packets: those that wait in the neighbour's network card, and those under way.
    backlog_packets: list[int] = field(default_factory=list)
    arriving_packets: list[int] = field(default_factory=list)
    leaving_packets: list[int] = field(default_factory=list)
    # The port's other side; empty in a router without an input stage.
    input: InputSeries = field(default_factory=InputSeries)
    drops: list[Drop] = field(default_factory=list)
    # Samples that the reader or the switch was too late for.
    missed: int = 0

    @property
    def dropped_packets(self) -> int:
        """All drops until now."""
        return sum(drop.packets for drop in self.drops)

    def used_queues(self) -> dict[int, QueueSeries]:
        """The queues that anything went through, by class."""
        return {
            class_: queue
            for class_, queue in self.queues.items()
            if any(queue.packets) or queue.departed_bytes[-1:] not in ([], [0])
        }

    def dropped_between(self, start_s: float, end_s: float) -> int:
        """Drops within a span of time."""
        return sum(drop.packets for drop in self.drops if start_s <= drop.time_s < end_s)

    def rows(self, start_s: float, end_s: float) -> slice:
        """The samples within a span of time."""
        return slice(
            bisect.bisect_left(self.time_s, start_s), bisect.bisect_right(self.time_s, end_s)
        )

    def rate_bps(self, start_s: float, end_s: float, class_: int | None = None) -> float:
        """The mean rate at which the port, or one of its queues, sent within a span of time."""
        rows = self.rows(start_s, end_s)
        times = self.time_s[rows]
        sent = (self if class_ is None else self.queues[class_]).departed_bytes[rows]
        if len(times) < 2:
            return 0.0
        return (sent[-1] - sent[0]) * 8 / (times[-1] - times[0])

    def mean_packets(self, start_s: float, end_s: float) -> float:
        """The mean depth within a span of time."""
        depths = self.packets[self.rows(start_s, end_s)]
        return sum(depths) / len(depths) if depths else 0.0


class _Growing:
    """A series together with the states that its differences are taken from."""

    def __init__(self) -> None:
        self.series = PortSeries()
        self._first: PortState | None = None
        self._last: PortState | None = None
        self._last_input: Mapping[str, int] | None = None

    def add(self, time_s: float, state: PortState, input_: InputState | None = None) -> None:
        first = self._first = self._first or state
        series = self.series
        series.packets.append(state.held_packets)
        series.bytes.append(state.held_bytes)
        series.departed_packets.append(state.departed_packets - first.departed_packets)
        series.departed_bytes.append(state.departed_bytes - first.departed_bytes)
        series.backlog_packets.append(state.backlog_packets)
        series.arriving_packets.append(state.arriving_packets)
        series.leaving_packets.append(state.leaving_packets)
        began = {queue.class_: queue.departed_bytes for queue in first.queues}
        for queue in state.queues:
            column = series.queues.setdefault(queue.class_, _late(len(series.time_s)))
            column.packets.append(queue.held_packets)
            column.bytes.append(queue.held_bytes)
            column.departed_bytes.append(queue.departed_bytes - began.get(queue.class_, 0))
        if input_ is not None:
            self._add_input(time_s, input_)
        series.drops.extend(_new_drops(time_s, self._last or state, state))
        self._last = state
        # The readers of a growing series go by the length of its times, so they come last.
        series.time_s.append(time_s)

    def _add_input(self, time_s: float, state: InputState) -> None:
        series = self.series.input
        rows = len(series.packets)
        series.packets.append(state.held_packets)
        held: dict[int, int] = {}
        for voq in state.voqs:
            held[voq.output] = held.get(voq.output, 0) + voq.held_packets
        for output in series.voqs.keys() | held.keys():
            # Only queues that hold something are in a sample.
            series.voqs.setdefault(output, [0] * rows).append(held.get(output, 0))
        before = self._last_input if self._last_input is not None else state.dropped_packets
        for reason, packets in _risen(before, state.dropped_packets):
            self.series.drops.append(Drop(time_s, None, reason, packets))
        self._last_input = state.dropped_packets


def _late(rows: int) -> QueueSeries:
    """A queue that appears while the recording runs was empty before."""
    return QueueSeries([0] * rows, [0] * rows, [0] * rows)


def _new_drops(time_s: float, before: PortState, now: PortState) -> Iterator[Drop]:
    """The drops that `now` counts and `before` does not, each at the place that knows it best."""
    earlier = {queue.class_: queue.dropped_packets for queue in before.queues}
    in_queues: dict[str, int] = {}
    for queue in now.queues:
        for reason, packets in _risen(earlier.get(queue.class_, {}), queue.dropped_packets):
            in_queues[reason] = in_queues.get(reason, 0) + packets
            yield Drop(time_s, queue.class_, reason, packets)
    for reason, packets in _risen(before.dropped_packets, now.dropped_packets):
        if packets > in_queues.get(reason, 0):
            yield Drop(time_s, None, reason, packets - in_queues.get(reason, 0))


def _risen(before: Mapping[str, int], now: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for reason, packets in now.items():
        if packets > before.get(reason, 0):
            yield reason, packets - before.get(reason, 0)


_Self = TypeVar("_Self", bound="SeriesRecorder[Any]")
_ToldT = TypeVar("_ToldT")


class SeriesRecorder(ABC, Generic[_ToldT]):
    """Series of some ports of one router for the length of a `with` block, read by a thread."""

    def __init__(self) -> None:
        self._error: Exception | None = None

    @property
    @abstractmethod
    def series(self) -> dict[int, PortSeries]:
        """The series by port; appended to by the thread only."""

    @abstractmethod
    def _open(self) -> AbstractContextManager[Iterator[_ToldT]]:
        """The router's events."""

    @abstractmethod
    def _take(self, told: _ToldT) -> None:
        """Something that it told; called by the thread only."""

    def __enter__(self: _Self) -> _Self:
        self._watch = self._open()
        told = self._watch.__enter__()
        self._thread = threading.Thread(target=self._read, args=(told,), name="recorder")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.__exit__(kind, error, trace)
        self._thread.join()
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raises what ended the recording early, if something did."""
        if self._error is not None:
            raise self._error

    def _read(self, told: Iterator[_ToldT]) -> None:
        try:
            for each in told:
                self._take(each)
        except Exception as error:  # noqa: BLE001 (the main thread raises it)
            self._error = error


class Recorder(SeriesRecorder[Sample]):
    """Series of the samples that a switch of any kind gives one by one."""

    def __init__(
        self, queues: QueueReadings, zero_s: float, *, ports: Sequence[int], interval_ms: int
    ) -> None:
        """`zero_s`: where the router's own zero lies on the clock of the recording."""
        super().__init__()
        self._queues = queues
        self._zero_s = zero_s
        self._interval_ms = interval_ms
        self._growing = {port: _Growing() for port in ports}

    @property
    def series(self) -> dict[int, PortSeries]:
        """The series by port."""
        return {port: growing.series for port, growing in self._growing.items()}

    def _open(self) -> AbstractContextManager[Iterator[Sample]]:
        return self._queues.watch(self._interval_ms, list(self._growing))

    def _take(self, told: Sample) -> None:
        for port, growing in self._growing.items():
            growing.add(self._zero_s + told.time_s, told.ports[port], told.inputs.get(port))
            growing.series.missed += told.missed
