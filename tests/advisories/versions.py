"""Versions of crates, and what advisories say of them: `>= 1.8.4, < 1.9.0`, `^0.4.20`, `~1.2`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering

_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+.*)?")
_CONDITION = re.compile(r"\s*(>=|<=|>|<|=|\^|~)?\s*(.+?)\s*")


@total_ordering
@dataclass(frozen=True, eq=True)
class Version:
    """Three numbers; one with a word behind them (`1.0.0-rc.1`) comes before the same without."""

    numbers: tuple[int, int, int]
    word: tuple[str, ...] = ()
    # How many of the numbers were written.
    given: int = field(default=3, compare=False)

    @classmethod
    def parse(cls, text: str) -> Version:
        found = _VERSION.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is no version.")
        written = [number for number in found.groups()[:3] if number is not None]
        major, minor, patch = (int(number or 0) for number in found.groups()[:3])
        word = tuple((found[4] or "").split(".")) if found[4] else ()
        return cls((major, minor, patch), word, len(written))

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[object, ...]:
        # Numbers among the words count as numbers, and come before words (semver.org, 11).
        words = tuple((0, int(it), "") if it.isdigit() else (1, 0, it) for it in self.word)
        return (self.numbers, not self.word, words)

    def _next(self, place: int) -> Version:
        """The first version behind all that agree with this one up to `place`."""
        numbers = [*self.numbers[:place], self.numbers[place] + 1, 0, 0]
        return Version((numbers[0], numbers[1], numbers[2]))

    def meets(self, requirement: str) -> bool:
        """Whether all conditions of a requirement hold."""
        return all(self._meets(condition) for condition in requirement.split(","))

    def _meets(self, condition: str) -> bool:
        found = _CONDITION.fullmatch(condition)
        if found is None:
            raise ValueError(f"{condition!r} is no condition on a version.")
        wanted = Version.parse(found[2])
        match found[1]:
            case ">=":
                return self >= wanted
            case ">":
                return self > wanted
            case "<":
                return self < wanted
            case "<=":
                return self <= wanted
            case "=":
                return self == wanted
            case "~":
                return wanted <= self < wanted._next(min(1, wanted.given - 1))
            case _:
                # As Cargo has it: the first number that is not 0 stays.
                first = next((at for at, it in enumerate(wanted.numbers) if it), wanted.given - 1)
                return wanted <= self < wanted._next(min(first, wanted.given - 1))
