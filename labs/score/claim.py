"""A system's answer: the instants of a build-up, its peak and its culprits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from labs.score.flow import Flow


@dataclass(frozen=True)
class Claim:
    """One build-up, as a system sees it."""

    begin_ps: int
    end_ps: int
    # When the system's controller knew of it.
    detected_ps: int
    # None: the system measures no depth.
    peak_bytes: int | None = None
    # Packets by flow that filled the queue, as far as the system knows them.
    culprits: Counter[Flow] | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """A packet that a system saw as it left the queue."""

    departed_ps: int
    # When the controller knew.
    known_ps: int
    flow: Flow
    # The depth that it left behind, and how long it had been in the switch.
    depth_bytes: int
    wait_ps: int
    # How many packets it stands for.
    weight: int = 1

    @property
    def arrived_ps(self) -> int:
        """When it came into the switch."""
        return self.departed_ps - self.wait_ps


def from_sightings(sightings: Sequence[Sighting], threshold_bytes: int, gap_ps: int) -> list[Claim]:
    """Build-ups from packets, for every system that sees single packets with their depth.

    Deep sightings that are at most `gap_ps` apart are one build-up. Its culprits are the packets
    that were in the queue when the deepest sighting left: they had arrived, and left later.
    """
    claims = []
    for group in _groups(sightings, threshold_bytes, gap_ps):
        deepest = max(group, key=lambda each: each.depth_bytes)
        culprits: Counter[Flow] = Counter()
        for each in sightings:
            if each.arrived_ps <= deepest.departed_ps <= each.departed_ps:
                culprits[each.flow] += each.weight
        claims.append(
            Claim(
                group[0].departed_ps,
                group[-1].departed_ps,
                group[0].known_ps,
                deepest.depth_bytes,
                culprits,
            )
        )
    return claims


def _groups(
    sightings: Iterable[Sighting], threshold_bytes: int, gap_ps: int
) -> Iterator[list[Sighting]]:
    group: list[Sighting] = []
    for each in sightings:
        if each.depth_bytes < threshold_bytes:
            continue
        if group and each.departed_ps - group[-1].departed_ps > gap_ps:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


@dataclass(frozen=True, slots=True)
class Reading:
    """A depth that a system read."""

    time_ps: int
    bytes: int


def from_readings(readings: Sequence[Reading], threshold_bytes: int) -> list[Claim]:
    """Build-ups from depths, for every system that polls; it knows no flows.

    A build-up begins and ends with the readings around the deep ones, since it may have.
    """
    claims = []
    deep: list[Reading] = []
    before_ps = 0
    # A reading of 0 at the end closes a build-up that goes on.
    for each in [*readings, Reading(readings[-1].time_ps, 0)] if readings else []:
        if each.bytes >= threshold_bytes:
            deep.append(each)
            continue
        if deep:
            peak_bytes = max(reading.bytes for reading in deep)
            claims.append(Claim(before_ps, each.time_ps, deep[0].time_ps, peak_bytes))
            deep = []
        before_ps = each.time_ps
    return claims


def from_estimates(
    sightings: Sequence[Sighting],
    gap_ps: int,
    *,
    window_ps: int | None = None,
    has_depth: bool = True,
) -> list[Claim]:
    """Build-ups from packets whose weight estimates the packets of their flow.

    Sightings that are at most `gap_ps` apart are one build-up; it begins when the first of its
    packets arrived. Each flow has its highest estimate: of all sightings, or, with `window_ps`, of
    those that still waited when the deepest one came, or came at most so long before or after it.
    """
    claims = []
    for group in _groups(sightings, 0, gap_ps):
        deepest = max(group, key=lambda each: each.depth_bytes)
        culprits: Counter[Flow] = Counter()
        for each in group:
            apart_ps = abs(each.arrived_ps - deepest.arrived_ps)
            is_ahead = each.arrived_ps <= deepest.arrived_ps <= each.departed_ps
            if window_ps is None or apart_ps <= window_ps or is_ahead:
                culprits[each.flow] = max(culprits[each.flow], each.weight)
        claims.append(
            Claim(
                min(each.arrived_ps for each in group),
                group[-1].departed_ps,
                group[0].known_ps,
                deepest.depth_bytes if has_depth else None,
                culprits,
            )
        )
    return claims
