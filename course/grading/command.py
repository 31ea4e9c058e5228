"""`make grade`, `make gradescope`, `make interop` and `make handout NAME=`: what teachers do."""

from __future__ import annotations

import argparse
import math
import os
import secrets
import shutil
from pathlib import Path

from controller.toolchain import ROOT
from course import catalogue, commands
from course.errors import CourseError
from course.exercise import Exercise
from course.grading import classroom, gradescope, interop, similarity
from course.grading.grade import grade
from course.grading.intake import Submission, submissions
from course.grading.jailed import JailedRunner
from course.grading.run import Progress, Run
from course.process import Runner

# Where what teachers make is put.
_OUT = ROOT / "out" / "course"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the commands to those of `python -m course`."""
    each = commands.add_parser("grade")
    each.set_defaults(run=_grade)
    each.add_argument("name")
    each.add_argument("submissions", type=Path)
    each.add_argument("out", type=Path)
    each = commands.add_parser("gradescope")
    each.set_defaults(run=_gradescope)
    each.add_argument("name")
    each = commands.add_parser("classroom")
    each.set_defaults(run=_classroom)
    each.add_argument("name")
    each.add_argument("wheel")
    each = commands.add_parser("gradescope-run")
    each.set_defaults(run=_gradescope_run)
    each.add_argument("name")
    each.add_argument("submission", type=Path)
    each.add_argument("results", type=Path)
    each = commands.add_parser("interop")
    each.set_defaults(run=_interop)
    each.add_argument("name")
    each.add_argument("submissions", type=Path)
    each = commands.add_parser("handout")
    each.set_defaults(run=_handout)
    each.add_argument("name")


def _grade(arguments: argparse.Namespace) -> int:
    exercise = catalogue.find(arguments.name)
    found = submissions(arguments.submissions)
    folder = arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(exercise, found, folder, _secret())
    if run.records:
        print(f"{len(run.records)} of {len(found)} were graded by a run before and are kept.")
    progress = Progress(len(found), len(run.records))
    for graded in run.grade(_runner()):
        print(progress.line(graded.record), flush=True)
    print(f"{len(found)} submissions: {run.sheet}, and a page for each beside it")
    report = similarity.compare(exercise, found)
    print(f"{similarity.write(folder, report)} shows similar submissions; it is for you alone.")
    return 0


def _interop(arguments: argparse.Namespace) -> int:
    exercise = catalogue.find(arguments.name)
    found = submissions(arguments.submissions)
    with interop.teams(exercise, found, _runner()) as (ready, remarks):
        print(*remarks, sep="\n", end="\n" if remarks else "")
        for one, other, wrong in interop.rings(ready):
            print(f"  {'FAIL' if wrong else 'ok  '}  {one} and {other}  {wrong}", flush=True)
        for name, use, wait_ms in interop.challenges(ready):
            waiting = (
                f"{wait_ms:.1f} ms of waiting" if math.isfinite(wait_ms) else "no ping answered"
            )
            print(f"  {name}: {use:.1%} of the line, {waiting}", flush=True)
    return 0


def _gradescope(arguments: argparse.Namespace) -> int:
    exercise = catalogue.find(arguments.name)
    file = _OUT / f"{exercise.name}-gradescope.zip"
    gradescope.archive(exercise, file, _secret() or secrets.token_hex(16))
    print(f"{file}: upload it as the autograder of the assignment")
    return 0


def _classroom(arguments: argparse.Namespace) -> int:
    exercise = catalogue.find(arguments.name)
    text = classroom.workflow(exercise, arguments.wheel)
    _export(exercise)
    file = _OUT / exercise.name / classroom.FILE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    print(f"{_OUT / exercise.name}: push it as the template repository of the assignment")
    return 0


def _gradescope_run(arguments: argparse.Namespace) -> int:
    exercise = catalogue.find(arguments.name)
    submission = Submission(arguments.submission.name, arguments.submission)
    try:
        graded = grade(exercise, [submission], secret=_secret(), runner=_runner(in_container=True))
    except Exception as error:  # noqa: BLE001 - without results students see nothing but a crash
        gradescope.write_nothing(arguments.results, str(error) or type(error).__name__)
        return 0
    if not any(verdict.is_judged for verdict in graded[0].judgement.verdicts):
        gradescope.write_nothing(arguments.results, " ".join(graded[0].remarks))
        return 0
    gradescope.write(arguments.results, graded[0])
    return 0


def _handout(arguments: argparse.Namespace) -> int:
    exercise = catalogue.find(arguments.name)
    print(f"{_export(exercise)}: what students get, without solutions")
    return 0


def _export(exercise: Exercise) -> Path:
    """An archive with the handout and what students begin with."""
    _OUT.mkdir(parents=True, exist_ok=True)
    folder = _OUT / exercise.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(exercise.start, folder)
    shutil.copy(exercise.folder / "README.md", folder / "README.md")
    # Students have the wheel: the clone has the solutions.
    commands.put_into(folder, installed=True)
    return Path(shutil.make_archive(str(folder), "zip", _OUT, exercise.name))


def _secret() -> str:
    """Makes the scenarios of grading others than those that students have seen."""
    return os.environ.get("SECRET", "")


def _runner(*, in_container: bool = False) -> Runner:
    """With namespaces; in a container, which is a wall by itself, without where it gives none."""
    if os.environ.get("UNSAFE") == "1":
        return Runner()
    runner = JailedRunner()
    try:
        runner.check()
    except CourseError:
        if not in_container:
            raise
        runner = JailedRunner(in_container=True)
        runner.check()
    return runner
