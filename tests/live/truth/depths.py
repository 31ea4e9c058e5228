"""The depths of all queues of a router after each departure: from its event stream.

    with Listener(session, queues) as listener:
        ...packets pass...
        listener.wait_until(time_ps)
    listener.departures

The stream says of every packet that enters or leaves a queue what waits there then. A listener that
missed an event would compare with numbers that are too old, so a gap is an error.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType

from controller.session import Session
from controller.watch import QueueChange, Sample, Told, Watched, watch
from topo import wait

# A sample stands in the stream behind everything that happened before it.
SAMPLE_INTERVAL_MS = 100


@dataclass(frozen=True)
class Departure:
    """A packet left a queue."""

    time_ps: int
    port: int
    queue: int
    # Its length while it waited.
    length_bytes: int
    # The bytes left in its queue, and in all queues of the router.
    queue_bytes: int
    router_bytes: int


class Listener:
    """Every departure of one router for the length of a `with` block."""

    def __init__(self, session: Session, queues: Iterable[tuple[int, int]]) -> None:
        self._context = watch(session, interval_ms=SAMPLE_INTERVAL_MS, queues=queues)
        self.departures: list[Departure] = []
        self.error: BaseException | None = None
        self._told_until_ps = 0
        self._held: dict[tuple[int, int], int] = {}

    def __enter__(self) -> Listener:
        told = self._context.__enter__()
        self._held = {queue: size for queue, (_, size) in told.start.held.items()}
        self._thread = threading.Thread(target=self._listen, args=(told,), name="depths")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._context.__exit__(kind, error, trace)
        self._thread.join()
        if kind is None and self.error is not None:
            raise self.error

    def wait_until(self, time_ps: int, deadline_s: float) -> None:
        """Returns when all events before this instant have come."""
        wait.until(
            lambda: self.error is not None or self._told_until_ps >= time_ps,
            "the end of the event stream",
            deadline_s,
        )

    def _listen(self, told: Watched) -> None:
        try:
            for event in told:
                self._take(event)
        except BaseException as error:  # noqa: BLE001 (the test's thread raises it)
            self.error = error

    def _take(self, event: Told) -> None:
        if isinstance(event, Sample):
            self._told_until_ps = event.time_ps
            return
        assert isinstance(event, QueueChange), f"the switch has lost events: {event}"
        queue = (event.port, event.class_)
        before = self._held[queue]
        sign = 1 if event.change == "ENQUEUED" else -1
        # The stream is a truth only if each number follows from the one before.
        assert event.bytes == before + sign * event.length_bytes, event
        self._held[queue] = event.bytes
        if event.change == "DEPARTED":
            self.departures.append(
                Departure(
                    event.time_ps,
                    *queue,
                    event.length_bytes,
                    event.bytes,
                    sum(self._held.values()),
                )
            )
