"""Judges every submission of a class, several at a time, each by itself.

Whatever comes of one costs the others nothing: what nobody foresaw is told of that one alone.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from course.errors import CourseError
from course.exercise import Exercise
from course.films import Films
from course.grading.intake import Submission, file_name
from course.grading.records import Record
from course.judge import Judgement, Verdict, judge
from course.process import Runner
from course.story import Story
from course.working import NOBODY, STUDENT, student_of

# Processor time of all that a submission runs. References use 1.2 s at most.
BUDGET_S = 30.0

__all__ = ["BUDGET_S", "Graded", "file_name", "grade", "graded_as_done", "namesakes"]


@dataclass(frozen=True)
class Graded:
    """One student's result."""

    name: str
    student: str
    judgement: Judgement
    # Oddities of the submission, in sentences.
    remarks: tuple[str, ...]
    lms_id: str = ""

    @property
    def record(self) -> Record:
        """Its row."""
        judgement = self.judgement
        cases = {verdict.case.name: verdict.points for verdict in judgement.verdicts}
        return Record(
            self.name,
            self.student,
            judgement.points,
            judgement.out_of,
            cases,
            self.remarks,
            self.lms_id,
        )


def grade(
    exercise: Exercise,
    submissions: Sequence[Submission],
    *,
    secret: str,
    runner: Runner,
    jobs: int | None = None,
    films: Path | None = None,
    tell: Callable[[Graded], None] = lambda graded: None,
) -> list[Graded]:
    """Grades all of them, in their order; `tell` hears of each as soon as it is done."""
    remarks = namesakes({each.name: each.student() for each in submissions})
    found = {}
    for graded in graded_as_done(
        exercise, submissions, secret=secret, runner=runner, jobs=jobs, films=films
    ):
        found[graded.name] = replace(graded, remarks=graded.remarks + remarks[graded.name])
        tell(found[graded.name])
    return [found[each.name] for each in submissions]


def graded_as_done(
    exercise: Exercise,
    submissions: Iterable[Submission],
    *,
    secret: str,
    runner: Runner,
    jobs: int | None = None,
    films: Path | None = None,
) -> Iterator[Graded]:
    """Grades all of them, each as soon as it is done.

    In the folder `films` each student gets one with the pages that stories link to.
    """
    pool = ThreadPoolExecutor(jobs or os.cpu_count() or 1)
    try:
        begun = [
            pool.submit(_contained, exercise, each, secret, runner, films) for each in submissions
        ]
        for each in as_completed(begun):
            yield each.result()
            # Reports are not kept, and a class may be large.
            begun.remove(each)
    finally:
        pool.shutdown(cancel_futures=True)


def _contained(
    exercise: Exercise, submission: Submission, secret: str, runner: Runner, films: Path | None
) -> Graded:
    try:
        return _one(exercise, submission, secret, runner, films)
    except CourseError:
        # Something that keeps all from being graded, and says what to do.
        raise
    except Exception as error:  # noqa: BLE001 - one submission must not end the others
        said = f"{type(error).__name__}: {error}"[:300]
        story = Story(
            done="The submission was about to be graded.",
            expected="Files that can be read and checked.",
            because="This is a mistake of the grader, or an unexpected kind of submission.",
            came=f"Grading broke: {said}",
        )
        verdicts = tuple(Verdict(case, story, is_judged=False) for case in exercise.cases)
        remark = f"It could not be graded and needs a look by hand: {said}."
        judgement = Judgement(exercise, NOBODY, verdicts)
        return Graded(submission.name, NOBODY, judgement, (remark,), submission.lms_id)


def _one(
    exercise: Exercise, submission: Submission, secret: str, runner: Runner, films: Path | None
) -> Graded:
    with (
        tempfile.TemporaryDirectory(prefix="vitrine-submission-") as name,
        tempfile.TemporaryDirectory(prefix="vitrine-account-") as private,
    ):
        folder = Path(name)
        # A user without rights reads the submission, too.
        folder.chmod(0o755)
        remarks = submission.take(exercise.files, folder)
        student = student_of(folder)
        judgement = judge(
            exercise,
            folder,
            seed=student,
            secret=secret,
            runner=runner.with_account(Path(private) / "account", BUDGET_S),
            films=Films(films / file_name(submission.name), draws=True) if films else None,
            called=f"work/{exercise.name}",
        )
    left = [verdict.case.name for verdict in judgement.verdicts if not verdict.is_judged]
    if left:
        remarks += (f"Not judged, because no router answered here: {', '.join(left)}.",)
    return Graded(submission.name, student, judgement, remarks, submission.lms_id)


def namesakes(students: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Two submissions with one student.txt have one student's numbers: the grader must look.

    Submissions by their names, and whose they say they are; what is to be said of each.
    """
    by_student: dict[str, list[str]] = {}
    for name, student in students.items():
        by_student.setdefault(student, []).append(name)
    result: dict[str, tuple[str, ...]] = {}
    for name, student in students.items():
        others = [other for other in by_student[student] if other != name]
        result[name] = ()
        if student == NOBODY:
            result[name] = (f"{STUDENT} has no name, so it was graded with default numbers.",)
        elif others:
            shown = ", ".join(others[:_OTHERS_SHOWN])
            more = f" and {len(others) - _OTHERS_SHOWN} more" if len(others) > _OTHERS_SHOWN else ""
            result[name] = (f"student.txt says {student!r}, as does that of {shown}{more}.",)
    return result


_OTHERS_SHOWN = 5
