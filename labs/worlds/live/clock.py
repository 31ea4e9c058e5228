"""The one clock of a recording: seconds since its start, counted by the machine's monotonic clock.

Hosts and routers of a lab are processes of one machine, so one clock serves all of them. Who counts
from another zero is translated here: the router from its own start, ping from 1970.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from topo.backend import QueueReadings

# The router's clock is read this often; the quickest answer places its zero best.
_ROUTER_PROBES = 8


@dataclass(frozen=True)
class Clock:
    """Zero is the instant at which the recording began."""

    start_s: float
    # The value of `time.time()` at zero.
    wall_start_s: float

    @classmethod
    def started_now(cls) -> Clock:
        """A recording that begins at this instant."""
        return cls(time.monotonic(), time.time())

    def now_s(self) -> float:
        """This instant."""
        return time.monotonic() - self.start_s

    def of_monotonic(self, monotonic_s: float) -> float:
        """An instant that another process of this machine read from the monotonic clock."""
        return monotonic_s - self.start_s

    def of_wall(self, wall_s: float) -> float:
        """An instant in seconds since 1970."""
        return wall_s - self.wall_start_s

    def router_zero_s(self, queues: QueueReadings, port: int) -> float:
        """Where the router's own zero lies; add it to the router's times.

        The router's time is read between two looks at ours. It belongs to their middle, give or
        take half of what the call took; the quickest of some calls is the best guess.
        """
        guesses = []
        for _ in range(_ROUTER_PROBES):
            before_s = self.now_s()
            router_s = queues.read([port]).time_s
            after_s = self.now_s()
            guesses.append((after_s - before_s, (before_s + after_s) / 2 - router_s))
        return min(guesses)[1]
