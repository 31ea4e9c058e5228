"""The scored line's rate, with which everything else of a run keeps pace.

A run at 10 Gb/s sends the same packets as one at 1 Gb/s, ten times as fast: hosts, traffic and the
length of the run follow the line. The windows of a chip are powers of two in nanoseconds, so they
shrink by the nearest one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from labs.errors import SettingError
from topo import units
from topo.errors import UnitError

_BASE_BPS = 1_000_000_000
_MOST = 100
_SLOWEST = 10
PS_PER_NS = 1000


@dataclass(frozen=True)
class Line:
    """The line whose queue is scored."""

    # Its rate as a multiple of 1 Gb/s, or as a part of it; one of them is 1.
    faster: int = 1
    slower: int = 1

    @property
    def rate_bps(self) -> int:
        """Bits per second."""
        return self.scaled(_BASE_BPS)

    def scaled(self, at_base: int) -> int:
        """A rate of the traffic, from the one at 1 Gb/s."""
        return at_base * self.faster // self.slower

    def __str__(self) -> str:
        return units.format_rate(self.rate_bps)

    @property
    def faster_bits(self) -> int:
        """By how many powers of two windows are shorter than at 1 Gb/s; below 0: longer."""
        return round(math.log2(self.faster / self.slower))

    @property
    def defines(self) -> tuple[str, ...]:
        """For the compiler; without any the programs are those of 1 Gb/s."""
        return (f"FASTER_BITS={self.faster_bits}",) if self.faster_bits else ()

    def window_ps(self, bits: int) -> int:
        """A window that is 2 to the power of `bits` nanoseconds long at 1 Gb/s."""
        return (1 << bits - self.faster_bits) * PS_PER_NS

    def span(self, at_base: int) -> int:
        """A time of the traffic, in any unit, from the one at 1 Gb/s."""
        return at_base * self.slower // self.faster


ONE_GIGABIT = Line()


def of_rate(text: str | None) -> Line:
    """`--rate 10gbit`; 1 Gb/s without one. Live networks of a busy machine need a slow one."""
    if text is None:
        return ONE_GIGABIT
    try:
        rate_bps = units.rate_bps(text)
    except UnitError:
        rate_bps = 0
    if rate_bps * _SLOWEST == _BASE_BPS:
        return Line(slower=_SLOWEST)
    faster, rest = divmod(rate_bps, _BASE_BPS)
    if rest or not 1 <= faster <= _MOST:
        raise SettingError(
            f"--rate {text}: whole Gb/s from 1 to {_MOST} are needed, such as 10gbit, or 100mbit."
        )
    return Line(faster)
