"""Chance and arithmetic about flows on several paths."""

from __future__ import annotations

import math

from labs.frames import payload_share


def alone_bps(host_bps: float) -> float:
    """The payload of a flow that has a path to itself: its own line is the narrowest."""
    return host_bps * payload_share()


def together_bps(path_bps: float) -> float:
    """The payload of all flows that share a path."""
    return path_bps * payload_share()


def met_band(bursts: int, deviations: float = 3.0) -> tuple[float, float]:
    """Between which parts of all bursts two flows meet that toss a coin at each."""
    spread = deviations * math.sqrt(0.25 / bursts)
    return 0.5 - spread, 0.5 + spread


def burst_queue_packets(burst: int, senders: int, host_bps: float, path_bps: float) -> float:
    """How much waits when `senders` begin a burst at once and meet on a path.

    While they send, `senders` lines come in and one goes out.
    """
    return max(0.0, burst * (senders - path_bps / host_bps))
