"""Finds submissions, and copies of each the files of the exercise and nothing else.

    for submission in submissions(folder, exercise.files):
        remarks = submission.take(exercise.files, into)

A submission is whatever a student handed in: links, devices, folders within folders, archives that
unpack to more than a disk holds. What is taken are plain files of the right names and of a size.

Classes come as learning systems pack them: a folder or an archive for each student (Moodle), with
an archive inside; loose files whose names begin with the student's (Canvas, Moodle without
folders); lone files. Every entry of the folder becomes a submission, if only to say what is wrong
with it.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import os
import re
import stat
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, TypeAlias

from course.errors import CourseError
from course.working import STUDENT, name_in

FILE_BYTES_MAX = 1 << 20
# Of an archive as it was handed in, and of a tar file once it is no longer compressed.
ARCHIVE_BYTES_MAX = 16 << 20
# Archives within archives.
_NESTED_MAX, _ARCHIVES_MAX = 2, 4
_DEPTH_MAX = 4
_ENTRIES_MAX = 2000
_ZIPS = (".zip",)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2")
_EXTENSIONS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_EXTENSION_BYTES_MAX = 64 << 10
_OTHERS = (".7z", ".rar", ".tar.xz", ".txz", ".xz", ".gz", ".zst")
# "Ada Lovelace_4711_assignsubmission_file_", and what follows where there are no folders.
_MOODLE = re.compile(r"^(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)$", re.S)
# "lovelaceada_LATE_4711_123456_router.p4"; a second try is "router-1.p4".
_CANVAS = re.compile(r"^(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_(?P<rest>.+)$", re.S)
# "submission_123456", as Gradescope exports them.
_GRADESCOPE = re.compile(r"^(?P<name>submission_(?P<id>\d+))(?P<rest>)$")
# The suffix that a browser or a learning system adds to a name already taken.
_AGAIN = re.compile(r"(?:-\d+| ?\(\d+\))$")

Read: TypeAlias = Callable[[], bytes]


@dataclass(frozen=True)
class _Candidate:
    """Something that may be one of the files."""

    # Where it is, as the submission calls it; archives are folders.
    path: PurePosixPath
    # Its first bytes, up to one more than a file may have.
    read: Read


class _Unfit(Exception):  # noqa: N818 - it becomes a remark
    """Why something cannot be taken."""


@dataclass(frozen=True)
class Submission:
    """One student's submission."""

    # As the folder or the archive is called.
    name: str
    path: Path
    # As the learning system calls its student or its submission, where the name says it.
    lms_id: str = ""
    # Loose files of one student: each with the name that it had before the system gave it one.
    loose: tuple[tuple[Path, str], ...] = ()
    # The mistake in the entry as a whole, as a sentence; then nothing is taken.
    unfit: str = ""

    def content(self, files: Sequence[str]) -> tuple[dict[str, bytes], tuple[str, ...]]:
        """The files of an exercise; what was wrong with the others, in sentences."""
        if self.unfit:
            return {}, (self.unfit,)
        wanted = [*files, STUDENT]
        remarks: list[str] = []
        found = _Search(wanted, remarks).candidates(self)
        taken = {}
        for name, candidate in _chosen(found, wanted, files, remarks).items():
            try:
                content = candidate.read()
            except _Unfit as unfit:
                remarks.append(f"{name} was not taken: {unfit}.")
                continue
            except Exception as error:  # noqa: BLE001 - broken archives break in many ways
                remarks.append(f"{name} was not taken: it cannot be read ({_words(error)}).")
                continue
            if len(content) > FILE_BYTES_MAX:
                remarks.append(f"{name} was not taken: it has more than {FILE_BYTES_MAX} bytes.")
                continue
            taken[name] = content
        return taken, tuple(dict.fromkeys(remarks))

    def take(self, files: Sequence[str], into: Path) -> tuple[str, ...]:
        """Copies the files of an exercise; what was wrong with the others, in sentences."""
        taken, remarks = self.content(files)
        for name, content in taken.items():
            (into / name).write_bytes(content)
            with contextlib.suppress(OSError):
                (into / name).chmod(0o644)
        return remarks

    def student(self) -> str:
        """The student that it names."""
        return name_in(self.content(())[0].get(STUDENT, b""))

    def digest(self, files: Sequence[str]) -> bytes:
        """The same value for the same files with the same names."""
        taken, remarks = self.content(files)
        told = hashlib.sha256(repr((self.name, remarks)).encode(errors="replace"))
        for name in sorted(taken):
            told.update(f"{name} {len(taken[name])} ".encode() + taken[name])
        return told.digest()


def file_name(name: str) -> str:
    """A submission's name as the name of a file, which cannot lead outside."""
    safe = "".join(each if each.isalnum() or each in "-_." else "_" for each in name)
    # A name of a file has 255 bytes at most, and something is put behind it.
    safe = safe.lstrip(".").encode()[:_NAME_BYTES_MAX].decode(errors="ignore")
    # Neither the report that names students (`similarity.py`), nor the sheet, nor the page or the
    # result of another: the folder of recordings beside a page has the bare name.
    if safe.lower() == SIMILAR or safe.lower().endswith(_RESULTS):
        return f"{safe}_"
    return safe or "submission"


SIMILAR = "similar"
_RESULTS = (".html", ".json", ".csv")
_NAME_BYTES_MAX = 150


def submissions(folder: Path) -> list[Submission]:
    """Every entry of a folder, by name."""
    if not folder.is_dir():
        raise CourseError(f"IN={folder} is no folder of submissions.")
    found: list[Submission] = []
    loose: dict[tuple[str, str], list[tuple[Path, str]]] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__MACOSX")):
            continue
        name, lms_id, rest = _named(path.name)
        if path.is_symlink():
            found.append(
                Submission(path.name, path, unfit="It is a link, and no link is followed.")
            )
        elif path.is_dir():
            found.append(Submission(path.name, path) if rest else Submission(name, path, lms_id))
        elif not path.is_file():
            found.append(Submission(path.name, path, unfit="It is neither a file nor a folder."))
        elif rest and lms_id:
            loose.setdefault((name, lms_id), []).append((path, rest))
        elif path.name.lower().endswith((*_ZIPS, *_TARS)):
            found.append(Submission(_stem(path.name), path, lms_id))
        else:
            found.append(Submission(path.name, path, loose=((path, path.name),)))
    for (name, lms_id), files in loose.items():
        found.append(Submission(name, folder, lms_id, loose=tuple(files)))
    if not found:
        raise CourseError(f"in {folder} there is nothing that was handed in.")
    return _unlike(sorted(found, key=lambda each: (each.name, str(each.path))))


def _named(name: str) -> tuple[str, str, str]:
    """Of a name by a learning system: the student's, the system's number, and the file's own."""
    for pattern in (_MOODLE, _CANVAS, _GRADESCOPE):
        match = pattern.match(name)
        if match:
            return match["name"], match["id"], match["rest"]
    return name, "", ""


def _stem(name: str) -> str:
    """The name of an archive without its ending."""
    for ending in sorted((*_ZIPS, *_TARS), key=len, reverse=True):
        if name.lower().endswith(ending):
            return name[: -len(ending)] or name
    return name


def _unlike(found: Sequence[Submission]) -> list[Submission]:
    """The same with names that lead to different files."""
    result, taken = [], Counter(file_name(each.name).lower() for each in found)
    seen: Counter[str] = Counter()
    used = {name for name, count in taken.items() if count == 1}
    for each in found:
        key = file_name(each.name).lower()
        if taken[key] == 1:
            result.append(each)
            continue
        while True:
            seen[key] += 1
            name = each.name if seen[key] == 1 else f"{each.name[:80]} ({seen[key]})"
            if file_name(name).lower() not in used:
                break
        used.add(file_name(name).lower())
        result.append(Submission(name, each.path, each.lms_id, each.loose, each.unfit))
    return result


# ---- what there is -------------------------------------------------------------------------------


class _Search:
    """Looks through one submission, and no further than its limits."""

    def __init__(self, wanted: Sequence[str], remarks: list[str]) -> None:
        self._wanted = wanted
        self._remarks = remarks
        self._entries = self._archives = 0

    def candidates(self, submission: Submission) -> list[_Candidate]:
        """Everything that may be one of the files."""
        if submission.loose:
            parts = [self._file(path, PurePosixPath(own)) for path, own in submission.loose]
            return [each for part in parts for each in part]
        if submission.path.is_dir():
            return list(self._folder(submission.path))
        return list(self._file(submission.path, PurePosixPath(), is_whole=True))

    def _folder(self, folder: Path) -> Iterator[_Candidate]:
        for at, folders, files in os.walk(folder):
            inside = PurePosixPath(Path(at).relative_to(folder).as_posix())
            self._entries += len(folders) + len(files)
            for name in sorted([*files, *(name for name in folders if name in self._wanted)]):
                yield from self._file(Path(at) / name, inside / name)
            folders[:] = sorted(name for name in folders if name != "__MACOSX")
            if len(inside.parts) >= _DEPTH_MAX or self._entries > _ENTRIES_MAX:
                folders.clear()

    def _file(
        self, path: Path, called: PurePosixPath, *, is_whole: bool = False
    ) -> Iterator[_Candidate]:
        kind = path.name.lower()
        if not kind.endswith((*_ZIPS, *_TARS)):
            if kind.endswith(_OTHERS) and not is_whole:
                self._remarks.append(f"{path.name[:80]} was not read: hand in a zip.")
            yield _Candidate(called, lambda: _plain(path))
            return
        try:
            content = _plain(path, ARCHIVE_BYTES_MAX)
        except _Unfit as unfit:
            self._remarks.append(f"{path.name[:80]} was not read: {unfit}.")
            return
        inside = PurePosixPath() if is_whole else called.parent / f"{called.name}:"
        yield from self._archive(path.name, content, inside, 1)

    def _archive(
        self, name: str, content: bytes, called: PurePosixPath, nested: int
    ) -> Iterator[_Candidate]:
        self._archives += 1
        kind = "zip" if name.lower().endswith(_ZIPS) else "tar"
        try:
            if len(content) > ARCHIVE_BYTES_MAX:
                raise _Unfit(f"it has more than {ARCHIVE_BYTES_MAX >> 20} MB")
            entries = _zipped(content) if kind == "zip" else _tarred(name, content)
            for inside, read in entries:
                self._entries += 1
                if self._entries > _ENTRIES_MAX:
                    break
                # Not what macOS puts beside each file.
                if "__MACOSX" in inside.parts:
                    continue
                is_archive = inside.name.lower().endswith((*_ZIPS, *_TARS))
                if not is_archive:
                    yield _Candidate(called / inside, read(FILE_BYTES_MAX))
                elif nested < _NESTED_MAX and self._archives < _ARCHIVES_MAX:
                    deeper = called / inside.parent / f"{inside.name}:"
                    more = read(ARCHIVE_BYTES_MAX)()
                    yield from self._archive(inside.name, more, deeper, nested + 1)
        except Exception as error:  # noqa: BLE001 - broken archives break in many ways
            self._remarks.append(f"{name[:80]} cannot be read as a {kind}: {_words(error)}.")


def _plain(path: Path, most: int = FILE_BYTES_MAX) -> bytes:
    """The first bytes of a plain file."""
    # Opened without following a link, and looked at once it is open: nothing can change behind.
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise _Unfit(error.strerror or "it cannot be opened") from None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise _Unfit("it is no file")
        with os.fdopen(os.dup(opened), "rb") as file:
            return file.read(most + 1)
    finally:
        os.close(opened)


def _zipped(content: bytes) -> Iterator[tuple[PurePosixPath, Callable[[int], Read]]]:
    opened = zipfile.ZipFile(io.BytesIO(content))
    for each in opened.infolist()[:_ENTRIES_MAX]:
        if not each.is_dir():
            yield _inside(each.filename), _reader(partial(_unpacked, opened, each))


def _unpacked(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """A member to be read as far as one likes.

    Of the other methods `zipfile` unpacks a whole block however few bytes it is asked for: of a
    zip of 2 KB with bzip2 that was 2 GiB.
    """
    if member.compress_type not in _METHODS:
        raise _Unfit("it is packed in an uncommon way: hand in a common zip")
    return opened.open(member)


def _tarred(name: str, content: bytes) -> Iterator[tuple[PurePosixPath, Callable[[int], Read]]]:
    raw: io.BufferedIOBase = io.BytesIO(content)
    if name.lower().endswith((".gz", ".tgz")):
        raw = gzip.GzipFile(fileobj=raw)
    elif name.lower().endswith((".bz2", ".tbz2")):
        raw = bz2.BZ2File(raw)
    whole = raw.read(ARCHIVE_BYTES_MAX + 1)
    if len(whole) > ARCHIVE_BYTES_MAX:
        raise _Unfit(f"it unpacks to more than {ARCHIVE_BYTES_MAX >> 20} MB")
    opened = tarfile.open(fileobj=io.BytesIO(whole), mode="r:", tarinfo=_Member)  # noqa: SIM115
    for number, each in enumerate(opened):
        # A pax header may give the member behind it another size.
        if each.size < 0:
            raise _Unfit("a member has a negative size")
        # A member of an unknown type is no entry, but finding it takes as long.
        if number == _ENTRIES_MAX:
            break
        if each.isreg():
            yield _inside(each.name), _reader(partial(opened.extractfile, each))


class _Member(tarfile.TarInfo):
    """A header of a tar file, refused if `tarfile` cannot read on from it at a bounded cost.

    A negative size leads back to headers that were read before, for ever (CVE-2025-8194). Regular
    expressions over extension headers take quadratic time in some versions (CVE-2024-6232).
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Member:
        member = super().frombuf(buf, encoding, errors)
        if member.size < 0:
            raise _Unfit("a member has a negative size")
        if member.type in _EXTENSIONS and member.size > _EXTENSION_BYTES_MAX:
            raise _Unfit(f"an extension header has more than {_EXTENSION_BYTES_MAX >> 10} KiB")
        return member


def _reader(opens: Callable[[], IO[bytes] | None]) -> Callable[[int], Read]:
    """Reads up to the limit, whatever length the archive says it has."""

    def upto(most: int) -> Read:
        def read() -> bytes:
            file = opens()
            if file is None:
                raise _Unfit("it is no file")
            with file:
                return file.read(most + 1)

        return read

    return upto


def _inside(name: str) -> PurePosixPath:
    """A name in an archive as a place within it, wherever it says that it leads."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return PurePosixPath(*parts) if parts else PurePosixPath("nameless")


def _words(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__


# ---- what is taken of it -------------------------------------------------------------------------


def _chosen(
    found: Sequence[_Candidate], wanted: Sequence[str], files: Sequence[str], remarks: list[str]
) -> dict[str, _Candidate]:
    """For each file the one that counts: of the folder with most of them, else the nearest."""
    by_folder: Counter[PurePosixPath] = Counter()
    for each in found:
        by_folder[each.path.parent] += each.path.name in wanted
    home = min(
        by_folder, key=lambda at: (-by_folder[at], len(at.parts), str(at)), default=PurePosixPath()
    )
    chosen = {}
    for name in wanted:
        fitting = [each for each in found if each.path.name == name]
        if fitting:
            chosen[name] = min(
                fitting,
                key=lambda each: (each.path.parent != home, len(each.path.parts), str(each.path)),
            )
    for name in files:
        if name not in chosen:
            _renamed(name, found, files, chosen, remarks)
    return chosen


def _renamed(
    name: str,
    found: Sequence[_Candidate],
    files: Sequence[str],
    chosen: dict[str, _Candidate],
    remarks: list[str],
) -> None:
    """Takes a file that was given another name on its way, if it can only be this one."""
    stem, ending = PurePosixPath(name).stem, PurePosixPath(name).suffix
    taken = {each.path for each in chosen.values()}
    of_kind = [each for each in found if each.path.suffix == ending and each.path not in taken]
    again = [each for each in of_kind if _AGAIN.sub("", each.path.stem) == stem]
    is_alone = sum(PurePosixPath(each).suffix == ending for each in files) == 1
    # Of several tries the last one counts.
    fitting = sorted(again, key=lambda each: (len(each.path.stem), each.path.stem))[-1:]
    if not fitting and is_alone and len(of_kind) == 1:
        fitting = of_kind
    if fitting:
        chosen[name] = fitting[0]
        remarks.append(f"{fitting[0].path.name[:80]} was taken as {name}.")
