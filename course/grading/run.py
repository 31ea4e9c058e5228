"""Grading a class: the folder is complete for every submission that is graded, at any instant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from course.exercise import Exercise
from course.grading import gradescope, pages, sheet
from course.grading.grade import Graded, file_name, graded_as_done, namesakes
from course.grading.intake import Submission
from course.grading.records import Record, digest_of, read, write
from course.process import Runner
from course.story import plain

_SHEET_EVERY_S = 1.0


class Run:
    """Grades what no run before has graded; page, results and sheet are written at once."""

    def __init__(
        self, exercise: Exercise, found: Sequence[Submission], folder: Path, secret: str
    ) -> None:
        self.sheet = folder / "grades.csv"
        self._exercise = exercise
        self._found = found
        self._folder = folder
        self._secret = secret
        self._remarks = namesakes({each.name: each.student() for each in found})
        self._digests = {each.name: self._digest(each) for each in found}
        # The submissions, by name.
        self.records: dict[str, Record] = {}
        for each in found:
            record = read(self._record(each.name), self._digests[each.name])
            if record is not None and self._page(each.name).is_file():
                self.records[each.name] = record

    def _digest(self, submission: Submission) -> str:
        content = submission.digest(self._exercise.files)
        # The page names a student's namesakes.
        content += repr(self._remarks[submission.name]).encode(errors="replace")
        return digest_of(self._exercise, self._secret, content)

    def _record(self, name: str) -> Path:
        """The next run's input. Not for students: it is made with the secret."""
        return self._folder / ".records" / f"{file_name(name)}.json"

    def _page(self, name: str) -> Path:
        return self._folder / f"{file_name(name)}.html"

    def grade(self, runner: Runner) -> Iterator[Graded]:
        """Grades the remaining submissions, each reported once it is on disk."""
        left = [each for each in self._found if each.name not in self.records]
        self._write_sheet()
        written_s = time.monotonic()
        try:
            for graded in graded_as_done(
                self._exercise, left, secret=self._secret, runner=runner, films=self._folder
            ):
                told = replace(graded, remarks=graded.remarks + self._remarks[graded.name])
                pages.write(self._folder, told)
                # Cases that could not be judged are tried again by the next run.
                is_judged = all(verdict.is_judged for verdict in told.judgement.verdicts)
                digest = self._digests[told.name] if is_judged else ""
                gradescope.write(self._page(told.name).with_suffix(".json"), told)
                write(self._record(told.name), told.record, digest)
                self.records[told.name] = told.record
                if time.monotonic() > written_s + _SHEET_EVERY_S:
                    self._write_sheet()
                    written_s = time.monotonic()
                yield told
        finally:
            self._write_sheet()

    def _write_sheet(self) -> None:
        names = [each.name for each in self._found if each.name in self.records]
        sheet.write(self.sheet, self._exercise, [self.records[name] for name in names])


class Progress:
    """How far grading has come, and how long the rest will take at this pace."""

    def __init__(self, count: int, done: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._count, self._done, self._before = count, done, done
        self._clock = clock
        self._began_s = clock()

    def line(self, record: Record) -> str:
        """Of a submission that was graded just now."""
        self._done += 1
        width = len(str(self._count))
        line = (
            f"  {self._done:{width}}/{self._count}  {record.points:3} of {record.out_of}"
            f"  {plain(record.name)}"
        )
        left = self._count - self._done
        if not left:
            return line
        each_s = (self._clock() - self._began_s) / (self._done - self._before)
        return f"{line}  ({_span(left * each_s)} left)"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
