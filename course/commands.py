"""The commands that whoever reads a message has: a clone has `make`, an installed kit has none.

Texts are written for a clone; `shown` puts them into the words of an installed kit, as pip makes
them (`vm/dist/wheel.py`).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from controller.toolchain import ROOT

_SETTING = r"[A-Z]+=(?:'[^']*'|\"[^\"]*\"|[^\s`'\"]*)"
_MAKE = re.compile(rf"make (check|exercise|lab)((?: {_SETTING})*)")
_PROGRAM = re.compile(r"build/bin/(vitrine-(?:p4c|sim|switch))")
_PYTHON = "build/venv/bin/python"
# Settings of `make` that are options there; what is a variable stays one, in front.
_OPTIONS = {"CASE": "--case", "STUDENT": "--student", "FOLDER": "--folder"}
_SWITCHES = {"GLASS": "--glass", "LIVE": "--live"}


def shown(text: str, *, installed: bool | None = None) -> str:
    """A text with the commands that its reader has."""
    if not (_is_installed() if installed is None else installed):
        return text
    text = _PROGRAM.sub(r"\1", text).replace(_PYTHON, "python3")
    return _MAKE.sub(_installed, text)


def put_into(folder: Path, *, installed: bool | None = None) -> None:
    """The same for every file of a folder."""
    for file in folder.iterdir():
        text = file.read_text()
        if shown(text, installed=installed) != text:
            file.write_text(shown(text, installed=installed))


@cache
def _is_installed() -> bool:
    return not (ROOT / "Makefile").exists()


def _installed(match: re.Match[str]) -> str:
    before: list[str] = []
    behind: list[str] = []
    for setting in re.findall(_SETTING, match[2]):
        name, _, value = setting.partition("=")
        if name in ("NAME", "LAB"):
            behind.insert(0, value)
        elif name in _OPTIONS:
            behind += [_OPTIONS[name], value]
        elif name in _SWITCHES:
            behind.append(_SWITCHES[name])
        elif setting != "WORLD=virtual":
            before.append(setting)
    return " ".join([*before, f"vitrine-{match[1]}", *behind])
