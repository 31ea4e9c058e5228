"""The theory of FIFO input queues, by Karol, Hluchyj and Morgan (1987).

Cells of one length arrive in slots, each for an output chosen at random. What is carried at most
follows exactly from the chain of the cells at the heads of the queues.
"""

from __future__ import annotations

# Part of the lines that FIFO input queues carry at most, by the number of ports: exact, from the
# stationary distribution of the heads of the queues.
FIFO_SATURATION = {2: 0.750000, 4: 0.655242, 8: 0.618390, 16: 0.60162}
# For infinitely many ports: 2 - sqrt(2).
FIFO_SATURATION_LIMIT = 2 - 2**0.5


def fifo_wait(load: float) -> float:
    """Mean wait of FIFO input queues with infinitely many ports, in slots."""
    root = 2**0.5
    return (2 - load) * (1 - load) / ((2 - root - load) * (2 + root - load)) - 1
