"""Weighted fair queueing by packets (Demers, Keshav and Shenker 1989; Parekh and Gallager 1993)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from insides import Scheduler

# Units of virtual time in a byte, and the picoseconds that a byte takes at one bit a second.
SCALE = 1 << 16
BYTE_PS = 8 * 10**12


class Wfq(Scheduler):
    """The packet goes first that an imaginary fluid server, busy with all at once, finishes first.

    Virtual time counts the bytes that the fluid server has served for a weight of 1.
    """

    def __init__(self, weights: Sequence[int], rate: int) -> None:
        super().__init__(weights, rate)
        self.tags: list[deque[int]] = [deque() for _ in weights]
        self.last_tag = [0] * len(weights)
        # The classes with which the fluid server is busy, its virtual time, and what time that was.
        self.busy: set[int] = set()
        self.virtual = self.reached = 0

    def enqueued(self, group: int, length: int, now: int) -> None:
        """A packet's tag is the virtual time at which the fluid server will be done with it."""
        self._follow(now)
        begins = self.last_tag[group] if group in self.busy else self.virtual
        self.busy.add(group)
        self.last_tag[group] = begins + length * SCALE // self.weights[group]
        self.tags[group].append(self.last_tag[group])

    def choose(self, heads: Mapping[int, int], now: int) -> int:
        """The smallest tag; of equal ones that of the lowest class."""
        return min(heads, key=lambda group: self.tags[group][0])

    def departed(self, group: int, length: int, emptied: bool) -> None:
        """Tags say what a packet has paid."""
        self.tags[group].popleft()

    def dropped(self, group: int, length: int, emptied: bool) -> None:
        """Dropped or sent: the packet is gone."""
        self.tags[group].popleft()

    def _follow(self, now: int) -> None:
        """The fluid server goes on until `now`; a class leaves it with its last tag."""
        left, self.reached = now - self.reached, now
        while left > 0 and self.busy:
            first = min(sorted(self.busy), key=lambda group: self.last_tag[group])
            weight = sum(self.weights[group] for group in self.busy) * BYTE_PS
            needed = -(-(self.last_tag[first] - self.virtual) * weight // (self.rate * SCALE))
            if needed > left:
                self.virtual += left * self.rate * SCALE // weight
                return
            self.virtual = self.last_tag[first]
            self.busy.remove(first)
            left -= needed
