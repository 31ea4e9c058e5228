"""Whether a series of measurements grows: more than chance, and more than anybody would mind.

The first tenth is left out, in which buffers and caches fill. The rest is cut into windows, whose
medians no outlier moves; a line through the medians grows where it climbs by more than three times
its own error, and over the whole run by more than a share of where it began. A measurement that is
missing (NaN) is left out; a window of nothing else is an outage, of which no slope can speak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_WARM_UP_SHARE = 0.1
_WINDOW_COUNT = 20
_ERRORS = 3.0


class OutageError(ValueError):
    """For a part of the time nothing was measured."""


@dataclass(frozen=True)
class Slope:
    """The line through a series."""

    start: float
    # Over the time that was looked at.
    growth: float
    error: float

    def grows(self, least_share: float, least: float = 0.0) -> bool:
        """Whether it climbs, by more than this share of its start and more than `least`."""
        bound = max(_ERRORS * self.error, least_share * abs(self.start), least)
        return self.growth > bound


def of(values: Sequence[float]) -> Slope:
    """The line through measurements at equal distances in time."""
    settled = np.asarray(values[int(len(values) * _WARM_UP_SHARE) :], dtype=float)
    if len(settled) < _WINDOW_COUNT:
        raise ValueError(f"{len(values)} measurements are too few to tell a slope.")
    windows = np.array_split(settled, _WINDOW_COUNT)
    silent = sum(bool(np.isnan(window).all()) for window in windows)
    if silent:
        raise OutageError(f"{silent} of {_WINDOW_COUNT} parts of the time have no measurement.")
    medians = [float(np.nanmedian(window)) for window in windows]
    at = np.linspace(0.0, 1.0, _WINDOW_COUNT)
    (growth, start), covariance = np.polyfit(at, medians, 1, cov=True)
    return Slope(float(start), float(growth), float(np.sqrt(covariance[0][0])))
