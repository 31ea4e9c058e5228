"""The course's commands for students: list, begin and check; `grading` has those for teachers."""

from __future__ import annotations

import sys
from pathlib import Path

from controller.ownership import give_to_caller
from controller.toolchain import ROOT
from course import catalogue, working
from course.errors import CourseError
from course.exercise import Exercise, Work
from course.films import Films
from course.judge import judge
from course.process import Runner
from course.telling import Teller, summary
from topo import preflight
from topo.errors import MachineError

# Where pages go that show what happened in the networks of a check.
FILMS = working.WORK.parent / "out" / "course"


def show_exercises() -> None:
    """A line for each exercise."""
    for each in catalogue.EXERCISES:
        print(f"  {each.name:16} {each.minutes:3} min  {each.question}")


def begin(name: str, student: str) -> None:
    """Makes the working copy of an exercise."""
    exercise = catalogue.find(name)
    working.refuse_second(exercise)
    ask = input if sys.stdin is not None and sys.stdin.isatty() else None
    folder = working.make(exercise, working.student_for(exercise, student, ask))
    print(f"{exercise.title}: {exercise.question}")
    print(f"Read {folder / 'README.md'}, write {', '.join(exercise.files)} beside it.")
    _tell_own(exercise, folder)
    print(f"Check your work: vitrine check {exercise.name}")


def check(
    name: str,
    *,
    folder: Path | None = None,
    case: str = "",
    pages: bool = False,
    live: bool = False,
) -> int:
    """Judges a working copy; 1 if a case is not met."""
    exercise = catalogue.find(name)
    folder = folder or working.folder_of(exercise)
    _tell_own(exercise, folder)
    if live:
        _can_be_live(exercise)
    teller = Teller()
    judgement = judge(
        exercise,
        folder,
        seed=working.student_of(folder),
        only=[case] if case else [],
        films=Films(FILMS / exercise.name, keeps_all=pages),
        called=_called(folder),
        live=live,
        tell=lambda verdict: print(teller.tell(verdict), flush=True),
    )
    print(summary(judgement, live))
    give_to_caller(FILMS)
    return 0 if judgement.points == judgement.out_of else 1


def _can_be_live(exercise: Exercise) -> None:
    """Says at once what a live check would stumble over."""
    if not any(case.live for case in exercise.cases):
        raise CourseError(
            f"--live: no case of {exercise.name} is about a network that could be a live one: it "
            "is checked in virtual time only. Leave --live out."
        )
    try:
        preflight.check_machine()
    except MachineError as error:
        raise CourseError(f"--live: {error}") from error


def _called(folder: Path) -> str:
    """A path that is short where the command lines of stories are run: in the kit's folder."""
    return str(folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder)


def _tell_own(exercise: Exercise, folder: Path) -> None:
    """Prints the personal numbers of this student, which some exercises need."""
    if exercise.own is not None:
        print(exercise.own(Work(folder, folder, working.student_of(folder), Runner())))
