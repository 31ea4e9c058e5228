"""The effect of meters and a line on two customers, by arithmetic alone."""

from __future__ import annotations

from typing import NamedTuple

# A customer's contract, and the peak up to which he may send more.
COMMITTED_BPS, PEAK_BPS = 2_000_000, 8_000_000
# Alice keeps to her contract with room for chance, Bob sends more than his.
ALICE_BPS, BOB_BPS = 1_500_000, 6_000_000
SENT_BPS = {"alice": ALICE_BPS, "bob": BOB_BPS}


class Colours(NamedTuple):
    """Parts of some traffic's bytes."""

    green: float
    yellow: float
    red: float

    def __str__(self) -> str:
        return " / ".join(f"{part:.1%}" for part in self)


def colours_of_rate(rate_bps: float) -> Colours:
    """Of steady traffic the committed rate is green, and what is above the peak rate is red."""
    green = min(1.0, COMMITTED_BPS / rate_bps)
    passed = min(1.0, PEAK_BPS / rate_bps)
    return Colours(green, passed - green, 1 - passed)


def colours_of_burst(frames: int, committed_frames: int, peak_frames: int) -> Colours:
    """Of frames that come at once after a pause the buckets pass as many as they hold."""
    green = min(frames, committed_frames, peak_frames)
    passed = min(frames, peak_frames)
    return Colours(green / frames, (passed - green) / frames, 1 - passed / frames)


def to_provider() -> dict[str, tuple[float, float]]:
    """The rates that the edge admits of each customer, in bits a second: green and yellow."""
    return {
        name: (green * rate_bps, yellow * rate_bps)
        for name, rate_bps in SENT_BPS.items()
        for green, yellow, _ in (colours_of_rate(rate_bps),)
    }


def blind_green() -> float:
    """The green rate after a blind meter of twice the committed rate, for both customers'
    packets."""
    total_bps = sum(map(sum, to_provider().values()))
    return min(1.0, 2 * COMMITTED_BPS / total_bps)


def arrived(line_bps: float, part: str) -> dict[str, float]:
    """The part of each customer's bytes that comes through the provider's line.

    Blind or with one class, the line serves all alike. Aware, green goes first, and yellow shares
    what is left.
    """
    sent = to_provider()
    if part != "aware":
        total_bps = sum(map(sum, sent.values()))
        return dict.fromkeys(sent, min(1.0, line_bps / total_bps))
    green_bps = sum(green for green, _ in sent.values())
    yellow_bps = sum(yellow for _, yellow in sent.values())
    left = min(1.0, (line_bps - green_bps) / yellow_bps)
    return {
        name: (green + left * yellow) / (green + yellow) for name, (green, yellow) in sent.items()
    }
