"""How far a sweep is, and how long the rest will take.

[ 37/144]  41 %, about 3 min 20 s left   pair=... buffer=4 seed=2
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TextIO

from labs.narration import span
from labs.pace import until_done_s
from labs.sweep.crew import longest_first
from labs.sweep.measuring.job import Job

# On a terminal a line is written over; elsewhere a new one comes at this interval.
_QUIET_S = 10.0


class Progress:
    """Counts jobs by how long they take, not by how many they are."""

    def __init__(
        self,
        jobs: Sequence[Job],
        done_before: int,
        output: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        workers: int = 1,
    ) -> None:
        """`jobs` are ahead, `workers` of them at a time; `done_before` rows were there already."""
        self._count, self._total = done_before, done_before + len(jobs)
        self._output = output
        self._clock = clock
        self._workers = workers
        # As crews begin them: those under way, with the instant since when, and those after them.
        order = longest_first(jobs)
        self._running = {job.key: (job, clock()) for job in order[:workers]}
        self._waiting = deque(order[workers:])
        # Of those that are over.
        self._took_s = self._weight = 0.0
        self._said_s = -_QUIET_S

    def finished(self, job: Job) -> None:
        """A job is over."""
        now_s = self._clock()
        self._count += 1
        if job.key in self._running:
            _, began_s = self._running.pop(job.key)
            self._took_s += now_s - began_s
            self._weight += job.work.weight
        else:
            self._waiting.remove(job)
        if self._waiting and len(self._running) < self._workers:
            following = self._waiting.popleft()
            self._running[following.key] = (following, now_s)
        is_last = self._count == self._total
        if self._output.isatty():
            print(f"\r{self.line(job)[:99]:<99}", end="\n" if is_last else "", file=self._output)
            self._output.flush()
        elif is_last or now_s - self._said_s >= _QUIET_S:
            print(self.line(job), file=self._output, flush=True)
            self._said_s = now_s

    def line(self, job: Job) -> str:
        """The line to print after this job."""
        width = len(str(self._total))
        share = self._count / self._total
        left = f"about {span(self.left_s())} left" if self._count < self._total else "done"
        return f"[{self._count:{width}}/{self._total}] {share:4.0%}, {left:<24} {job}"

    def left_s(self) -> float:
        """How long the jobs ahead take if they take as long as those before, by their weight."""
        each_s, now_s = self._took_s / self._weight if self._weight else 0.0, self._clock()
        running = [
            max(0.0, job.work.weight * each_s - (now_s - began_s))
            for job, began_s in self._running.values()
        ]
        waiting = [job.work.weight * each_s for job in self._waiting]
        return until_done_s(running, waiting, workers=self._workers)
