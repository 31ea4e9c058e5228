"""A copy of the tutorials in which one exercise is solved, for one run.

The checkout is only read. Each run gets `utils/` and its exercise, with the solution's files in the
place of the starter's, so that `make run` there is what a student runs who has finished.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.conformance.isolated.outcome import CheckError


def stage(checkout: Path, exercise: str, scratch: Path) -> Path:
    """Makes the copy under `scratch` and returns the exercise's folder in it."""
    source = checkout / "exercises" / exercise
    if not source.is_dir():
        raise CheckError(f"{source} is not there: does TUTORIALS name a checkout of the tutorials?")
    if scratch.exists():
        shutil.rmtree(scratch)
    shutil.copytree(checkout / "utils", scratch / "utils")
    folder = scratch / "exercises" / exercise
    shutil.copytree(source, folder)
    for solved in sorted((folder / "solution").glob("*")):
        shutil.copy2(solved, _place_of(solved, folder))
    return folder


def _place_of(solved: Path, folder: Path) -> Path:
    """Where the starter has the file of this name: nearly always in the exercise's own folder."""
    candidates = [
        path for path in folder.rglob(solved.name) if folder / "solution" not in path.parents
    ]
    return candidates[0] if candidates else folder / solved.name
