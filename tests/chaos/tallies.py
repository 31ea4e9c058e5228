"""Numbers that one process counts up and others read, by name: a file of 8 bytes for each.

A number is written whole, so a reader never sees half of one; and it outlives whoever wrote it.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

_BYTES = 8


class Tallies:
    """The numbers in a file, which is made if it is not there."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._index = {name: index for index, name in enumerate(names)}
        size = _BYTES * len(names)
        if not path.exists():
            path.write_bytes(bytes(size))
        with path.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), size)).cast("Q")

    def add(self, name: str, count: int = 1) -> None:
        """Counts up."""
        self._numbers[self._index[name]] += count

    def put(self, name: str, number: int) -> None:
        """Says how many there are by now."""
        self._numbers[self._index[name]] = number

    def get(self, name: str) -> int:
        """The present count of `name`; 0 if it is not counted here."""
        return self[name] if name in self._index else 0

    def __getitem__(self, name: str) -> int:
        return self._numbers[self._index[name]]
