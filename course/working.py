"""Working copies: what a student begins with, and whose parameters it has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from controller.toolchain import ROOT
from course import commands
from course.errors import CourseError
from course.exercise import Exercise

# Where the kit is installed and no clone, its own folder is no place to write.
WORK = Path(os.environ.get("VITRINE_WORK") or ROOT / "work").resolve()
# Whose copy it is. It decides the addresses, rates and dice of the checks.
STUDENT = "student.txt"
# Who it is where nobody says.
NOBODY = "nobody"
_NAME_MAX = 64


def make(exercise: Exercise, student: str, into: Path = WORK) -> Path:
    """Puts handout and beginning into work/<name>; a copy that is there stays as it is."""
    folder = into / exercise.name
    if folder.exists():
        raise CourseError(
            f"{folder} is there already, and what you have written stays. To begin anew, move it "
            "away first."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(exercise.start, folder)
    shutil.copy(exercise.folder / "README.md", folder / "README.md")
    commands.put_into(folder)
    (folder / STUDENT).write_text(f"{student}\n")
    return folder


def folder_of(exercise: Exercise) -> Path:
    """The working copy of an exercise."""
    folder = WORK / exercise.name
    if not folder.is_dir():
        raise CourseError(
            f"there is no {folder}: "
            + commands.shown(f"`make exercise NAME={exercise.name}` makes it first.")
        )
    return folder


def student_of(folder: Path) -> str:
    """Whose work lies in a folder, as its student.txt says; 'nobody' without one."""
    file = folder / STUDENT
    # A submission may hold anything in the place of this file.
    if not file.is_file() or file.is_symlink():
        return NOBODY
    with file.open("rb") as opened:
        return name_in(opened.read(4 * _NAME_MAX))


def name_in(content: bytes) -> str:
    """The name that the content of a student.txt says; 'nobody' where it says none."""
    words = content[: 4 * _NAME_MAX].decode(errors="replace").split()
    return " ".join(words)[:_NAME_MAX] or NOBODY


def login() -> str:
    """The name of whoever runs this, also behind sudo."""
    return os.environ.get("SUDO_USER") or os.environ.get("USER") or NOBODY
