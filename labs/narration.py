"""What a lab says while it works: which run it is at, what was seen, how long the rest will take.

[1/3] One queue of 100 packets                         about 3 min 30 s left
      page in 7.10 s, beside the download
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from labs.run import Run

# So much of a run in virtual time tells how fast the rest will pass.
_TELLING_S = 2.0


class Narrator:
    """Tells a lab's runs in their order."""

    def __init__(
        self,
        runs: Sequence[Run],
        output: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        pace: float | None = 1.0,
        beside: int = 0,
    ) -> None:
        """`pace`: how many times as long as estimated such runs have taken before; None: nobody
        knows, so nothing is said until `advanced` has told how fast time passes.

        `beside`: how many times all runs are done one after another by other processes meanwhile.
        """
        self._count = len(runs)
        self._output = output
        self._clock = clock
        self._earlier_pace = pace
        self._beside = beside
        self._whole = list(runs)
        self._began_s = clock()
        # The runs that have not ended, the present one first, and when that began.
        self._ahead = list(runs)
        self._run_began_s = clock()
        # Of the runs that have ended, but for those that only compute: what they took, and what
        # they were expected to take.
        self._took_s = self._expected_s = 0.0
        # When the last of those ended: keeping what it recorded takes time, too.
        self._ended_s: float | None = None
        # How far time has passed in the present run where that need not be our own time, and what
        # that took; and whether anybody has been told how long the rest will take.
        self._advanced_s = self._advancing_s = 0.0
        self._is_told = False

    @property
    def output(self) -> TextIO:
        """Where everything is said."""
        return self._output

    def begin(self, run: Run) -> None:
        """A run begins, the next one of those ahead."""
        self._run_began_s = self._clock()
        if self._ended_s is not None:
            self._took_s += self._run_began_s - self._ended_s
            self._ended_s = None
        self._advanced_s = self._advancing_s = 0.0
        number = self._count - len(self._ahead) + 1
        head = f"[{number}/{self._count}] {run.title}"
        self._say(f"{head:<54} {self.left()}")

    def finished(self) -> None:
        """The present run has ended; the estimates of the others learn from it."""
        run = self._ahead.pop(0)
        if not run.is_computed:
            self._ended_s = self._clock()
            self._took_s += self._ended_s - self._run_began_s
            self._expected_s += run.seconds
        self._advanced_s = self._advancing_s = 0.0

    def advanced(self, seconds: float) -> bool:
        """Time has passed in the present run; whether that tells for the first time how fast."""
        self._advanced_s += seconds
        self._advancing_s = self._clock() - self._run_began_s
        if self._is_told or self.pace is None:
            return False
        self._is_told = True
        return True

    def wait_for_others(self, count: int) -> None:
        """Our own runs have ended, and those beside them have not."""
        again = "once more" if count == 1 else f"{count} times more"
        head = f"[seeds] All of it {again}, with other seeds"
        # They were started as processes, which takes time that no estimate has.
        left = self.left() if (self.left_s() or 0.0) >= 1.0 else ""
        self._say(f"{head:<54} {left}")

    def repeat(self, disturbed: Sequence[Run]) -> None:
        """From now on these runs are ahead, because the machine has disturbed them."""
        self._ahead, self._count = list(disturbed), len(disturbed)

    def wait_for_calm(self) -> None:
        """The next repetition waits for a calm machine; nobody can say for how long."""
        number = self._count - len(self._ahead) + 1
        title = self._ahead[0].title
        self._say(f"[again {number}/{self._count}] {title}, as soon as this machine is calm")

    def begin_again(self) -> None:
        """The machine is calm, and the repetition begins."""
        self._run_began_s = self._clock()

    def note(self, text: str) -> None:
        """Something worth knowing about the present run."""
        self._say(f"      {text}")

    def left(self) -> str:
        """`about 1 min 20 s left`, from the estimates and how true they were so far.

        Nothing while that is unknown: a wrong number is worse.
        """
        left_s = self.left_s()
        if left_s is None:
            return ""
        self._is_told = True
        return f"about {span(left_s)} left"

    def left_s(self) -> float | None:
        """The same in seconds."""
        pace = self.pace
        if pace is None:
            return None
        now_s = self._clock()
        all_s = sum(_expected_s(run, pace) for run in self._whole)
        others_s = self._beside * all_s - (now_s - self._began_s)
        return max(0.0, others_s, self._own_left_s(pace, now_s - self._run_began_s))

    def _own_left_s(self, pace: float, ran_s: float) -> float:
        if not self._ahead:
            return 0.0
        present, *others = self._ahead
        left_s = _expected_s(present, pace) - ran_s
        if self._advanced_s:
            # How far it is says more than how long it has run.
            left_s = (present.seconds - self._advanced_s) * pace
        # One that takes longer than expected may end at any moment.
        return max(0.0, left_s) + sum(_expected_s(run, pace) for run in others)

    @property
    def pace(self) -> float | None:
        """How many times as long as expected runs take; None as long as nobody knows."""
        took_s, expected_s = self._took_s, self._expected_s
        # A beginning is mostly connections being made.
        if self._advanced_s >= _TELLING_S:
            took_s, expected_s = took_s + self._advancing_s, expected_s + self._advanced_s
        return took_s / expected_s if expected_s else self._earlier_pace

    def _say(self, text: str) -> None:
        print(text.rstrip(), file=self._output, flush=True)


def _expected_s(run: Run, pace: float) -> float:
    return run.seconds * (1 if run.is_computed else pace)


def span(seconds: float) -> str:
    """A length of time for people: `45 s`, `2 min 05 s`."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"
