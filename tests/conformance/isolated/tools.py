"""The folder before PATH in a run: our programs, and commands that the other project calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

# In the namespace every user is root, so `sudo` runs its arguments without its own options.
SUDO = """\
while [ $# -gt 0 ]; do
    case $1 in
        -*) shift ;;
        *) break ;;
    esac
done
exec env "$@"
"""


def furnish_path(
    folder: Path, programs: Path, names: Iterable[str], scripts: Mapping[str, str]
) -> Path:
    """Makes the folder: links to our `programs` of these names, and scripts by name and text."""
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).symlink_to((programs / name).absolute())
    for name, text in {"sudo": SUDO, **scripts}.items():
        script = folder / name
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
    return folder


def interpreter(python: Path) -> str:
    """A script that is `python`: a virtual environment is found by the path of its interpreter."""
    return f'exec {python.absolute()} "$@"'
