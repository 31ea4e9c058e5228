"""A lab's expectations of a TCP, by its name as CONGESTION has it."""

from __future__ import annotations

from collections.abc import Collection

from labs.frames import bdp_packets, cubic_saw_s

# They send more and more until a packet is lost. The others listen to delay, rate or marks, or are
# classes of unknown behaviour.
FILL_QUEUES = ("reno", "cubic")
_NAMES = {
    "reno": "Reno",
    "cubic": "Cubic",
    "bbr": "BBR",
    "bbr3": "BBRv3",
    "dctcp": "DCTCP",
    "prague": "Prague",
}


def name(congestion: str) -> str:
    """As it is written in sentences."""
    return _NAMES.get(congestion, congestion)


def unjudged_but_for(expected: Collection[str], congestion: str) -> str:
    """Why a band that speaks of some TCPs is not judged with this one; empty where it is."""
    if congestion in expected:
        return ""
    whom = " or ".join(map(name, expected))
    return f"it is what {whom} would do, and the flows here are of {name(congestion)}"


def saw_s(congestion: str, rate_bps: float, rtt_s: float, queue_packets: float) -> float | None:
    """How long a flow takes from a loss to the next one before such a queue, about; None: unknown.

    Reno's window W grows by a packet each round trip from W/2 to W, and with a queue before the
    line a round trip takes W packets' time: 3/8 W^2 of them.
    """
    if congestion == "cubic":
        return cubic_saw_s(rate_bps, rtt_s)
    if congestion == "reno":
        bdp = bdp_packets(rate_bps, rtt_s)
        return 3 / 8 * (bdp + queue_packets) ** 2 * rtt_s / bdp
    return None
