"""The router's dice: the same numbers as `switch/crates/chance` gives for a seed and a name.

xoshiro256** by Blackman and Vigna, seeded through SplitMix64.
"""

from __future__ import annotations

_ALL = (1 << 64) - 1


class Chance:
    """Random numbers for one purpose; another name is another sequence."""

    def __init__(self, seed: int, name: str) -> None:
        number = 0xCBF29CE484222325
        for byte in name.encode():
            number = (number ^ byte) * 0x100000001B3 & _ALL
        mix = seed ^ _rotated(number, 17)
        self._state = []
        for _ in range(4):
            mix = (mix + 0x9E3779B97F4A7C15) & _ALL
            z = (mix ^ (mix >> 30)) * 0xBF58476D1CE4E5B9 & _ALL
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _ALL
            self._state.append(z ^ (z >> 31))

    def bits(self) -> int:
        """64 random bits."""
        a, b, c, d = self._state
        result = _rotated(b * 5 & _ALL, 7) * 9 & _ALL
        c, d = c ^ a, d ^ b
        self._state = [a ^ d, b ^ c, c ^ (b << 17 & _ALL), _rotated(d, 45)]
        return result

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1, each equally likely."""
        return self.bits() * bound >> 64

    def occurs(self, probability: float) -> bool:
        """True with this probability, to 32 binary places."""
        return self.bits() >> 32 < int(probability * (1 << 32))


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> (64 - by)) & _ALL
