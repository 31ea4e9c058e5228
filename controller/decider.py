"""A Python class that decides in the place of a part of a router or a host: docs/insides.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# Behind the name of a file comes that of its class.
_BEHIND = ".py:"


@dataclass(frozen=True)
class Decider:
    """`FILE.py:CLASS`. Only networks in virtual time have them."""

    file: Path
    name: str

    @classmethod
    def parse(cls, text: str, folder: Path) -> Decider | None:
        """The class that is written so, or None; its file is seen from the folder.

        What stands behind another colon, such as a built-in to compare with, stays with the name.
        """
        file, behind, name = text.partition(_BEHIND)
        if not behind:
            return None
        return cls((folder / Path(f"{file}.py").expanduser()).resolve(), name)

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"
