"""Finds submissions, and copies of each the files of the exercise and nothing else.

A submission is whatever a student handed in: links, devices, folders within folders, archives that
unpack to more than a disk holds. What is taken are plain files of the right names and of a size.
"""

from __future__ import annotations

import contextlib
import os
import stat
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from course.errors import CourseError
from course.working import STUDENT

FILE_BYTES_MAX = 1 << 20
_DEPTH_MAX = 4
_ENTRIES_MAX = 2000


@dataclass(frozen=True)
class Submission:
    """What one student handed in."""

    # As the folder or the archive is called.
    name: str
    path: Path

    def take(self, files: Sequence[str], into: Path) -> tuple[str, ...]:
        """Copies the files of an exercise; what was wrong with the others, in sentences."""
        wanted = [*files, STUDENT]
        if self.path.is_dir():
            return _from_folder(self.path, wanted, into)
        return _from_archive(self.path, wanted, into)


def submissions(folder: Path) -> list[Submission]:
    """Every folder and every zip in a folder, by name."""
    if not folder.is_dir():
        raise CourseError(f"IN={folder} is no folder of submissions.")
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            found.append(Submission(path.name, path))
        elif path.suffix == ".zip":
            found.append(Submission(path.stem, path))
    if not found:
        raise CourseError(f"in {folder} there are neither folders nor zips.")
    return found


def _from_folder(folder: Path, wanted: Sequence[str], into: Path) -> tuple[str, ...]:
    remarks = []
    at = _nearest(folder, wanted)
    for name in wanted:
        # Opened without following a link, and looked at once it is open: nothing can change behind.
        try:
            opened = os.open(at / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        except OSError as error:
            remarks.append(f"{name} was not taken: {error.strerror}.")
            continue
        with open(opened, "rb") as file:  # noqa: PTH123 - it is open already
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                remarks.append(f"{name} was not taken: it is no file.")
                continue
            remarks += _keep(into / name, file.read(FILE_BYTES_MAX + 1))
    return tuple(remarks)


def _nearest(folder: Path, wanted: Sequence[str]) -> Path:
    """The folder that holds the most of the files; the outermost of equals."""
    best, most, seen = folder, -1, 0
    for at, folders, files in os.walk(folder):
        depth = len(Path(at).relative_to(folder).parts)
        seen += len(folders) + len(files)
        if depth >= _DEPTH_MAX or seen > _ENTRIES_MAX:
            folders.clear()
        count = sum(name in files for name in wanted)
        if count > most:
            best, most = Path(at), count
    return best


def _from_archive(archive: Path, wanted: Sequence[str], into: Path) -> tuple[str, ...]:
    remarks: list[str] = []
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = opened.infolist()[:_ENTRIES_MAX]
            for name in wanted:
                fitting = [each for each in entries if PurePosixPath(each.filename).name == name]
                # Not what macOS puts beside each file.
                fitting = [each for each in fitting if "__MACOSX" not in each.filename]
                if fitting:
                    nearest = min(fitting, key=lambda each: each.filename.count("/"))
                    # Read up to the limit, whatever length the archive says it has.
                    with opened.open(nearest) as file:
                        remarks += _keep(into / name, file.read(FILE_BYTES_MAX + 1))
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        remarks.append(f"{archive.name} cannot be read as a zip: {error}.")
    return tuple(remarks)


def _keep(file: Path, content: bytes) -> list[str]:
    if len(content) > FILE_BYTES_MAX:
        return [f"{file.name} was not taken: it has more than {FILE_BYTES_MAX} bytes."]
    file.write_bytes(content)
    with contextlib.suppress(OSError):
        file.chmod(0o644)
    return []
