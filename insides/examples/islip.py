"""iSLIP (McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from insides import Arbiter


class Islip(Arbiter):
    """Round robin on both sides; a pointer moves only past a grant accepted in the first round."""

    def __init__(self, ports: int, iterations: int, seed: int) -> None:
        super().__init__(ports, iterations, seed)
        # Where each output, and each input, looks first.
        self.grant_from = [0] * ports
        self.accept_from = [0] * ports

    def match(self, asks: Sequence[Sequence[int]], now: int) -> list[tuple[int, int]]:
        """Each round: every output grants to an input, every input accepts an output."""
        pairs: list[tuple[int, int]] = []
        matched: set[int] = set()
        outputs = [output for output, asking in enumerate(asks) if asking]
        for iteration in range(self.iterations):
            granted: dict[int, list[int]] = {}
            for output in outputs:
                asking = asks[output]
                if matched:
                    asking = [each for each in asking if each not in matched]
                if asking:
                    chosen = first_from(asking, self.grant_from[output])
                    granted.setdefault(chosen, []).append(output)
            if not granted:
                break
            for chosen, offers in granted.items():
                output = first_from(offers, self.accept_from[chosen])
                pairs.append((chosen, output))
                matched.add(chosen)
                outputs.remove(output)
                if iteration == 0:
                    self.grant_from[output] = (chosen + 1) % self.ports
                    self.accept_from[chosen] = (output + 1) % self.ports
        return pairs


def first_from(choices: Sequence[int], start: int) -> int:
    """The first of some rising numbers from `start` on, wrapping around."""
    return choices[bisect_left(choices, start) % len(choices)]
