"""The teacher commands of the course: grades, autograders, handouts, rings of teams."""

from __future__ import annotations

import math
import secrets
import shutil
import subprocess
from pathlib import Path

from controller.toolchain import ROOT
from course import catalogue, commands, slides
from course.errors import CourseError
from course.exercise import Exercise
from course.grading import classroom, gradescope, interop, similarity
from course.grading.grade import grade
from course.grading.intake import Submission, submissions
from course.grading.jailed import JailedRunner
from course.grading.run import Progress, Run
from course.page import handout as page
from course.process import Runner

# Where what teachers make is put.
_OUT = ROOT / "out" / "course"


def grade_all(name: str, folder: Path, out: Path, *, secret: str, unsafe: bool) -> None:
    """Points and a page for every submission."""
    exercise = catalogue.find(name)
    found = submissions(folder)
    out.mkdir(parents=True, exist_ok=True)
    run = Run(exercise, found, out, secret)
    if run.records:
        print(f"{len(run.records)} of {len(found)} were graded by a run before and are kept.")
    progress = Progress(len(found), len(run.records))
    for graded in run.grade(_runner(unsafe=unsafe)):
        print(progress.line(graded.record), flush=True)
    print(f"{len(found)} submissions: {run.sheet}, and a page for each beside it")
    report = similarity.compare(exercise, found)
    print(f"{similarity.write(out, report)} shows similar submissions; it is for you alone.")


def try_together(name: str, folder: Path, *, unsafe: bool) -> None:
    """The routers of every two teams in one ring."""
    exercise = catalogue.find(name)
    found = submissions(folder)
    with interop.teams(exercise, found, _runner(unsafe=unsafe)) as (ready, remarks):
        print(*remarks, sep="\n", end="\n" if remarks else "")
        for one, other, wrong in interop.rings(ready):
            print(f"  {'FAIL' if wrong else 'ok  '}  {one} and {other}  {wrong}", flush=True)
        for name, use, wait_ms in interop.challenges(ready):
            waiting = (
                f"{wait_ms:.1f} ms of waiting" if math.isfinite(wait_ms) else "nothing arrived"
            )
            print(f"  {name}: {use:.1%} of the line, {waiting}", flush=True)


def make_gradescope(name: str, *, secret: str) -> None:
    """The autograder of an exercise."""
    exercise = catalogue.find(name)
    file = _OUT / f"{exercise.name}-gradescope.zip"
    gradescope.archive(exercise, file, secret or secrets.token_hex(16))
    print(f"{file}: upload it as the autograder of the assignment")


def make_classroom(name: str, wheel: str) -> None:
    """The template repository of an exercise for GitHub Classroom."""
    exercise = catalogue.find(name)
    text = classroom.workflow(exercise, wheel)
    _export(exercise)
    file = _OUT / exercise.name / classroom.FILE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    print(f"{_OUT / exercise.name}: push it as the template repository of the assignment")


def run_gradescope(name: str, folder: Path, results: Path, *, secret: str, unsafe: bool) -> None:
    """Grades one submission where Gradescope has put it."""
    exercise = catalogue.find(name)
    submission = Submission(folder.name, folder)
    try:
        runner = _runner(in_container=True, unsafe=unsafe)
        (graded,) = grade(exercise, [submission], secret=secret, runner=runner)
        graded = gradescope.compared(graded, folder.with_name(gradescope.METADATA))
    except Exception as error:  # noqa: BLE001 - without results students see nothing but a crash
        gradescope.write_nothing(results, str(error) or type(error).__name__)
        return
    if not any(verdict.is_judged for verdict in graded.judgement.verdicts):
        gradescope.write_nothing(results, " ".join(graded.remarks))
        return
    gradescope.write(results, graded)


def make_handout(name: str) -> None:
    """An exercise as students get it."""
    exercise = catalogue.find(name)
    print(f"{_export(exercise)}: what students get, without solutions")


def make_page(name: str) -> None:
    """The same as a folder with a page, for a course's web site."""
    exercise = catalogue.find(name)
    page.refuse_others(exercise)
    if (ROOT / "vm" / "page.sh").exists():
        subprocess.run([ROOT / "vm" / "page.sh", "exercises"], check=True)
    folder = _OUT / f"{exercise.name}-page"
    page.write(exercise, folder)
    print(f"{folder}: put it on a web site, or open {page.PAGE} in it; students need a browser")


def make_slides() -> None:
    """A Markdown file for each week of a term."""
    folder = _OUT / "slides"
    files = slides.write(folder)
    print(f"{folder}: {len(files)} weeks; `npx @marp-team/marp-cli {folder} --pdf` makes PDFs")


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


def _runner(*, unsafe: bool, in_container: bool = False) -> Runner:
    """With namespaces; in a container, which is a wall by itself, without where it gives none."""
    if unsafe:
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
