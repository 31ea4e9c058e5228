"""Wrong on purpose, see refused.yaml."""

from reference import Wfq  # noqa: F401

from insides import Scheduler

QUANTUM = 1514


class Drr(Scheduler):
    """In its turn a class may send weight x quantum bytes and what it has left."""

    def __init__(self, weights, rate):
        super().__init__(weights, rate)
        self.deficit = [0] * len(weights)
        self.turn = 0
        self.granted = False

    def choose(self, heads, now):
        while True:
            if self.turn in heads:
                if not self.granted:
                    self.deficit[self.turn] += self.weights[self.turn] * QUANTUM
                    self.granted = True
                if heads[self.turn] <= self.deficit[self.turn]:
                    return self.turn
            self.next_turn()

    def departed(self, group, length, emptied):
        self.deficit[group] -= length
        if emptied:
            self.next_turn()

    def next_turn(self):
        self.turn = (self.turn + 1) % len(self.weights)
        self.granted = False
