"""What a lab says while it works: which run it is at, what was seen, how long the rest will take.

[1/3] One queue of 100 packets                         about 3 min 30 s left
      page in 7.10 s, beside the download
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from labs.run import Run


class Narrator:
    """Tells a lab's runs in their order."""

    def __init__(
        self,
        runs: Sequence[Run],
        output: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        pace: float = 1.0,
    ) -> None:
        """`pace`: how many times as long as estimated such runs have taken before."""
        self._runs = list(runs)
        self._output = output
        self._clock = clock
        self._at = -1
        self._earlier_pace = pace
        self._began_s = clock()
        # When the present run began, and the estimates of the runs before it.
        self._run_began_s = self._began_s
        self._estimated_before_s = 0.0

    @property
    def output(self) -> TextIO:
        """Where everything is said."""
        return self._output

    def begin(self, run: Run) -> None:
        """The next run begins."""
        if self._at >= 0:
            self._estimated_before_s += self._runs[self._at].seconds
        self._at += 1
        self._run_began_s = self._clock()
        head = f"[{self._at + 1}/{len(self._runs)}] {run.title}"
        self._say(f"{head:<54} {self.left()}")

    def again(self, run: Run, number: int, count: int) -> None:
        """A run is repeated, because the machine has disturbed it."""
        self._say(f"[again {number}/{count}] {run.title}, as soon as this machine is calm")

    def note(self, text: str) -> None:
        """Something worth knowing about the present run."""
        self._say(f"      {text}")

    def left(self) -> str:
        """`about 1 min 20 s left`, from the estimates and how true they were so far."""
        run_s = self._clock() - self._run_began_s
        present_s = max(0.0, self._runs[self._at].seconds - run_s)
        later_s = sum(run.seconds for run in self._runs[self._at + 1 :])
        return f"about {span(self._pace() * (present_s + later_s))} left"

    @property
    def pace_of_all(self) -> float:
        """How many times as long as estimated all of it has taken until now."""
        return (self._clock() - self._began_s) / sum(run.seconds for run in self._runs)

    def _pace(self) -> float:
        """How much longer the finished runs took than estimated."""
        if self._estimated_before_s == 0:
            return self._earlier_pace
        return (self._run_began_s - self._began_s) / self._estimated_before_s

    def _say(self, text: str) -> None:
        print(text.rstrip(), file=self._output, flush=True)


def span(seconds: float) -> str:
    """A length of time for people: `45 s`, `2 min 05 s`."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"
