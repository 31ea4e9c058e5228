"""The theory of two flows that share a line."""

from __future__ import annotations

from labs.frames import bdp_packets, loss_limited_bps


def bbr_share(buffer_bdp: float, rate_bps: float, rtt_s: float) -> float:
    """BBR's part of a line that it shares with flows that wait for losses (Ware et al., 2019).

    BBR keeps at most two bandwidth-delay products under way, one of them in the queue. The others
    get what is left of the buffer, p = 1/2 - 1/(2X) - 4N/q, for a buffer of X products or q
    packets and N flows of BBR; how many there are of the others does not matter.
    """
    packets = buffer_bdp * bdp_packets(rate_bps, rtt_s)
    others = 1 / 2 - 1 / (2 * buffer_bdp) - 4 / packets
    return 1 - max(0.0, others)


def lossy_share(loss_share: float, rate_bps: float, rtt_s: float) -> float:
    """The part of a line that is left to a TCP which halves its window at every loss."""
    return min(1.0, loss_limited_bps(loss_share, rtt_s) / rate_bps)


def near_share(near_s: float, far_s: float, power: float) -> float:
    """The nearer flow's part if rates go with so high a power of the round trip."""
    ratio = (far_s / near_s) ** power
    return ratio / (1 + ratio)
