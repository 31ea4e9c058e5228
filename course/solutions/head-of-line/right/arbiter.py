"""PIM and iSLIP."""

import random

from insides import Arbiter


class Pim(Arbiter):
    """Parallel iterative matching: random grants, random accepts."""

    def __init__(self, ports, iterations, seed):
        super().__init__(ports, iterations, seed)
        self.random = random.Random(seed)

    def match(self, asks, now):
        pairs = []
        inputs, outputs = set(range(self.ports)), set(range(self.ports))
        for _ in range(self.iterations):
            granted = {}
            for output in outputs:
                asking = [each for each in asks[output] if each in inputs]
                if asking:
                    granted.setdefault(self.random.choice(asking), []).append(output)
            for chosen, offers in granted.items():
                output = self.random.choice(offers)
                pairs.append((chosen, output))
                inputs.remove(chosen)
                outputs.remove(output)
        return pairs


class Islip(Arbiter):
    """iSLIP: round robin, pointers that move only on an accept in the first iteration."""

    def __init__(self, ports, iterations, seed):
        super().__init__(ports, iterations, seed)
        self.grant_from = [0] * ports
        self.accept_from = [0] * ports

    def match(self, asks, now):
        pairs = []
        inputs, outputs = set(range(self.ports)), set(range(self.ports))
        for iteration in range(self.iterations):
            granted = {}
            for output in outputs:
                asking = [each for each in asks[output] if each in inputs]
                if asking:
                    chosen = self.first_from(asking, self.grant_from[output])
                    granted.setdefault(chosen, []).append(output)
            for chosen, offers in granted.items():
                output = self.first_from(offers, self.accept_from[chosen])
                pairs.append((chosen, output))
                inputs.remove(chosen)
                outputs.remove(output)
                if iteration == 0:
                    self.grant_from[output] = (chosen + 1) % self.ports
                    self.accept_from[chosen] = (output + 1) % self.ports
        return pairs

    @staticmethod
    def first_from(choices, start):
        return min(choices, key=lambda each: (each < start, each))
