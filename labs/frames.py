"""The arithmetic of full TCP segments: how much of a line's rate is payload."""

from __future__ import annotations

# An Ethernet frame of TCP's largest segment: 14 bytes of Ethernet, 1500 of IP.
MTU_BYTES = 1500
FRAME_BYTES = 1514
# 20 bytes of IP, 20 of TCP, 12 of TCP's timestamps.
PAYLOAD_BYTES = MTU_BYTES - 52


def payload_share() -> float:
    """The part of a busy line that is payload: 1448 of 1514 bytes."""
    return PAYLOAD_BYTES / FRAME_BYTES


def bdp_bytes(rate_bps: float, rtt_s: float) -> float:
    """The bandwidth-delay product: what is under way when a path is full and no queue is."""
    return rate_bps * rtt_s / 8


def bdp_packets(rate_bps: float, rtt_s: float) -> float:
    """The same in full IP packets, as the literature counts them."""
    return bdp_bytes(rate_bps, rtt_s) / MTU_BYTES


def queue_delay_s(packets: int, rate_bps: float) -> float:
    """The delay of a queue of full frames."""
    return packets * FRAME_BYTES * 8 / rate_bps


def reno_utilisation(buffer_bdp: float) -> float:
    """One Reno flow's use of a line with a buffer of `buffer_bdp` BDP, in the fluid model.

    The window W runs from half of its peak P = 1 + b up to P (in BDP). A round trip takes as long
    as the pipe without a queue (W <= 1) or as the queue makes it (W > 1), and W grows by the same
    step each round trip. Below 1 the line is used for the part W of each round trip; above, fully:

        sent = integral of W dW            from P/2 to P
        time = integral of max(1, W) dW    from P/2 to P
    """
    peak = 1 + buffer_bdp
    low = peak / 2
    if low >= 1:
        return 1.0
    sent = (peak**2 - low**2) / 2
    time = (1 - low) + (peak**2 - 1) / 2
    return sent / time


def loss_limited_bps(loss_share: float, rtt_s: float) -> float:
    """The rate of a TCP that halves its window at a loss, at a share of lost packets.

    The square-root law: 1.22 MSS / (RTT sqrt(p)). Cubic does as Reno where that is more.
    """
    return (3 / 2) ** 0.5 * PAYLOAD_BYTES * 8 / (rtt_s * loss_share**0.5)


def cubic_saw_s(rate_bps: float, rtt_s: float) -> float:
    """How long Cubic takes to come back to the window at which it lost: RFC 9438's K.

    For a flow that had the path and a queue of one bandwidth-delay product for itself:
    K = cbrt(W (1 - 0.7) / 0.4) seconds, with W = 2 BDP in packets.
    """
    window = 2 * bdp_packets(rate_bps, rtt_s)
    return float((window * (1 - 0.7) / 0.4) ** (1 / 3))
