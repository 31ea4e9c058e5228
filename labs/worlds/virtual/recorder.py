"""The routers' view of their ports in virtual time: complete, and known to be so."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from controller.columns import Columns
from controller.queues import Queues
from labs.errors import MeasurementError
from labs.measure.columns import GrowingByColumns
from labs.measure.router import PortSeries, SeriesRecorder

_READ_DEADLINE_S = 60.0


class VirtualRecorder(SeriesRecorder[Columns]):
    """Series of some ports of one router, to the last sample of an instant.

    Samples come together, as nobody waits for the single one: time stands still meanwhile.
    """

    def __init__(
        self, queues: Queues, zero_s: float, *, ports: Sequence[int], interval_ms: int
    ) -> None:
        """`zero_s`: where the router's own zero lies on the clock of the recording."""
        super().__init__()
        self._queues = queues
        self._zero_s = zero_s
        self._interval_ms = interval_ms
        self._growing = {port: GrowingByColumns() for port in ports}
        self._news = threading.Condition()
        # Nothing comes before the first instant, and a router's 0 does not say that one.
        self._complete_until_ps = 0

    @property
    def series(self) -> dict[int, PortSeries]:
        """The series by port."""
        return {port: growing.series for port, growing in self._growing.items()}

    def _open(self) -> AbstractContextManager[Iterator[Columns]]:
        return self._queues.watch_together(
            self._interval_ms, list(self._growing), on_complete=self._told_until
        )

    def _take(self, told: Columns) -> None:
        times_s = [self._zero_s + time_s for time_s in told.time_s]
        for port, growing in self._growing.items():
            growing.add(times_s, told.ports[port], told.inputs.get(port))
            growing.series.missed += told.missed

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
