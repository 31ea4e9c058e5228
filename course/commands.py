"""The paths in texts: a clone has its programs in build/, an installed kit has them on the path.

Texts are written for a clone; `shown` puts them into the words of an installed kit.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from controller.toolchain import ROOT

_PROGRAM = re.compile(r"build/bin/(vitrine\b(?:-p4c|-sim|-switch)?)")
_PYTHON = "build/venv/bin/python"


def shown(text: str, *, installed: bool | None = None) -> str:
    """A text with the paths that its reader has."""
    if not (_is_installed() if installed is None else installed):
        return text
    return _PROGRAM.sub(r"\1", text).replace(_PYTHON, "python3")


def put_into(folder: Path, *, installed: bool | None = None) -> None:
    """The same for every file of a folder."""
    for file in folder.iterdir():
        text = file.read_text()
        if shown(text, installed=installed) != text:
            file.write_text(shown(text, installed=installed))


@cache
def _is_installed() -> bool:
    return not (ROOT / "Makefile").exists()
