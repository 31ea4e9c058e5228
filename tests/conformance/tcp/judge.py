"""Whether a cell's virtual runs are what its live runs are."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.measurement import Figures

UTILISATION_POINTS = 2.0
QUEUE_SHARE = 0.10


@dataclass(frozen=True)
class Finding:
    """One number in both worlds."""

    what: str
    live: float
    virtual: float
    is_met: bool
    # Without an allowance for the spread of virtual runs and of counts of rare events.
    is_met_strictly: bool


@dataclass(frozen=True)
class Verdict:
    """The findings of a comparison, with the cause where it is known."""

    findings: Sequence[Finding]
    cause: str = ""

    @property
    def is_met(self) -> bool:
        """Every number is met."""
        return all(finding.is_met for finding in self.findings)

    @property
    def is_met_strictly(self) -> bool:
        """Every number is met, drops and shares within the spread of the live runs alone."""
        return all(finding.is_met_strictly for finding in self.findings)

    def __str__(self) -> str:
        if self.is_met:
            return "yes" if self.is_met_strictly else "yes, allowing for chance"
        missed = ", ".join(it.what.partition(",")[0] for it in self.findings if not it.is_met)
        return f"no ({missed}): {self.cause or 'cause not found yet'}"


def compare(cell: Cell, live: Sequence[Figures], virtual: Sequence[Figures]) -> list[Finding]:
    """Utilisation, queue, drops and shares: means of the live runs beside those of the virtual.

    Utilisation and queue have bounds. Drops and shares may differ by what runs of one world differ
    by among themselves, drops at least by twice their root, as counts of rare events do. Runs of
    the virtual world count for that spread, too: a live router throws the same dice in each
    repetition, so random losses come at the same packets and three such runs are closer together
    than chance allows. Without either, a number is met strictly or not.
    """
    findings = []

    def add(
        what: str,
        of: Callable[[Figures], float],
        bound: Callable[[float], float] | None = None,
        chance: Callable[[float], float] = lambda _: 0.0,
    ) -> None:
        lives, virtuals = [of(one) for one in live], [of(one) for one in virtual]
        expected, found = statistics.mean(lives), statistics.mean(virtuals)
        spread = max(lives) - min(lives)
        if bound is not None:
            strictly = loosely = bound(expected)
        else:
            strictly = spread
            loosely = max(spread, max(virtuals) - min(virtuals), chance(expected))
        off = abs(found - expected)
        findings.append(Finding(what, expected, found, off <= loosely, off <= strictly))

    add("utilisation, %", lambda one: one.utilisation * 100, lambda _: UTILISATION_POINTS)
    add("queue, packets", lambda one: one.queue_packets, lambda mean: mean * QUEUE_SHARE)
    add("drops", lambda one: float(one.drops), chance=lambda mean: 2 * mean**0.5)
    if cell.flows > 1:
        add("smallest share", lambda one: one.share_min)
        add("largest share", lambda one: one.share_max)
    return findings
