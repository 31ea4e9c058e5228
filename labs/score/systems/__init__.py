"""The systems of the scoreboard, one file each; a new file is found by itself.

A file elsewhere is named by its path: `named("/home/me/mine.py")`, and one of its classes by
`/home/me/mine.py:waits`, which any process of the machine understands.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Iterator
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
        found |= {kind.name: kind for kind in _systems_of(_imported(f"{__name__}.{module}"))}
    return found


def references(text: str) -> list[str]:
    """The names that `named` understands in any folder: one, or one for each system of a file."""
    if not _is_file(text):
        return [named(text).name]
    file = Path(text).expanduser().resolve()
    return [f"{file}:{name}" for name in _outside(file)]


def is_own(file: str) -> bool:
    """Whether this is a source of a system, so that its author knows it."""
    return Path(file).parent in {_FOLDER, *(each.parent for each in _FILES)}


# Files outside the clone whose systems have been asked for.
_FILES: set[Path] = set()
# Where base.p4 and main.p4 are, for programs that do not lie next to them.
INCLUDES = (_FOLDER,)


def _is_file(text: str) -> bool:
    return text.endswith(".py") or "/" in text


@functools.cache
def _outside(file: Path) -> dict[str, type[System]]:
    """The systems of a file, by name."""
    if not file.is_file():
        raise SettingError(f"there is no file {file}.")
    if file.suffix != ".py":
        raise SettingError(f"{file}: a system is a Python file; its P4 program lies next to it.")
    _FILES.add(file)
    found: dict[str, type[System]] = {}
    for kind in _systems_of(_loaded(file)):
        if kind.name in found:
            raise SettingError(f"{file} has two systems named {kind.name!r}.")
        found[kind.name] = kind
    if not found:
        raise SettingError(f"{file} has no system: a class of `System` with a line `name = ...`.")
    return found


def _systems_of(content: ModuleType) -> Iterator[type[System]]:
    for kind in list(vars(content).values()):
        if (
            inspect.isclass(kind)
            and issubclass(kind, System)
            and kind.name
            and kind.__module__ == content.__name__
        ):
            _check(kind, content)
            yield kind


def _check(kind: type[System], content: ModuleType) -> None:
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    missing += [] if hasattr(kind, "summary") else ["summary"]
    if missing:
        lacks = " and no ".join(missing)
        raise SettingError(f"{content.__file__}: {kind.__name__} has no {lacks}.")


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise _mistake(error) from error


def _loaded(file: Path) -> ModuleType:
    """The module of a file outside the packages; it may import what lies next to it."""
    spec = importlib.util.spec_from_file_location(f"{file.stem} of {file.parent}", file)
    assert spec is not None and spec.loader is not None, "a Python file has a loader"
    module = importlib.util.module_from_spec(spec)
    # Classes look for the source of their module by its name.
    sys.modules[spec.name] = module
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _mistake(error) from error
    return module


def _mistake(error: Exception) -> SettingError:
    kind, last = type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
    if isinstance(error, SyntaxError):
        return SettingError(f"{error.filename}:{error.lineno}: {kind}: {error.msg}")
    return SettingError(f"{last.filename}:{last.lineno}: {kind}: {error}")


def named(name: str) -> type[System]:
    """The system of that name, or of a file outside the clone; see above."""
    if _is_file(name):
        path, _, own = name.partition(".py:")
        if own:
            return _outside(Path(f"{path}.py"))[own]
        found = _outside(Path(name).expanduser().resolve())
        if len(found) > 1:
            raise SettingError(f"{name} has {len(found)} systems: {', '.join(found)}.")
        return next(iter(found.values()))
    known = systems()
    if name not in known:
        file = _FOLDER / f"{name.replace('-', '_')}.py"
        if file.exists():
            raise SettingError(f"{file} has no class with the line `name = {name!r}`.")
        raise SettingError(f"there is no system {name!r}: {meant(name, sorted(known))}")
    return known[name]


def sink_source(system: type[System]) -> Path:
    """The P4 program of the second router."""
    if system.sink:
        return _program(system, system.sink)
    return compiling.find("int_router" if system.in_band else "router")


def source(system: type[System]) -> Path:
    """The P4 program of a system."""
    if system.program:
        return _program(system, system.program)
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


def _program(system: type[System], name: str) -> Path:
    """A program that a system names: of this folder, of the kit, or seen from its own file."""
    own = _FOLDER / f"{name}.p4"
    if own.exists():
        return own
    file = Path(getattr(sys.modules.get(system.__module__), "__file__", None) or ".")
    return compiling.find(name, file.parent if file in _FILES else None)
