"""The true history of one output queue: which packets waited behind which, build-ups, drops.

    truth = Truth.of(steps, (9, 0), end_ps)
    for buildup in truth.buildups(30_000):
        print(buildup.peak_bytes, buildup.culprits)
    truth.ahead(packet)               # the packets in the queue when this one entered it

A queue's depth is the bytes that wait in it; a frame on the line no longer waits. Times are
picoseconds of virtual time. docs/telemetry-score.md defines every word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from controller.packets import (
    PacketCopied,
    PacketDeparted,
    PacketDropped,
    PacketQueued,
    PacketReceived,
    PacketStep,
    PacketTransmitted,
    Queue,
)
from labs.score.flow import Flow


@dataclass(slots=True)
class Packet:
    """A packet that was meant for the queue."""

    # Its number in the switch.
    number: int
    flow: Flow
    # As it arrived at the switch.
    length_bytes: int
    arrived_ps: int
    # None: it never entered the queue.
    enqueued_ps: int | None = None
    # The depth before it entered.
    found_bytes: int = 0
    # None: it was dropped, or it still waits at the end.
    departed_ps: int | None = None
    # The line was free again after it; None: it was not sent.
    line_free_ps: int | None = None
    # A name of vitrine.v1.DropReason; empty: it was not dropped.
    dropped: str = ""
    dropped_ps: int | None = None

    @property
    def wait_ps(self) -> int | None:
        """None if it did not leave through the queue."""
        if self.enqueued_ps is None or self.departed_ps is None:
            return None
        return self.departed_ps - self.enqueued_ps


@dataclass(frozen=True, slots=True)
class Change:
    """A packet entered or left the queue."""

    time_ps: int
    packet: Packet
    entered: bool
    # The depth after it.
    bytes: int


@dataclass(frozen=True)
class BuildUp:
    """A period in which the queue was deep. Counters hold packets by flow."""

    # The last instant before the crossing at which the queue held at most half the threshold.
    begin_ps: int
    # It reached the threshold.
    crossed_ps: int
    # It was deepest, for the first time.
    peak_ps: int
    # It held at most half the threshold again; or the end of the recording.
    end_ps: int
    peak_bytes: int
    # In the queue at the peak, with the packet that made it the peak.
    culprits: Counter[Flow]
    # Enqueued from the begin to the peak.
    contributors: Counter[Flow]
    # Enqueued into a queue that held at least the threshold.
    victims: Counter[Flow]
    # Dropped at this queue from the begin to the end.
    dropped: Counter[Flow]


class Truth:
    """All packets of one queue, and its depth at every instant."""

    def __init__(self, packets: Sequence[Packet], changes: Sequence[Change], end_ps: int) -> None:
        """Packets in the order of their arrival; `end_ps` ends the recording."""
        self.packets = packets
        self.changes = changes
        self.end_ps = end_ps

    @classmethod
    def of(cls, steps: Iterable[PacketStep], queue: Queue, end_ps: int) -> Truth:
        """From every step of every packet of a switch whose queue was empty at the beginning."""
        packets: dict[int, Packet] = {}
        changes: list[Change] = []
        # An ordered set.
        concerned: dict[int, None] = {}
        held_bytes = 0

        def change(time_ps: int, packet: Packet, *, entered: bool) -> None:
            nonlocal held_bytes
            held_bytes += packet.length_bytes if entered else -packet.length_bytes
            changes.append(Change(time_ps, packet, entered, held_bytes))

        for step in steps:
            match step:
                case PacketReceived() | PacketCopied():
                    flow = Flow.of_head(step.head)
                    packets[step.packet] = Packet(
                        step.packet, flow, step.length_bytes, step.time_ps
                    )
                case PacketQueued() if step.queue == queue:
                    packet = packets[step.packet]
                    packet.enqueued_ps, packet.found_bytes = step.time_ps, held_bytes
                    concerned[step.packet] = None
                    change(step.time_ps, packet, entered=True)
                case PacketDeparted() if step.queue == queue:
                    packet = packets[step.packet]
                    packet.departed_ps = step.time_ps
                    change(step.time_ps, packet, entered=False)
                case PacketTransmitted() if step.packet in concerned:
                    packets[step.packet].line_free_ps = step.until_ps
                case PacketDropped() if step.queue == queue:
                    packet = packets[step.packet]
                    packet.dropped, packet.dropped_ps = step.reason, step.time_ps
                    concerned[step.packet] = None
                    if packet.enqueued_ps is not None and packet.departed_ps is None:
                        change(step.time_ps, packet, entered=False)
        return cls([packets[number] for number in concerned], changes, end_ps)

    # ---- questions -------------------------------------------------------------------------------

    def waits(self) -> Iterator[tuple[Packet, list[Packet]]]:
        """Each packet that entered the queue, with the packets ahead of it there, in order."""
        waiting: dict[int, Packet] = {}
        for change in self.changes:
            if change.entered:
                yield change.packet, list(waiting.values())
            _replay(waiting, change)

    def ahead(self, packet: Packet) -> list[Packet]:
        """The packets in the queue when this one entered it, in the order of their arrival."""
        return next(ahead for each, ahead in self.waits() if each is packet)

    def buildups(self, threshold_bytes: int) -> list[BuildUp]:
        """Every period in which the queue reached the threshold, in the order of time."""
        found: list[BuildUp] = []
        periods = iter(self._periods(threshold_bytes))
        period = next(periods, None)
        waiting: dict[int, Packet] = {}
        for index, change in enumerate(self.changes):
            _replay(waiting, change)
            if period is not None and index == period.peak:
                culprits = Counter(packet.flow for packet in waiting.values())
                found.append(self._buildup(period, culprits, threshold_bytes))
                period = next(periods, None)
        return found

    def _periods(self, threshold_bytes: int) -> Iterator[_Period]:
        begin = -1
        crossed: int | None = None
        peak = 0
        for index, change in enumerate(self.changes):
            if crossed is None and change.bytes >= threshold_bytes:
                crossed = peak = index
            if crossed is not None and change.bytes > self.changes[peak].bytes:
                peak = index
            if change.bytes <= threshold_bytes // 2:
                if crossed is not None:
                    yield _Period(begin, crossed, peak, index)
                begin, crossed = index, None
        if crossed is not None:
            yield _Period(begin, crossed, peak, len(self.changes))

    def _buildup(self, period: _Period, culprits: Counter[Flow], threshold_bytes: int) -> BuildUp:
        begin_ps = self.changes[period.begin].time_ps if period.begin >= 0 else 0
        is_over = period.end < len(self.changes)
        end_ps = self.changes[period.end].time_ps if is_over else self.end_ps
        peak = self.changes[period.peak]
        return BuildUp(
            begin_ps,
            self.changes[period.crossed].time_ps,
            peak.time_ps,
            end_ps,
            peak.bytes,
            culprits,
            contributors=Counter(self._entered(period.begin + 1, period.peak + 1)),
            victims=Counter(self._entered(period.crossed, period.end, threshold_bytes)),
            dropped=self._dropped(begin_ps, end_ps),
        )

    def _entered(self, first: int, end: int, found_bytes: int = 0) -> Iterator[Flow]:
        """The flow of each packet that entered in these changes and found at least this depth."""
        for change in self.changes[first:end]:
            if change.entered and change.packet.found_bytes >= found_bytes:
                yield change.packet.flow

    def _dropped(self, begin_ps: int, end_ps: int) -> Counter[Flow]:
        return Counter(
            packet.flow
            for packet in self.packets
            if packet.dropped_ps is not None and begin_ps <= packet.dropped_ps <= end_ps
        )


@dataclass(frozen=True)
class _Period:
    """A build-up as places in the list of changes."""

    # -1: the queue has been low since the beginning.
    begin: int
    crossed: int
    peak: int
    # The length of the list: it has not ended.
    end: int


def _replay(waiting: dict[int, Packet], change: Change) -> None:
    """Brings the packets in the queue, in the order of their arrival, up to after a change."""
    if change.entered:
        waiting[change.packet.number] = change.packet
    else:
        del waiting[change.packet.number]
