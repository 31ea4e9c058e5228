"""Your arbiters. As they are they match one input and one output at most."""

from insides import Arbiter


class Pim(Arbiter):
    """Parallel iterative matching.

    self.ports inputs and outputs, self.iterations rounds; self.seed is for your dice.
    """

    def match(self, asks, now):
        """Pairs (input, output). asks[output] lists the inputs that ask for it."""
        # GAP 1: in each round every output that is left picks one of the inputs that ask and are
        # left, at random; every input that was picked takes one of its outputs, at random.
        for output, inputs in enumerate(asks):
            if inputs:
                return [(inputs[0], output)]
        return []


class Islip(Arbiter):
    """iSLIP."""

    def __init__(self, ports, iterations, seed):
        super().__init__(ports, iterations, seed)
        # GAP 2: a pointer for each output and for each input, all at 0.

    def match(self, asks, now):
        """As above, with pointers instead of dice."""
        # GAP 3: as PIM, but the first from the pointer on. When does a pointer move?
        return []
