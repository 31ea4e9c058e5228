"""How long a lab took, kept beside its results: so the next one knows how long it will take."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from labs.run import Run


@dataclass(frozen=True)
class Took:
    """One run's durations, relative to the expected ones: 1.2 is a fifth longer."""

    whole: float
    # In virtual time: from when it began to pass until each tenth of the run had passed.
    tenths: Sequence[float] = ()


@dataclass(frozen=True)
class Pace:
    """A lab's durations; all of them are known only of settings under which the lab has run
    before."""

    runs: Mapping[str, Took] = field(default_factory=dict)
    # From the first run until the report was there, other seeds included, relative to the expected
    # duration of the runs; None: not known.
    whole: float | None = None

    def expected_s(self, run: Run) -> float | None:
        """The expected duration of a run; None: unknown."""
        took = self.runs.get(run.name)
        return None if took is None else took.whole * run.seconds

    def whole_s(self, runs: Sequence[Run]) -> float | None:
        """How long all of it will take."""
        return None if self.whole is None else self.whole * sum(run.seconds for run in runs)

    def document(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Pace:
        """The object of a `document`."""
        runs = {
            name: Took(took["whole"], tuple(took["tenths"]))
            for name, took in document["runs"].items()
        }
        return cls(runs, document["whole"])

    @classmethod
    def of_flows(cls, runs: Sequence[Run]) -> Pace:
        """In real time, before anything is known: a run lasts as long as its flows.

        Not one that is computed, which takes as long as the processor needs.
        """
        return cls({run.name: Took(1.0) for run in runs if not run.is_computed})


def until_done_s(running: Sequence[float], waiting: Sequence[float], *, workers: int) -> float:
    """When the last piece of work ends, from now.

    `running`: how long each of those under way still takes; `waiting`: how long those take that
    begin in this order, each as soon as one of the `workers` is free.
    """
    free = [0.0] * (workers - len(running)) + list(running)
    heapq.heapify(free)
    for each in waiting:
        heapq.heapreplace(free, free[0] + each)
    return max(free)
