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
        self._count = len(runs)
        self._output = output
        self._clock = clock
        self._earlier_pace = pace
        # The runs that have not ended, the present one first, and when that began.
        self._ahead = list(runs)
        self._run_began_s = clock()
        # Of the runs that have ended, but for those that only compute: what they took, and what
        # they were expected to take.
        self._took_s = self._expected_s = 0.0

    @property
    def output(self) -> TextIO:
        """Where everything is said."""
        return self._output

    def begin(self, run: Run) -> None:
        """A run begins, the next one of those ahead."""
        self._run_began_s = self._clock()
        number = self._count - len(self._ahead) + 1
        head = f"[{number}/{self._count}] {run.title}"
        self._say(f"{head:<54} {self.left()}")

    def finished(self) -> None:
        """The present run has ended; the estimates of the others learn from it."""
        run = self._ahead.pop(0)
        if not run.is_computed:
            self._took_s += self._clock() - self._run_began_s
            self._expected_s += run.seconds

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
        """`about 1 min 20 s left`, from the estimates and how true they were so far."""
        return f"about {span(self.left_s())} left"

    def left_s(self) -> float:
        """The same in seconds."""
        expected_s = [run.seconds * (1 if run.is_computed else self.pace) for run in self._ahead]
        ran_s = self._clock() - self._run_began_s
        # One that takes longer than expected may end at any moment.
        return max(0.0, expected_s[0] - ran_s) + sum(expected_s[1:]) if expected_s else 0.0

    @property
    def pace(self) -> float:
        """How many times as long as expected runs take."""
        return self._took_s / self._expected_s if self._expected_s else self._earlier_pace

    def _say(self, text: str) -> None:
        print(text.rstrip(), file=self._output, flush=True)


def span(seconds: float) -> str:
    """A length of time for people: `45 s`, `2 min 05 s`."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"
