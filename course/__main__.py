"""The course from the command line: what students do here, what teachers do in `grading`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TypeAlias

from controller import reader
from controller.errors import ControllerError
from controller.ownership import give_to_caller
from controller.toolchain import ROOT
from course import catalogue, commands, working
from course.errors import CourseError
from course.exercise import Exercise, Work
from course.films import Films
from course.grading import command as grading
from course.judge import judge
from course.process import Runner
from course.telling import Teller, summary
from topo import preflight
from topo.errors import MachineError

# Where pages go that show what happened in the networks of a check.
FILMS = working.WORK.parent / "out" / "course"

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


@reader.ends_unread
def main() -> int:
    """Does what the first word says; 0, 1 if a case is not met, 2 if nothing could be done."""
    arguments = _parser().parse_args()
    try:
        return int(arguments.run(arguments))
    except (CourseError, ControllerError) as error:
        print(f"[vitrine] {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="course", description=__doc__)
    commands = parser.add_subparsers(required=True)
    _command(commands, "list", _list)
    exercise = _command(commands, "exercise", _exercise)
    exercise.add_argument("name", nargs="?", default="")
    exercise.add_argument("--student", default=os.environ.get("STUDENT", ""))
    check = _command(commands, "check", _check)
    check.add_argument("name")
    check.add_argument("--folder", type=Path, help="instead of work/<name>")
    check.add_argument("--case", default=os.environ.get("CASE", ""), help="one case alone")
    check.add_argument(
        "--glass",
        action="store_true",
        default=os.environ.get("GLASS") == "1",
        help="a page in out/course for every network, not only for those that a story is about",
    )
    check.add_argument(
        "--live",
        action="store_true",
        default=os.environ.get("LIVE", "") not in ("", "0"),
        help="on live routers and real TCP, where a case is about a network; needs root",
    )
    grading.add(commands)
    return parser


def _command(commands: Commands, name: str, run: object) -> argparse.ArgumentParser:
    parser = commands.add_parser(name)
    parser.set_defaults(run=run)
    return parser


def _list(arguments: argparse.Namespace) -> int:
    for each in catalogue.EXERCISES:
        print(f"  {each.name:16} {each.minutes:3} min  {each.question}")
    return 0


def _exercise(arguments: argparse.Namespace) -> int:
    if not arguments.name:
        return _list(arguments)
    exercise = catalogue.find(arguments.name)
    working.refuse_second(exercise)
    ask = input if sys.stdin is not None and sys.stdin.isatty() else None
    folder = working.make(exercise, working.student_for(exercise, arguments.student, ask))
    print(f"{exercise.title}: {exercise.question}")
    print(f"Read {folder / 'README.md'}, write {', '.join(exercise.files)} beside it.")
    _tell_own(exercise, folder)
    print(commands.shown(f"What is right so far says: make check NAME={exercise.name}"))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    exercise = catalogue.find(arguments.name)
    folder = arguments.folder or working.folder_of(exercise)
    _tell_own(exercise, folder)
    if arguments.live:
        _can_be_live(exercise)
    teller = Teller()
    judgement = judge(
        exercise,
        folder,
        seed=working.student_of(folder),
        only=[arguments.case] if arguments.case else [],
        films=Films(FILMS / exercise.name, keeps_all=arguments.glass),
        called=_called(folder),
        live=arguments.live,
        tell=lambda verdict: print(teller.tell(verdict), flush=True),
    )
    print(summary(judgement, arguments.live))
    give_to_caller(FILMS)
    return 0 if judgement.points == judgement.out_of else 1


def _can_be_live(exercise: Exercise) -> None:
    """Says at once what a live check would stumble over."""
    if not any(case.live for case in exercise.cases):
        raise CourseError(
            f"LIVE=1: no case of {exercise.name} is about a network that could be a live one: it "
            "is checked in virtual time only. Leave LIVE out."
        )
    try:
        preflight.check_machine()
    except MachineError as error:
        raise CourseError(f"LIVE=1: {error}") from error


def _called(folder: Path) -> str:
    """A path that is short where the command lines of stories are run: in the kit's folder."""
    return str(folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder)


def _tell_own(exercise: Exercise, folder: Path) -> None:
    """What is this student's alone, for whoever is to measure or to set it."""
    if exercise.own is not None:
        print(exercise.own(Work(folder, folder, working.student_of(folder), Runner())))


if __name__ == "__main__":
    sys.exit(main())
