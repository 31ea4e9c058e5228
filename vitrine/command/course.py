"""Exercises: for students, then for teachers."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from vitrine.command import options as o
from vitrine.command.tree import Needs, command


@command(
    "exercise",
    "make a working copy of an exercise; without a name, list them",
    o.EXERCISE.saying("its name", nargs="?"),
    o.STUDENT,
    needs=Needs.PROGRAMS,
    examples=["vitrine exercise", "vitrine exercise own-aqm --student 'Ada Lovelace'"],
)
def exercise(given: Namespace) -> None:
    from course import asked

    if given.exercise:
        asked.begin(given.exercise, given.student)
    else:
        asked.show_exercises()


@command(
    "check",
    "say which cases of an exercise are right, and why the others are not",
    o.EXERCISE,
    o.CASE,
    o.FOLDER,
    o.LIVE,
    o.PAGES,
    needs=Needs.LIVE_IF_ASKED,
    examples=["vitrine check own-aqm", "vitrine check own-aqm --case steady --pages"],
)
def check(given: Namespace) -> int:
    from course import asked

    folder = Path(given.folder) if given.folder else None
    return asked.check(
        given.exercise, folder=folder, case=given.case, pages=given.pages, live=given.live
    )


@command(
    "grade",
    "points and a page for every submission",
    o.EXERCISE,
    o.SUBMISSIONS,
    o.OUT,
    o.SECRET,
    o.UNSAFE,
    needs=Needs.PROGRAMS,
    examples=["vitrine grade own-aqm submissions/ points/ --secret maple"],
)
def grade(given: Namespace) -> None:
    from course.grading.command import grade_all

    out = Path(given.out)
    grade_all(
        given.exercise, Path(given.submissions), out, secret=given.secret, unsafe=given.unsafe
    )


@command(
    "interop",
    "the routers of every two teams in one ring",
    o.EXERCISE,
    o.SUBMISSIONS,
    o.UNSAFE,
    needs=Needs.PROGRAMS,
    examples=["vitrine interop capstone submissions/"],
)
def interop(given: Namespace) -> None:
    from course.grading.command import try_together

    try_together(given.exercise, Path(given.submissions), unsafe=given.unsafe)


@command(
    "handout",
    "an exercise as students get it",
    o.EXERCISE,
    o.PAGE,
    needs=Needs.PROGRAMS,
    examples=["vitrine handout first-router", "vitrine handout first-router --page"],
)
def handout(given: Namespace) -> None:
    from course.grading.command import make_handout, make_page

    make = make_page if given.page else make_handout
    make(given.exercise)


@command("slides", "slides for the weeks of a term, in Markdown for Marp", needs=Needs.PYTHON)
def slides(given: Namespace) -> None:
    from course.grading.command import make_slides

    make_slides()


@command(
    "classroom",
    "the template repository of an exercise for GitHub Classroom",
    o.EXERCISE,
    o.WHEEL,
    needs=Needs.PROGRAMS,
)
def classroom(given: Namespace) -> None:
    from course.grading.command import make_classroom

    make_classroom(given.exercise, given.wheel)


@command(
    "gradescope",
    "the autograder of an exercise for Gradescope",
    o.EXERCISE,
    o.SECRET,
    needs=Needs.PROGRAMS,
)
def gradescope(given: Namespace) -> None:
    from course.grading.command import make_gradescope

    make_gradescope(given.exercise, secret=given.secret)


@command(
    "gradescope-run",
    "grade one submission on Gradescope's machine",
    o.EXERCISE,
    o.SUBMISSIONS,
    o.OUT,
    o.SECRET,
    o.UNSAFE,
)
def gradescope_run(given: Namespace) -> None:
    from course.grading.command import run_gradescope

    run_gradescope(
        given.exercise,
        Path(given.submissions),
        Path(given.out),
        secret=given.secret,
        unsafe=given.unsafe,
    )
