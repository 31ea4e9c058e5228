"""A lab's messages while it works: the present run, its results, and the time left.

[1/3] One queue of 100 packets                         about 3 min 30 s left
      page in 7.10 s, beside the download

How long the rest takes is known from an earlier time (`Pace`) and corrected by how much faster or
slower it goes this time. Where it is not known nothing is said, because a wrong number is worse.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from labs.pace import Pace, Took
from labs.run import Run

# A short beginning may be slow by chance: this share of the whole counts as if it had taken the
# expected time.
_BELIEVED_SHARE = 0.1
# Less than this is not worth a message.
_LEAST_S = 1.0


class Narrator:
    """Tells a lab's runs in their order."""

    def __init__(
        self,
        runs: Sequence[Run],
        output: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        earlier: Pace | None = None,
        has_seeds: bool = False,
    ) -> None:
        """`earlier`: what such a lab has taken before, as far as that is known.

        `has_seeds`: all of it is done with other seeds meanwhile, which may take longer.
        """
        self._runs = list(runs)
        self._count = len(runs)
        self._output = output
        self._clock = clock
        self._earlier = earlier or Pace()
        self._has_seeds = has_seeds
        self._began_s = clock()
        # The runs that have not ended, the present one first, and when that began.
        self._ahead = list(runs)
        self._run_began_s = clock()
        # The run that has ended last, and is being kept; what those before it have taken.
        self._over: Run | None = None
        self._took: dict[str, Took] = {}
        # Of the runs that have ended: what they took, and were expected to take.
        self._took_s = self._expected_s = 0.0
        # In virtual time: when it began to pass in the present run, how far it has passed since,
        # and how long each tenth of the run has taken until then.
        self._passing_s: float | None = None
        self._passed_s = 0.0
        self._tenths: list[float] = []
        # When the first time through ended, if runs are repeated.
        self._repeating_s: float | None = None

    @property
    def output(self) -> TextIO:
        """Where everything is said."""
        return self._output

    def begin(self, run: Run) -> None:
        """A run begins, the next one of those ahead."""
        self._close()
        self._run_began_s = self._clock()
        number = self._count - len(self._ahead) + 1
        head = f"[{number}/{self._count}] {run.title}"
        self._say(f"{head:<54} {self.left()}")

    def finished(self) -> None:
        """The present run has ended; the estimates of the others learn from it."""
        self._over = self._ahead.pop(0)

    def _close(self) -> None:
        """The run that ended has been kept, too, which is a part of its duration."""
        run, self._over = self._over, None
        if run is not None:
            took_s = self._clock() - self._run_began_s
            tenths = tuple(each_s / run.seconds for each_s in self._tenths)
            self._took[run.name] = Took(took_s / run.seconds, tenths)
            if expected_s := self._earlier.expected_s(run):
                self._took_s += took_s
                self._expected_s += expected_s
        self._passing_s, self._passed_s, self._tenths = None, 0.0, []

    def advanced(self, seconds: float) -> None:
        """Virtual time has passed in the present run, which may have been made up before."""
        now_s = self._clock()
        if self._passing_s is None:
            # The network has just come up, and connections are being made.
            self._passing_s = now_s
            return
        self._passed_s += seconds
        if not self._ahead:
            return
        whole_s = self._ahead[0].seconds
        while len(self._tenths) < 10 and self._passed_s >= (len(self._tenths) + 1) * whole_s / 10:
            self._tenths.append(now_s - self._passing_s)

    def wait_for_others(self, count: int, left_s: float | None = None) -> None:
        """Our own runs have ended, and those with other seeds have not; `left_s` is their guess."""
        self._close()
        again = "once more" if count == 1 else f"{count} times more"
        head = f"[seeds] All of it {again}, with other seeds"
        self._say(f"{head:<54} {self._words(self.left_s() if left_s is None else left_s)}")

    def repeat(self, disturbed: Sequence[Run]) -> None:
        """From now on these runs are ahead, because the machine has disturbed them."""
        self._close()
        if disturbed:
            self._repeating_s = self._clock()
            self._ahead, self._count = list(disturbed), len(disturbed)

    def wait_for_calm(self) -> None:
        """The next repetition waits for a calm machine, for an unknown time."""
        self._close()
        number = self._count - len(self._ahead) + 1
        title = self._ahead[0].title
        self._say(f"[again {number}/{self._count}] {title}, as soon as this machine is calm")

    def begin_again(self) -> None:
        """The machine is calm, and the repetition begins."""
        self._run_began_s = self._clock()

    def note(self, text: str) -> None:
        """Something worth knowing about the present run."""
        self._say(f"      {text}")

    # ---- the time left ---------------------------------------------------------------------------

    def left(self) -> str:
        """`about 1 min 20 s left`, or nothing where that is unknown."""
        return self._words(self.left_s())

    def _words(self, left_s: float | None) -> str:
        return "" if left_s is None or left_s < _LEAST_S else f"about {span(left_s)} left"

    def left_s(self) -> float | None:
        """The same in seconds."""
        own_s = self._own_left_s()
        if own_s is None or self._repeating_s is not None:
            return own_s
        whole_s = self._earlier.whole_s(self._runs)
        if whole_s is None:
            return None if self._has_seeds else own_s
        return max(own_s, whole_s * self._drift() - (self._clock() - self._began_s))

    def _own_left_s(self) -> float | None:
        """Until the last run has ended."""
        left_s = 0.0
        drift = self._drift()
        for place, run in enumerate(self._ahead):
            expected_s = self._earlier.expected_s(run)
            if expected_s is None:
                return None
            if place == 0:
                ran_s = self._clock() - self._run_began_s
                # One that takes longer than expected may end at any moment.
                left_s += max(0.0, expected_s * drift - ran_s)
            else:
                left_s += expected_s * drift
        return left_s

    def _drift(self) -> float:
        """How many times as long as expected it takes this time."""
        took_s, expected_s = self._seen_s()
        believed_s = _BELIEVED_SHARE * sum(
            self._earlier.expected_s(run) or 0.0 for run in self._runs
        )
        return (took_s + believed_s) / (expected_s + believed_s) if expected_s else 1.0

    def _seen_s(self) -> tuple[float, float]:
        """The time that this has taken until now, and the expected one."""
        if self._expected_s:
            return self._took_s, self._expected_s
        # In the first run: its last tenth that has passed, beside the same one of the earlier time.
        present = self._ahead[0] if self._ahead else None
        earlier = self._earlier.runs.get(present.name) if present else None
        count = len(self._tenths)
        if present is None or earlier is None or not 0 < count <= len(earlier.tenths):
            return 0.0, 0.0
        return self._tenths[-1], earlier.tenths[count - 1] * present.seconds

    def pace(self) -> Pace:
        """The duration of all of it, for the next time; read once the report is there."""
        self._close()
        end_s = self._clock() if self._repeating_s is None else self._repeating_s
        expected_s = sum(run.seconds for run in self._runs)
        return Pace(self._took, (end_s - self._began_s) / expected_s)

    def _say(self, text: str) -> None:
        print(text.rstrip(), file=self._output, flush=True)


def span(seconds: float) -> str:
    """A length of time for people: `45 s`, `2 min 05 s`."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"
