"""A schedule of faults, made from a seed so that a run can be repeated.

for step in steps(seed, FAULTS, routers): ...
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stroke:
    """One fault at one router."""

    fault: str
    router: str
    # Decides what the fault itself leaves open: which port, how often.
    seed: int

    def __str__(self) -> str:
        return f"{self.fault} at {self.router}"


@dataclass(frozen=True)
class Step:
    """Faults that are on at the same time, each at another router, and for how long."""

    number: int
    strokes: tuple[Stroke, ...]
    lasts_s: float

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.strokes))} for {self.lasts_s:.1f} s"


# Faults are repaired at once, or some seconds later.
_LASTS_S = (0.0, 0.2, 1.0, 3.0)
# One step of three has two faults.
_PAIRS_OF = 3


def steps(seed: int, faults: Sequence[str], routers: Sequence[str]) -> Iterator[Step]:
    """Steps without end. Each fault comes once in as many steps as there are, in any order."""
    dice = random.Random(seed)
    numbers = itertools.count(1)
    while True:
        for fault in dice.sample(faults, len(faults)):
            places = dice.sample(routers, len(routers))
            strokes = [Stroke(fault, places[0], dice.getrandbits(32))]
            if dice.randrange(_PAIRS_OF) == 0:
                others = [other for other in faults if other != fault]
                strokes.append(Stroke(dice.choice(others), places[1], dice.getrandbits(32)))
            yield Step(next(numbers), tuple(strokes), dice.choice(_LASTS_S))
