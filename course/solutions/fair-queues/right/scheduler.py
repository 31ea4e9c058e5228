"""Deficit round robin and weighted fair queueing."""

from collections import deque

from insides import Scheduler

QUANTUM = 1514
# Units of virtual time in a byte, and the picoseconds that a byte takes at one bit a second.
SCALE = 1 << 16
BYTE_PS = 8 * 10**12


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
            self.deficit[group] = 0
            self.next_turn()

    def next_turn(self):
        self.turn = (self.turn + 1) % len(self.weights)
        self.granted = False


class Fluid:
    """An imaginary server that sends of all classes at once. It is finished: Wfq asks it.

    Virtual time counts the bytes that it has served for a weight of 1, each as SCALE units.
    """

    def __init__(self, weights, rate):
        self.weights, self.rate = weights, rate
        # Of each class, when the server will be done with its last packet, in virtual time.
        self.last_tag = [0] * len(weights)
        # The classes with which it is busy, its virtual time, and what time that was.
        self.busy = set()
        self.virtual = self.reached = 0

    def follow(self, now):
        """Goes on until now; a class leaves with its last tag."""
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

    def takes(self, group, tag):
        """A packet with this tag has come."""
        self.busy.add(group)
        self.last_tag[group] = tag


class Wfq(Scheduler):
    """The packet goes first that the fluid server would be done with first."""

    def __init__(self, weights, rate):
        super().__init__(weights, rate)
        self.fluid = Fluid(weights, rate)
        self.tags = [deque() for _ in weights]

    def enqueued(self, group, length, now):
        self.fluid.follow(now)
        tag = self.begins(group) + length * SCALE // self.weights[group]
        self.fluid.takes(group, tag)
        self.tags[group].append(tag)

    def begins(self, group):
        """Behind the packets of its class, or at once."""
        fluid = self.fluid
        return fluid.last_tag[group] if group in fluid.busy else fluid.virtual

    def choose(self, heads, now):
        return min(heads, key=lambda group: self.tags[group][0])

    def departed(self, group, length, emptied):
        self.tags[group].popleft()

    def dropped(self, group, length, emptied):
        self.tags[group].popleft()
