"""A wall clock that steps for routers, controllers and hosts, and for no other process.

    clock.begin(folder)             # first of all: starts this program anew, with such a clock
    clock.step(-3600)               # from now on an hour back, for us and the processes we start
    clock.step(0)

The kernel has one time of day for all, and the machine's other users need it. So the library
`stepping_clock` stands before libc's own in all processes of a run, and adds to the time of day
what a file says.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

_SOURCE = Path(__file__).with_name("stepping_clock.c")
_FILE = "STEPPING_CLOCK"
_STEP_NS = struct.Struct("=q")


def environment(folder: Path) -> dict[str, str]:
    """The environment of a process whose clock steps; empty without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    library, file = folder / "stepping_clock.so", folder / "step"
    build = [compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, _SOURCE]
    subprocess.run(build, check=True)
    file.write_bytes(_STEP_NS.pack(0))
    # By its name alone, because LD_PRELOAD cannot name a folder with a space in it.
    libraries = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {
        "LD_PRELOAD": library.name,
        "LD_LIBRARY_PATH": ":".join(libraries),
        _FILE: str(file),
    }


def begin(folder: Path) -> None:
    """Starts this program anew with a clock that steps, unless it has one; or goes on without."""
    if not steps() and (found := environment(folder)):
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **found})


def steps() -> bool:
    """Whether our clock steps."""
    return _FILE in os.environ


def step(by_s: float) -> None:
    """From now on the wall clock differs by `by_s` seconds from the machine's."""
    with Path(os.environ[_FILE]).open("r+b", buffering=0) as file:
        # Eight bytes at once: no reader sees half of them.
        file.write(_STEP_NS.pack(round(by_s * 1e9)))
