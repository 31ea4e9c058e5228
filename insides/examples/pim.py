"""Parallel iterative matching (Anderson, Owicki, Saxe and Thacker 1993)."""

from __future__ import annotations

from collections.abc import Sequence

from insides import Arbiter, Chance


class Pim(Arbiter):
    """Each output grants to a random asking input, each input accepts a random grant."""

    def __init__(self, ports: int, iterations: int, seed: int) -> None:
        super().__init__(ports, iterations, seed)
        self.chance = Chance(seed, "arbiter/pim")

    def match(self, asks: Sequence[Sequence[int]], now: int) -> list[tuple[int, int]]:
        """As iSLIP, with dice instead of pointers; inputs accept in their order."""
        pairs: list[tuple[int, int]] = []
        matched: set[int] = set()
        outputs = [output for output, asking in enumerate(asks) if asking]
        for _ in range(self.iterations):
            granted: dict[int, list[int]] = {}
            for output in outputs:
                asking = asks[output]
                if matched:
                    asking = [each for each in asking if each not in matched]
                if asking:
                    chosen = asking[self.chance.below(len(asking))]
                    granted.setdefault(chosen, []).append(output)
            if not granted:
                break
            for chosen in sorted(granted):
                offers = granted[chosen]
                output = offers[self.chance.below(len(offers))]
                pairs.append((chosen, output))
                matched.add(chosen)
                outputs.remove(output)
        return pairs
