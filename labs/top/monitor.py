"""The activity of a router between two samples: rates, utilisation, drops, and recent depths.

    monitor = Monitor()
    moment = monitor.take(sample, settings)

Rates are taken over the last second, so that they can be read; depths are those of the sample.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from controller.lines import CableState
from controller.queueing import Limit, PortSettings, RouterSettings
from controller.queues import InputState, PortState, QueueState, Sample

RATE_WINDOW_S = 1.0
# How many depths of each queue are remembered for its history.
HISTORY = 240


@dataclass(frozen=True)
class QueueNow:
    """One queue at one instant."""

    class_: int
    packets: int
    bytes: int
    limit: Limit
    rate_bps: float
    # Since the switch began.
    dropped: Mapping[str, int]
    # Packets a second, over the window.
    drop_rate: float
    history: Sequence[int]

    @property
    def fill(self) -> float:
        """How full the queue is, by the nearer limit; 0 without a limit."""
        shares = [0.0]
        if self.limit.packets:
            shares.append(self.packets / self.limit.packets)
        if self.limit.bytes:
            shares.append(self.bytes / self.limit.bytes)
        return max(shares)


@dataclass(frozen=True)
class PortNow:
    """One port at one instant."""

    number: int
    line_bps: int
    rate_bps: float
    packets: int
    bytes: int
    dropped: Mapping[str, int]
    drop_rate: float
    queues: Sequence[QueueNow]
    # The packets in the neighbour's network card, and on the cable each way.
    receive_line: int = 0
    arriving: int = 0
    leaving: int = 0
    # Refused by the neighbour's card, because it was full.
    refused: int = 0
    # Lost by the kernel or the network device, since the port was made.
    lost_outside: Mapping[str, int] = field(default_factory=dict)
    # The bytes that wait there now, by the names of NetdevCounters.
    held_outside: Mapping[str, int] = field(default_factory=dict)

    @property
    def utilisation(self) -> float:
        """The part of the line that is used; 0 for a line without a rate."""
        return self.rate_bps / self.line_bps if self.line_bps else 0.0

    @property
    def dropped_packets(self) -> int:
        """All reasons together."""
        return sum(self.dropped.values())


@dataclass(frozen=True)
class Moment:
    """A router at one instant, its ports by number."""

    time_s: float
    ports: Sequence[PortNow]
    settings: RouterSettings
    # The input stage, by port, and the matches of the moment as (input, output).
    inputs: Sequence[InputState] = ()
    matches: Sequence[tuple[int, int]] = ()


@dataclass
class Monitor:
    """Remembers what rates and histories need."""

    _samples: deque[Sample] = field(default_factory=deque)
    _history: dict[tuple[int, int], deque[int]] = field(default_factory=dict)

    def take(
        self,
        sample: Sample,
        settings: RouterSettings,
        cables: Mapping[int, CableState] | None = None,
    ) -> Moment:
        """The router at a sample, compared with the one a second before."""
        if self._samples and sample.time_s < self._samples[-1].time_s:
            # The switch was started again: nothing of before can be compared.
            self._samples.clear()
            self._history.clear()
        self._samples.append(sample)
        while sample.time_s - self._samples[0].time_s > RATE_WINDOW_S and len(self._samples) > 2:
            self._samples.popleft()
        before = self._samples[0]
        span_s = sample.time_s - before.time_s
        ports = [
            self._port(state, before.ports.get(number, state), span_s, settings.ports.get(number))
            for number, state in sorted(sample.ports.items())
        ]
        ports = [_with_cable(port, (cables or {}).get(port.number)) for port in ports]
        inputs = [state for _, state in sorted(sample.inputs.items())]
        return Moment(sample.time_s, ports, settings, inputs, sample.matches)

    def _port(
        self, state: PortState, before: PortState, span_s: float, settings: PortSettings | None
    ) -> PortNow:
        settings = settings or PortSettings()
        earlier = {queue.class_: queue for queue in before.queues}
        queues = [
            self._queue(
                state.port,
                queue,
                earlier.get(queue.class_, queue),
                span_s,
                settings,
            )
            for queue in state.queues
        ]
        return PortNow(
            number=state.port,
            line_bps=settings.rate_bps or 0,
            rate_bps=_per_second(state.departed_bytes - before.departed_bytes, span_s) * 8,
            packets=state.held_packets,
            bytes=state.held_bytes,
            dropped=state.dropped_packets,
            drop_rate=_per_second(
                sum(state.dropped_packets.values()) - sum(before.dropped_packets.values()), span_s
            ),
            queues=queues,
            receive_line=state.backlog_packets,
            arriving=state.arriving_packets,
            leaving=state.leaving_packets,
            lost_outside=state.lost_outside,
            held_outside=state.held_outside,
        )

    def _queue(
        self,
        port: int,
        queue: QueueState,
        before: QueueState,
        span_s: float,
        settings: PortSettings,
    ) -> QueueNow:
        history = self._history.setdefault((port, queue.class_), deque(maxlen=HISTORY))
        history.append(queue.held_packets)
        own = settings.queues.get(queue.class_) or settings.every_queue
        return QueueNow(
            class_=queue.class_,
            packets=queue.held_packets,
            bytes=queue.held_bytes,
            limit=(own.limit if own else None) or Limit(),
            rate_bps=_per_second(queue.departed_bytes - before.departed_bytes, span_s) * 8,
            dropped=queue.dropped_packets,
            drop_rate=_per_second(
                sum(queue.dropped_packets.values()) - sum(before.dropped_packets.values()), span_s
            ),
            history=tuple(history),
        )


def _with_cable(port: PortNow, cable: CableState | None) -> PortNow:
    return port if cable is None else replace(port, refused=cable.receive.refused_packets)


def _per_second(count: int, span_s: float) -> float:
    return count / span_s if span_s > 0 else 0.0
