"""The names of labs, which a command checks before anything is set up.

So this needs nothing but Python: a lab is known by its folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from labs.errors import SettingError
from labs.hint import meant

_FOLDER = Path(__file__).parent
_NEW = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LENGTH_MAX = 40


def names() -> list[str]:
    """All labs that have a folder."""
    written = [file.parent.name.replace("_", "-") for file in _FOLDER.glob("*/lab.py")]
    return sorted({*written, *files()})


def files() -> list[str]:
    """Those that are a file, and no Python."""
    return sorted(file.parent.name.replace("_", "-") for file in _FOLDER.glob("*/lab.yaml"))


def refusal(name: str, known: Sequence[str]) -> str:
    """The error about an unknown lab, with the one that was meant."""
    return f"there is no lab {name!r}: {meant(name, known)}"


def new_folder(what: str, name: str, folder: Path) -> Path:
    """Where a new lab or exercise of this name will lie; refuses a name that cannot be its."""
    if not _NEW.fullmatch(name) or len(name) > _LENGTH_MAX:
        raise SettingError(
            f"{name!r} is no name of {what}: use at most {_LENGTH_MAX} lower-case letters and "
            "digits, with dashes between words, such as long-queues."
        )
    if not any((above / "Makefile").exists() for above in folder.parents):
        raise SettingError(f"{folder} is not in a clone: clone the repository, and say it there.")
    made = folder / name.replace("-", "_")
    if made.exists():
        raise SettingError(f"{made} exists: choose another name, or edit what is there.")
    return made
