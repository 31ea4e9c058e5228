"""The result over all seeds: the mean of a number, and the bounds of the true mean.

The interval is Student's: of a hundred sweeps, ninety-five have the mean of infinitely many seeds
inside of it. One seed has no interval.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean and half of its interval's width; 0 of one seed, about which nothing is known."""

    value: float
    half: float
    count: int

    @classmethod
    def of(cls, found: Sequence[float]) -> Mean:
        """Of what each seed found."""
        count = len(found)
        if count < 2:
            return cls(statistics.fmean(found), 0.0, count)
        error = statistics.stdev(found) / math.sqrt(count)
        return cls(statistics.fmean(found), quantile(count - 1) * error, count)

    @property
    def low(self) -> float:
        """The interval's lower edge."""
        return self.value - self.half

    @property
    def high(self) -> float:
        """The interval's upper edge."""
        return self.value + self.half


@functools.cache
def quantile(freedom: int) -> float:
    """How many standard errors the interval reaches to each side."""
    low, high = 0.0, 100.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if _inside(middle, freedom) < CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


def _inside(t: float, freedom: int) -> float:
    """How likely Student's variable is between -t and t.

    Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    is_odd = freedom % 2 == 1
    term = math.cos(angle) if is_odd else 1.0
    total = 0.0
    for step in range(freedom // 2):
        total += term
        over, under = (2 * step + 2, 2 * step + 3) if is_odd else (2 * step + 1, 2 * step + 2)
        term *= square * over / under
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total
