"""The systems of the scoreboard, one file each; a new file is found by itself."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import traceback
from pathlib import Path
from types import ModuleType

from controller import compiling
from labs.errors import SettingError
from labs.hint import meant
from labs.score.system import System

_FOLDER = Path(__file__).parent


@functools.cache
def systems() -> dict[str, type[System]]:
    """Every system by name, in the order of their files."""
    found: dict[str, type[System]] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(__path__)):
        content = _imported(module)
        for kind in vars(content).values():
            if (
                inspect.isclass(kind)
                and issubclass(kind, System)
                and kind.name
                and kind.__module__ == content.__name__
            ):
                _check(kind, content)
                found[kind.name] = kind
    return found


def _check(kind: type[System], content: ModuleType) -> None:
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    missing += [] if hasattr(kind, "summary") else ["summary"]
    if missing:
        lacks = " and no ".join(missing)
        raise SettingError(f"{content.__file__}: {kind.__name__} has no {lacks}.")


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(f"{__name__}.{module}")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = type(error).__name__
        raise SettingError(f"{last.filename}:{last.lineno}: {kind}: {error}") from error


def named(name: str) -> type[System]:
    """The system of that name."""
    known = systems()
    if name not in known:
        file = _FOLDER / f"{name.replace('-', '_')}.py"
        if file.exists():
            raise SettingError(f"{file} has no class with the line `name = {name!r}`.")
        raise SettingError(f"there is no system {name!r}: {meant(name, sorted(known))}")
    return known[name]


def sink_source(system: type[System]) -> Path:
    """The P4 program of the second router."""
    return compiling.find(system.sink or ("int_router" if system.in_band else "router"))


def source(system: type[System]) -> Path:
    """The P4 program of a system."""
    own = _FOLDER / f"{system.program}.p4"
    if system.program:
        return own if own.exists() else compiling.find(system.program)
    try:
        beside = Path(inspect.getfile(system))
    except (TypeError, OSError) as error:
        # A class of a notebook has no file.
        raise SettingError(
            f"{system.__name__} has no P4 program: set its `program` to a name or a path."
        ) from error
    program = beside.with_suffix(".p4")
    if not program.exists():
        raise SettingError(
            f"{system.__name__} has no P4 program: there is no {program}, and its `program` is not "
            "set to the name or path of another one."
        )
    return program
