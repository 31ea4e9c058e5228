"""Python classes of yours that decide in a lab: which setting names them, and how they are run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from controller.decider import Decider
from controller.toolchain import ROOT
from labs.errors import SettingError
from labs.world import World


def environment() -> dict[str, str]:
    """Ours, and what vitrine-sim needs to start the Python of a class."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths)}
    return {"VITRINE_PYTHON": sys.executable, **os.environ, **own}


def named(setting: str, text: str | None, world: World) -> str | None:
    """The class in a setting that takes nothing else; refused where it cannot decide."""
    if not text:
        return None
    decider = Decider.parse(text, Path.cwd())
    if decider is None:
        raise SettingError(f"--{setting} {text}: it takes a Python class, such as my.py:MyClass.")
    return checked(setting, text, decider, world)


def checked(setting: str, text: str, decider: Decider, world: World) -> str:
    """A class by its whole path, if it can decide in this world."""
    if world is not World.VIRTUAL:
        raise SettingError(
            f"--{setting} {text}: a Python class decides in virtual time only: say --world virtual."
        )
    if not decider.file.is_file():
        raise SettingError(f"--{setting} {text}: there is no file {decider.file}.")
    return str(decider)


def words(text: str) -> str:
    """A class as a report names it: `MyClass of my.py`."""
    decider = Decider.parse(text, Path())
    assert decider is not None, "it was one"
    return f"{decider.name} of {decider.file.name}"


def deciding(settings: Mapping[str, str]) -> list[str]:
    """The classes among the settings of a run, in words."""
    return [words(text) for text in settings.values() if Decider.parse(text, Path())]
