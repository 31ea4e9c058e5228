"""The promises of schedulers: shares of the line, and how long a lone packet may wait.

All for classes of equal weight on a line of one rate; lengths are those of frames, in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.queueing import ETHERNET_FRAME_BYTES


@dataclass(frozen=True)
class Line:
    """The line and its traffic: two classes that always have packets, and a third, a ping."""

    rate_bps: int
    small_bytes: int
    large_bytes: int
    ping_bytes: int
    classes: int = 3

    def seconds(self, length_bytes: float) -> float:
        """The time of this many bytes on the line."""
        return length_bytes * 8 / self.rate_bps

    def small_share(self, scheduler: str) -> float | None:
        """The share of the class of small packets in the bytes of both; None: undefined."""
        if scheduler == "strict":
            return 1.0
        if scheduler == "wrr":
            # A packet each in turn: the class with the longer ones gets more.
            return self.small_bytes / (self.small_bytes + self.large_bytes)
        if scheduler in ("drr", "wfq"):
            return 0.5
        return None

    def longest_wait_s(self, scheduler: str, queue_bytes: int) -> float:
        """How long a packet that comes to its empty class waits at most, its own time included."""
        own, under_way = self.seconds(self.ping_bytes), self.seconds(self.large_bytes)
        if scheduler == "fifo":
            return own + under_way + self.seconds(queue_bytes)
        if scheduler == "strict":
            # The frame that is on the line cannot be taken back.
            return own + under_way
        if scheduler == "wrr":
            return own + under_way + self.seconds(self.large_bytes + self.small_bytes)
        if scheduler == "drr":
            # The latency of a class by Stiliadis and Varma: (3F - 2 phi) / r, with quantum phi and
            # F the sum of all quanta.
            quantum = ETHERNET_FRAME_BYTES
            return own + self.seconds((3 * self.classes - 2) * quantum)
        # WFQ: as if it had its part of the line for itself, and the frame that is on the line.
        return self.classes * own + under_way


def strict_waits(load: float, high_load: float) -> tuple[float, float]:
    """Mean waits of the high and of the low class, in packet times, packets of one length.

    M/D/1 with two classes, nobody interrupted (Cobham): W1 = R / (1 - p1), W2 = W1 / (1 - p), with
    the rest of the packet on the line R = p / 2.
    """
    rest = load / 2
    high = rest / (1 - high_load)
    return high, high / (1 - load)


def fifo_wait(load: float) -> float:
    """Mean wait of M/D/1 in packet times."""
    return load / (2 * (1 - load))
