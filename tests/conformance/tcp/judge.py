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


@dataclass(frozen=True)
class Verdict:
    """What a comparison found, with the cause where it is known."""

    findings: Sequence[Finding]
    cause: str = ""

    @property
    def is_met(self) -> bool:
        """Every number is met."""
        return all(finding.is_met for finding in self.findings)

    def __str__(self) -> str:
        if self.is_met:
            return "yes"
        missed = ", ".join(it.what.partition(",")[0] for it in self.findings if not it.is_met)
        return f"no ({missed}): {self.cause or 'cause not found yet'}"


def compare(cell: Cell, live: Sequence[Figures], virtual: Sequence[Figures]) -> list[Finding]:
    """Utilisation, queue, drops and shares: means of the live runs beside those of the virtual.

    Utilisation and queue have bounds. Drops and shares may differ by what runs of one world differ
    by among themselves, drops at least by twice their root, as counts of rare events do. Runs of
    the virtual world count for that spread, too: a live router throws the same dice in each
    repetition, so random losses come at the same packets and three such runs are closer together
    than chance allows.
    """
    findings = []

    def add(
        what: str, of: Callable[[Figures], float], bound: Callable[[float, float], float]
    ) -> None:
        lives, virtuals = [of(one) for one in live], [of(one) for one in virtual]
        expected, found = statistics.mean(lives), statistics.mean(virtuals)
        spread = max(max(each) - min(each) for each in (lives, virtuals))
        is_met = abs(found - expected) <= bound(expected, spread)
        findings.append(Finding(what, expected, found, is_met))

    add("utilisation, %", lambda one: one.utilisation * 100, lambda *_: UTILISATION_POINTS)
    add("queue, packets", lambda one: one.queue_packets, lambda mean, _: mean * QUEUE_SHARE)
    add("drops", lambda one: float(one.drops), lambda mean, spread: max(spread, 2 * mean**0.5))
    if cell.flows > 1:
        add("smallest share", lambda one: one.share_min, lambda _, spread: spread)
        add("largest share", lambda one: one.share_max, lambda _, spread: spread)
    return findings
