"""Working copies: the files that a student begins with, with the student's parameters."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from controller.toolchain import ROOT
from course import commands
from course.errors import CourseError
from course.exercise import Exercise

# Where the kit is installed and no clone, its own folder is no place to write.
WORK = Path(os.environ.get("VITRINE_WORK") or ROOT / "work").resolve()
# The student's name. It decides the addresses, rates and dice of the checks.
STUDENT = "student.txt"
# The student's name where the file has none.
NOBODY = "nobody"
# User names that do not identify a person: of containers, images and lab rooms.
SHARED = frozenset(
    {
        *(NOBODY, "root", "student", "user", "ubuntu", "debian", "vagrant"),
        *("jovyan", "codespace", "vscode", "gitpod", "runner"),
    }
)
_NAME_MAX = 64


def make(exercise: Exercise, student: str, into: Path = WORK) -> Path:
    """Puts handout and beginning into work/<name>; a copy that is there stays as it is."""
    refuse_second(exercise, into)
    folder = into / exercise.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(exercise.start, folder)
    shutil.copy(exercise.folder / "README.md", folder / "README.md")
    commands.put_into(folder)
    (folder / STUDENT).write_text(f"{student}\n")
    return folder


def refuse_second(exercise: Exercise, into: Path = WORK) -> None:
    """Raises if there is a working copy."""
    folder = into / exercise.name
    if folder.exists():
        raise CourseError(
            f"{folder} is there already, and what you have written stays. To begin anew, move it "
            "away first."
        )


def student_for(exercise: Exercise, given: str, ask: Callable[[str], str] | None) -> str:
    """The name for a new working copy: the given one, or an answer, or the account's.

    `ask` shows a prompt and returns a line; None means that there is no terminal. A shared user
    name is never used: all students who have it would get the same personal numbers.
    """
    if given.strip():
        return _as_read(given)
    account = _as_read(login())
    own = "" if account.casefold() in SHARED else account
    prompt = f"Your name [{own}]: " if own else "Your name: "
    for _ in range(_QUESTIONS_MAX if ask else 0):
        assert ask is not None
        try:
            answer = ask(prompt)
        except (EOFError, KeyboardInterrupt):
            break
        if answer.strip():
            return _as_read(answer)
        if own:
            return own
    if own and ask is None:
        return own
    command = f"vitrine exercise {exercise.name} --student 'Ada Lovelace'"
    reason = "no name was given" if own else f"many students share the user name {account}"
    raise CourseError(
        f"{reason}, and your personal numbers follow from your name. Give it: {command}"
    )


def _as_read(name: str) -> str:
    """A name as `student_of` reads it back."""
    return name_in(name.encode(errors="replace"))


_QUESTIONS_MAX = 3


def folder_of(exercise: Exercise) -> Path:
    """The working copy of an exercise."""
    folder = WORK / exercise.name
    if not folder.is_dir():
        raise CourseError(
            f"there is no {folder}: `vitrine exercise {exercise.name}` makes it first."
        )
    return folder


def student_of(folder: Path) -> str:
    """The student of a folder, from its student.txt; 'nobody' without one."""
    file = folder / STUDENT
    # A submission may hold anything in the place of this file.
    if not file.is_file() or file.is_symlink():
        return NOBODY
    with file.open("rb") as opened:
        return name_in(opened.read(4 * _NAME_MAX))


def name_in(content: bytes) -> str:
    """The name in the content of a student.txt; 'nobody' where it has none."""
    words = content[: 4 * _NAME_MAX].decode(errors="replace").split()
    return " ".join(words)[:_NAME_MAX] or NOBODY


def login() -> str:
    """The name of the user who runs this, also under sudo."""
    return os.environ.get("SUDO_USER") or os.environ.get("USER") or NOBODY
