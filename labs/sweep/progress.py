"""How far a sweep is, and how long the rest will take.

[ 37/144]  41 %, about 3 min 20 s left   pair=... buffer=4 seed=2
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from labs.narration import span
from labs.sweep.measuring.job import Job

# On a terminal a line is written over; elsewhere one comes so often.
_QUIET_S = 10.0


class Progress:
    """Counts jobs by how long they take, not by how many they are."""

    def __init__(
        self,
        jobs: Sequence[Job],
        done_before: int,
        output: TextIO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`jobs` are ahead; `done_before` rows were there already."""
        self._ahead = sum(job.work.weight for job in jobs)
        self._count, self._total = done_before, done_before + len(jobs)
        self._done = 0.0
        self._output = output
        self._clock = clock
        self._began_s = clock()
        self._said_s = -_QUIET_S

    def finished(self, job: Job) -> None:
        """A job is over."""
        self._count += 1
        self._done += job.work.weight
        self._ahead -= job.work.weight
        now_s = self._clock()
        is_last = self._count == self._total
        if self._output.isatty():
            print(f"\r{self.line(job)[:99]:<99}", end="\n" if is_last else "", file=self._output)
            self._output.flush()
        elif is_last or now_s - self._said_s >= _QUIET_S:
            print(self.line(job), file=self._output, flush=True)
            self._said_s = now_s

    def line(self, job: Job) -> str:
        """What is said after this job."""
        width = len(str(self._total))
        share = self._count / self._total
        left = f"about {span(self.left_s())} left" if self._count < self._total else "done"
        return f"[{self._count:{width}}/{self._total}] {share:4.0%}, {left:<24} {job}"

    def left_s(self) -> float:
        """How long the jobs ahead take if they take as long as those before, by their weight."""
        return (self._clock() - self._began_s) * self._ahead / self._done if self._done else 0.0
