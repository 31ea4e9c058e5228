"""Dynamic thresholds by Choudhury and Hahne (1998): a queue may hold alpha times what is free.

Lengths are in whatever the buffer is counted in.
"""

from __future__ import annotations


def fair_share(buffer: float, alpha: float, full_queues: int) -> float:
    """The length of each of `full_queues` full queues: Q = alpha (B - n Q)."""
    return alpha * buffer / (1 + alpha * full_queues)


def first_drop(buffer: float, alpha: float, full_queues: int, speed: float) -> float:
    """How long a queue is when a burst into it loses its first packet.

    The burst comes `speed` times as fast as the line sends, while other queues stand at their
    threshold. Threshold and queue move toward each other: the queue grows by speed - 1 in the time
    in which each of the others can drain by 1.
    """
    threshold = fair_share(buffer, alpha, full_queues)
    if speed < 1 + full_queues + 1 / alpha:
        # The others drain fast enough.
        return fair_share(buffer, alpha, full_queues + 1)
    growing = speed - 1
    return growing * threshold / (growing * (1 + alpha) - alpha * full_queues)
