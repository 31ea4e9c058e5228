"""Your scheduler. As it is, the lowest class that has a packet goes first."""

from insides import Scheduler

# Bytes a round for weight 1.
QUANTUM = 1514


class Drr(Scheduler):
    """Deficit round robin; self.weights has the weight of each class."""

    def choose(self, heads, now):
        """The class that sends: heads[class] is the length of its first packet."""
        # GAP 1: go round the classes; who may send, and who has to wait for the next round?
        return min(heads)

    def departed(self, group, length, emptied):
        """The chosen class sent a packet of this length; emptied: nothing waits there any more."""
        # GAP 2: what does it have left?
