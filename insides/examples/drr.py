"""Deficit round robin (Shreedhar and Varghese 1995)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insides import Scheduler

# Bytes a round for weight 1: the longest frame, so that no turn is ever in vain.
QUANTUM = 1514


class Drr(Scheduler):
    """In its turn a class may send weight x quantum bytes, and what it left of its last turn."""

    def __init__(self, weights: Sequence[int], rate: int) -> None:
        super().__init__(weights, rate)
        self.deficit = [0] * len(weights)
        self.turn = 0
        # Whether the class whose turn it is has had this turn's bytes.
        self.granted = False

    def choose(self, heads: Mapping[int, int], now: int) -> int:
        """Goes round until the deficit of a class covers its first packet."""
        while True:
            if self.turn in heads:
                if not self.granted:
                    self.deficit[self.turn] += self.weights[self.turn] * QUANTUM
                    self.granted = True
                if heads[self.turn] <= self.deficit[self.turn]:
                    return self.turn
            self._pass_turn()

    def departed(self, group: int, length: int, emptied: bool) -> None:
        """A class that has nothing more to send keeps nothing, and its turn is over."""
        self.deficit[group] -= length
        if emptied:
            self.deficit[group] = 0
            self._pass_turn()

    def dropped(self, group: int, length: int, emptied: bool) -> None:
        """Nor does one whose last packet was dropped."""
        if emptied:
            self.deficit[group] = 0
            if self.turn == group:
                self._pass_turn()

    def _pass_turn(self) -> None:
        self.turn = (self.turn + 1) % len(self.weights)
        self.granted = False
