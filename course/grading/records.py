"""A class on disk: a file for each submission, written whole as soon as it is graded.

    write(file, record, digest)
    read(file, digest)                  # what a run before has found for the same submission

A run that was ended goes on where it was: what was graded by the same checks, with the same secret,
from the same files is not graded again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from controller.toolchain import ROOT
from course.exercise import SOLUTIONS, Exercise

# Everything that decides over points: the checks, and the environment of submissions.
_CHECKS = ("course", "insides", "controller", "apps", "labs", "topo")


@dataclass(frozen=True)
class Record:
    """A row of the sheet."""

    name: str
    student: str
    points: int
    out_of: int
    # Points by the case's name.
    cases: dict[str, int]
    remarks: tuple[str, ...]
    # As the learning system calls the submission, where it has a number for it.
    lms_id: str = ""


def write_whole(file: Path, text: str) -> None:
    """Writes a file so that a reader finds all of it, or its former contents."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}.")
    try:
        # Names of files need not be UTF-8: archives from Windows often are not.
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as opened:
            opened.write(text)
        # As any other file of its folder: `mkstemp` gives it to its owner alone.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def digest_of(exercise: Exercise, secret: str, content: bytes) -> str:
    """The identity of a submission, the checks and the scenarios; the secret cannot be read from
    it."""
    told = hashlib.sha256(_digest_of_kit())
    for part in (exercise.name, secret):
        told.update(hashlib.sha256(part.encode()).digest())
    told.update(content)
    return told.hexdigest()


@cache
def _digest_of_kit() -> bytes:
    told = hashlib.sha256()
    for part in _CHECKS:
        for file in sorted((ROOT / part).rglob("*")):
            is_code = file.suffix in (".py", ".yaml", ".p4") and not file.is_relative_to(SOLUTIONS)
            if is_code and file.is_file():
                told.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    programs = ROOT / "build" / "bin" / "vitrine-programs"
    if programs.exists():
        seen = programs.stat()
        told.update(f"{seen.st_size} {seen.st_mtime_ns}".encode())
    return told.digest()


def write(file: Path, record: Record, digest: str) -> None:
    """Keeps a row for the next run; without a digest for none."""
    write_whole(file, json.dumps({"digest": digest, "record": asdict(record)}) + "\n")


def read(file: Path, digest: str) -> Record | None:
    """The result of an earlier run; None for another submission, or an unreadable file."""
    try:
        told = json.loads(file.read_text())
        if told["digest"] != digest:
            return None
        record = told["record"]
        return Record(**{**record, "remarks": tuple(record["remarks"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
