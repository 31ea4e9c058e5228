"""The sections of a record: each is a module with `record(sizes)`, which returns files of text."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from tests.oracles.sizes import Sizes

# The cheap sections first.
NAMES = (
    "programs",
    "commands",
    "packets",
    "names",
    "worlds",
    "histories",
    "instructions",
    "generated",
    "conformance",
    "labs",
)
# The result of a section's module: the lines of each file, by the file's name.
Files = Mapping[str, Iterable[str]]


class SectionError(Exception):
    """A section that is unknown or cannot be recorded."""


def chosen(only: str) -> tuple[str, ...]:
    """The sections that ONLY names, in our order; all if it is empty."""
    wanted = only.split()
    if unknown := [name for name in wanted if name not in NAMES]:
        raise SectionError(f"no section {unknown[0]!r}; there are {', '.join(NAMES)}")
    return tuple(name for name in NAMES if not wanted or name in wanted)


def summary(name: str) -> str:
    """The first sentence of the section's module."""
    return (_module(name).__doc__ or "").partition("\n")[0]


def record(name: str, folder: Path, sizes: Sizes) -> None:
    """Records one section into `folder`/`name`, which is replaced only if that succeeds."""
    files: Files = _module(name).record(sizes)
    finished, unfinished = folder / name, folder / f".{name}"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for file, lines in files.items():
        (unfinished / file).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    shutil.rmtree(finished, ignore_errors=True)
    unfinished.rename(finished)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"tests.oracles.{name}")
