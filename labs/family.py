"""A packet with its copies: as a tree of text, or as data.

packet 1  10.0.1.1:40000 > 10.0.2.1:80, TCP, 74 bytes, came in at port 1
  ...
  └ packet 2  a copy of packet 1
      ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from controller.trace import Step
from labs.life import Life, Sources

_INDENT = 4


@dataclass
class Families:
    """Takes steps as they come, and gives each family when all of it has ended."""

    sources: Sources
    # The names of packets, by the router's numbers.
    numbers: dict[int, int] = field(default_factory=dict)
    _lives: dict[int, Life] = field(default_factory=dict)
    _parents: dict[int, int] = field(default_factory=dict)
    _ended: set[int] = field(default_factory=set)

    def take(self, step: Step) -> Family | None:
        """The family that ended with this step, if one did."""
        if step.packet not in self._lives:
            self._lives[step.packet] = Life(step.packet, self.sources, self.numbers)
            # Packets are named in the order of their reports.
            _ = self._lives[step.packet].number
        self._lives[step.packet].steps.append(step)
        if step.kind == "copied":
            parent = getattr(step.message, "from")
            if parent in self._lives:
                self._parents[step.packet] = parent
        if not step.is_last:
            return None
        self._ended.add(step.packet)
        return self._done(self._root(step.packet))

    def _root(self, packet: int) -> int:
        while packet in self._parents:
            packet = self._parents[packet]
        return packet

    def _done(self, root: int) -> Family | None:
        members = [each for each in self._lives if self._root(each) == root]
        if not self._ended.issuperset(members):
            return None
        family = self._family(root)
        for each in members:
            del self._lives[each]
            self._ended.discard(each)
        for each in members:
            self._parents.pop(each, None)
        return family

    def _family(self, packet: int) -> Family:
        copies = [each for each in self._lives if self._parents.get(each) == packet]
        return Family(self._lives[packet], [self._family(each) for each in copies])


@dataclass
class Family:
    """One packet, and the families of its copies."""

    life: Life
    copies: list[Family]

    def lines(self) -> Iterator[str]:
        """All of it, for a terminal of 80 columns."""
        yield from self.life.lines()
        for copy in self.copies:
            copy.narrow()
            for number, line in enumerate(copy.lines()):
                yield f"{'  └ ' if number == 0 else ' ' * _INDENT}{line}"

    def narrow(self) -> None:
        """It stands further in."""
        self.life.width -= _INDENT
        for copy in self.copies:
            copy.narrow()

    def as_data(self) -> dict[str, Any]:
        """The same for programs."""
        return {**self.life.as_data(), "copies": [copy.as_data() for copy in self.copies]}
