"""How long the machine delayed the routers: packets were due, and no thread ran to send them.

A router in a process is as punctual as the machine lets it be. A virtual machine that its host
stops for half a second takes that half second of every line, and no TCP gets it back. So each run
is measured together with what the machine took, and a number that says more about the machine than
about the router is known as one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Shorter ones vanish in round trips of 20 ms and in queues that hold as much: the router makes
# up for them exactly, because it computes in the instants at which its lines would have been free.
FELT_S = 0.010
# The bands of the labs are a few percent wide.
TOLERATED_SHARE = 0.01


@dataclass(frozen=True)
class HoldUps:
    """The machine's delays in a span of time."""

    held_up_s: float = 0.0
    span_s: float = 0.0

    @property
    def share(self) -> float:
        """The part of the span that it took."""
        return self.held_up_s / self.span_s if self.span_s else 0.0

    @property
    def disturb(self) -> bool:
        """Whether the machine took so much that the measurement is of the machine."""
        return self.share > TOLERATED_SHARE

    def __str__(self) -> str:
        return (
            f"this machine held the router up for {self.held_up_s:.2f} of {self.span_s:.0f} s "
            f"({self.share:.1%})"
        )


def worst(each: Iterable[HoldUps]) -> HoldUps:
    """Of several routers the one that was held up most."""
    return max(each, key=lambda one: one.share, default=HoldUps())
