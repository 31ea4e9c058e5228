"""Judges every submission of a class, several at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from course.exercise import Exercise
from course.films import Films
from course.grading.intake import Submission
from course.judge import Judgement, judge
from course.process import Runner
from course.working import NOBODY, STUDENT, student_of

# Processor time of all that a submission runs. References use 1.2 s at most.
BUDGET_S = 30.0


@dataclass(frozen=True)
class Graded:
    """What one student gets."""

    name: str
    student: str
    judgement: Judgement
    # What was odd about the submission, in sentences.
    remarks: tuple[str, ...]


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
    """Grades all of them; `tell` hears of each as soon as it is done.

    In the folder `films` each student gets one with the pages that stories link to.
    """

    def one(submission: Submission) -> Graded:
        graded = _one(exercise, submission, secret, runner, films)
        tell(graded)
        return graded

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        graded = list(pool.map(one, submissions))
    return _with_namesakes(graded)


def file_name(name: str) -> str:
    """What somebody called a submission, as a name of a file: anything but a way out of here."""
    safe = "".join(each if each.isalnum() or each in "-_." else "_" for each in name)
    return safe.lstrip(".") or "submission"


def _one(
    exercise: Exercise, submission: Submission, secret: str, runner: Runner, films: Path | None
) -> Graded:
    with (
        tempfile.TemporaryDirectory(prefix="vitrine-submission-") as name,
        tempfile.TemporaryDirectory(prefix="vitrine-account-") as private,
    ):
        folder = Path(name)
        # Who has no rights reads what was taken, too.
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
    return Graded(submission.name, student, judgement, remarks)


def _with_namesakes(graded: Sequence[Graded]) -> list[Graded]:
    """Two submissions with one student.txt have one student's numbers: somebody must look."""
    by_student: dict[str, list[str]] = {}
    for each in graded:
        by_student.setdefault(each.student, []).append(each.name)
    result = []
    for each in graded:
        others = [name for name in by_student[each.student] if name != each.name]
        remarks = each.remarks
        if each.student == NOBODY:
            remarks += (f"There is no name in {STUDENT}, so its numbers were those of nobody.",)
        elif others:
            remarks += (f"student.txt says {each.student!r}, as does that of {', '.join(others)}.",)
        result.append(Graded(each.name, each.student, each.judgement, remarks))
    return result
