"""The routers' view of their ports in virtual time: complete, and known to be so."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from controller.queues import Queues, Sample
from labs.errors import MeasurementError
from labs.measure.router import Recorder

_READ_DEADLINE_S = 60.0


class VirtualRecorder(Recorder):
    """Series of some ports of one router, to the last sample of an instant."""

    def __init__(
        self, queues: Queues, zero_s: float, *, ports: Sequence[int], interval_ms: int
    ) -> None:
        super().__init__(queues, zero_s, ports=ports, interval_ms=interval_ms)
        self._complete = queues
        self._news = threading.Condition()
        self._complete_until_ps = -1

    def _open(self, ports: Sequence[int]) -> AbstractContextManager[Iterator[Sample]]:
        return self._complete.watch(self._interval_ms, ports, on_complete=self._told_until)

    def _told_until(self, time_ps: int) -> None:
        with self._news:
            self._complete_until_ps = time_ps
            self._news.notify_all()

    def wait_for(self, time_ps: int) -> None:
        """Returns once every sample until that instant has been read."""
        with self._news:
            read = self._news.wait_for(lambda: self._complete_until_ps >= time_ps, _READ_DEADLINE_S)
        self.check()
        if not read:
            raise MeasurementError("a router of the virtual world tells nothing any more.")
