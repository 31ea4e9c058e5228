"""The names of labs, which a command checks before anything is set up.

So this needs nothing but Python: a lab is known by its folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.hint import meant

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """All labs that have a folder."""
    return sorted(file.parent.name.replace("_", "-") for file in _FOLDER.glob("*/lab.py"))


def refusal(name: str, known: Sequence[str]) -> str:
    """What is said of a lab that is none, and which was meant."""
    return f"there is no lab {name!r}: {meant(name, known)}"
