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
    """What a queue of full frames delays by."""
    return packets * FRAME_BYTES * 8 / rate_bps
