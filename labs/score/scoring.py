"""Claims against the truth: docs/telemetry-score.md defines every number."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from labs.score.claim import Claim
from labs.score.flow import Flow
from labs.score.truth import BuildUp

# A flow is a culprit with at least this share of the packets.
SHARE = 0.05
PS_PER_US = 1_000_000


@dataclass(frozen=True)
class Tally:
    """Right and wrong claims, and misses."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)

    @property
    def precision(self) -> float | None:
        """None: nothing was claimed."""
        claimed = self.right + self.wrong
        return self.right / claimed if claimed else None

    @property
    def recall(self) -> float | None:
        """None: there was nothing to find."""
        true = self.right + self.missed
        return self.right / true if true else None


@dataclass(frozen=True)
class Score:
    """How well one system saw one run."""

    # `wrong` counts claims that overlap no build-up.
    buildups: Tally
    flows: Tally
    packets: Tally
    # From the crossing of the threshold to the first claim, of each build-up that was found. A
    # claim that goes on from an earlier build-up has none.
    delays_us: Sequence[float]
    # |claimed - true| / true, of each build-up that was found and has a claimed peak.
    depth_errors: Sequence[float]

    @property
    def delay_us(self) -> float | None:
        """The median."""
        return statistics.median(self.delays_us) if self.delays_us else None

    @property
    def depth_error(self) -> float | None:
        """The mean."""
        return statistics.fmean(self.depth_errors) if self.depth_errors else None


def score(claims: Sequence[Claim], buildups: Sequence[BuildUp]) -> Score:
    """Each claim belongs to the build-up that it overlaps longest, the first of several."""
    own, false = matched(claims, buildups)
    events = flows = packets = Tally()
    delays_us, depth_errors = [], []
    for buildup, found in zip(buildups, own, strict=True):
        events += Tally(right=int(bool(found)), missed=int(not found))
        claimed = culprits(deepest(found))
        flows += _flows(claimed, buildup.culprits)
        packets += _packets(claimed, buildup.culprits)
        if found:
            first_ps = min(claim.detected_ps for claim in found)
            if first_ps >= buildup.crossed_ps:
                delays_us.append((first_ps - buildup.crossed_ps) / PS_PER_US)
        peaks = [claim.peak_bytes for claim in found if claim.peak_bytes is not None]
        if peaks:
            depth_errors.append(abs(max(peaks) - buildup.peak_bytes) / buildup.peak_bytes)
    for claim in false:
        events += Tally(wrong=1)
        flows += _flows(culprits(claim), Counter())
        packets += _packets(culprits(claim), Counter())
    return Score(events, flows, packets, delays_us, depth_errors)


def matched(
    claims: Sequence[Claim], buildups: Sequence[BuildUp]
) -> tuple[list[list[Claim]], list[Claim]]:
    """The claims of each build-up, and the false alarms."""
    own: list[list[Claim]] = [[] for _ in buildups]
    false: list[Claim] = []
    for claim in claims:
        place = place_of(claim, buildups)
        (false if place is None else own[place]).append(claim)
    return own, false


def deepest(claims: Sequence[Claim]) -> Claim | None:
    """The one with the highest peak, as the culprits are those of the peak."""
    return max(claims, key=lambda claim: claim.peak_bytes or 0, default=None)


def culprits(claim: Claim | None) -> Counter[Flow]:
    """The packets by flow that a claim names; none without one."""
    return Counter() if claim is None else claim.culprits or Counter()


def place_of(claim: Claim, buildups: Sequence[BuildUp]) -> int | None:
    """The build-up that a claim belongs to; None: it overlaps none."""
    best, longest_ps = None, -1
    for place, buildup in enumerate(buildups):
        overlap_ps = min(claim.end_ps, buildup.end_ps) - max(claim.begin_ps, buildup.begin_ps)
        if overlap_ps > longest_ps:
            best, longest_ps = place, overlap_ps
    return best


def major(packets: Counter[Flow]) -> set[Flow]:
    """The flows with at least SHARE of the packets."""
    total = packets.total()
    return {flow for flow, count in packets.items() if count and count >= SHARE * total}


def _flows(claimed: Counter[Flow], true: Counter[Flow]) -> Tally:
    found, real = major(claimed), major(true)
    return Tally(len(found & real), len(found - real), len(real - found))


def _packets(claimed: Counter[Flow], true: Counter[Flow]) -> Tally:
    right = (claimed & true).total()
    return Tally(right, claimed.total() - right, true.total() - right)
