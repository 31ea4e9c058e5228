"""Your schedulers. As they are, the lowest class that has a packet goes first."""

from insides import Scheduler

# Bytes a round for weight 1.
QUANTUM = 1514
# Units of virtual time in a byte, and the picoseconds that a byte takes at one bit a second.
SCALE = 1 << 16
BYTE_PS = 8 * 10**12


class Drr(Scheduler):
    """Deficit round robin; self.weights has the weight of each class."""

    def choose(self, heads, now):
        """The class that sends: heads[class] is the length of its first packet."""
        # GAP 1: go round the classes; who may send, and who has to wait for the next round?
        return min(heads)

    def departed(self, group, length, emptied):
        """The chosen class sent a packet of this length; emptied: nothing waits there any more."""
        # GAP 2: what does it have left?


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
    """Weighted fair queueing: next is what the fluid server would be done with first."""

    def __init__(self, weights, rate):
        super().__init__(weights, rate)
        self.fluid = Fluid(weights, rate)

    def enqueued(self, group, length, now):
        """A packet of this length has come to the end of its class's queue."""
        self.fluid.follow(now)
        # GAP 3: in virtual time, when does the server begin with it, and when is it done (its tag)?

    def choose(self, heads, now):
        """The class that sends."""
        # GAP 3: the smallest tag among the first packets; of equal ones the lowest class.
        return min(heads)

    def departed(self, group, length, emptied):
        """The chosen class sent its first packet."""
        # GAP 3: whose tag is the class's first one now?

    def dropped(self, group, length, emptied):
        """The first packet of a class was dropped."""
        self.departed(group, length, emptied)
