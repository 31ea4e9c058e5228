"""Records what a router's port does while something else happens.

    with Recorder(queues, port=2, interval_ms=20) as recorder:
        ...the flow runs and recorder.readings grows...

One thread reads the switch's samples; the samples carry the switch's own clock, so the reader's
delays change nothing in them.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from controller.queues import PortState, Queues, Sample


@dataclass(frozen=True)
class Reading:
    """One port at one instant, counted from the recorder's first sample."""

    time_s: float
    depth_packets: int
    depth_bytes: int
    departed_bytes: int
    departed_packets: int
    dropped_packets: int

    @classmethod
    def of(cls, state: PortState, first: PortState, time_s: float) -> Reading:
        """A state as the change since the first one."""
        return cls(
            time_s=time_s,
            depth_packets=state.held_packets,
            depth_bytes=state.held_bytes,
            departed_bytes=state.departed_bytes - first.departed_bytes,
            departed_packets=state.departed_packets - first.departed_packets,
            dropped_packets=sum(state.dropped_packets.values())
            - sum(first.dropped_packets.values()),
        )


class Recorder:
    """Readings of one port for the length of a `with` block."""

    def __init__(self, queues: Queues, *, port: int, interval_ms: int) -> None:
        self._queues = queues
        self._port = port
        self._interval_ms = interval_ms
        # Appended to by the thread only; a list's append and length are safe to use beside it.
        self.readings: list[Reading] = []
        self.missed = 0
        self._error: Exception | None = None

    def __enter__(self) -> Recorder:
        self._watch = self._queues.watch(self._interval_ms, [self._port])
        samples = self._watch.__enter__()
        self._thread = threading.Thread(target=self._read, args=(samples,), name="recorder")
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

    def _read(self, samples: Iterator[Sample]) -> None:
        first: tuple[PortState, float] | None = None
        try:
            for sample in samples:
                state = sample.ports[self._port]
                first = first or (state, sample.time_s)
                self.missed += sample.missed
                self.readings.append(Reading.of(state, first[0], sample.time_s - first[1]))
        except Exception as error:  # noqa: BLE001 (the main thread raises it)
            self._error = error


def throughput_bps(readings: Sequence[Reading]) -> float:
    """The mean rate at which the port sent over these readings."""
    if len(readings) < 2 or readings[-1].time_s == readings[0].time_s:
        return 0.0
    sent_bytes = readings[-1].departed_bytes - readings[0].departed_bytes
    return sent_bytes * 8 / (readings[-1].time_s - readings[0].time_s)


def busy(readings: Sequence[Reading]) -> Sequence[Reading]:
    """The readings from the first to the last that saw a packet waiting."""
    waiting = [index for index, reading in enumerate(readings) if reading.depth_packets > 0]
    return readings[waiting[0] : waiting[-1] + 1] if waiting else []


def write_csv(readings: Sequence[Reading], path: Path) -> None:
    """All readings as a table for a spreadsheet or a script; columns carry their units."""
    columns = list(Reading.__dataclass_fields__)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for reading in readings:
            writer.writerow(
                [f"{reading.time_s:.6f}", *(getattr(reading, name) for name in columns[1:])]
            )
