"""Exercises in a page give the verdicts, stories and points of the command line.

The checks run in Node with the page's own engine and Python; `tests/page/test_exercise.py` opens a
page in a browser. `make test` looks at few cases, the nightly run at every solution.
"""

import io
import json
import re
import shutil
import subprocess
import zipfile

import pytest

from course import catalogue, commands
from course.errors import CourseError
from course.exercise import SOLUTIONS
from course.judge import judge
from course.page import handout
from course.telling import Teller
from tests.course.test_exercises import prepared, wrong_folders

STUDENT = "Ada Lovelace"
RUNNER = SOLUTIONS.parents[1] / "tests" / "course" / "page_checks.mjs"
_MISSING = [
    str(file) for file in (handout.NETWORK, handout.PROGRAMS, handout.PYTHON) if not file.exists()
]
needs_page = pytest.mark.skipif(
    bool(_MISSING) or shutil.which("node") is None,
    reason=f"no node, or no {_MISSING}: vm/page.sh exercises makes them",
)
# How long all submissions of an exercise may take on a busy machine.
DEADLINE_S = 1800


def in_page(exercise, requests, tmp_path):
    """What the page answers to each request."""
    engine, kit = tmp_path / "engine.mjs", tmp_path / "kit.zip"
    engine.write_text(f"{handout.engine()}\nexport {{ startPython }};\n")
    kit.write_bytes(handout.kit(exercise))
    places = (engine, handout.PYTHON, kit, handout.PROGRAMS, handout.NETWORK)
    ran = subprocess.run(
        ["node", RUNNER, *places],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return [json.loads(line) for line in ran.stdout.splitlines()]


def request(exercise, folder, case=""):
    # Some wrong solutions have the reference beside them.
    files = {file.name: file.read_text() for file in folder.glob("*.*")}
    return {"student": STUDENT, "files": files, "case": case}


def plain(text, folder, exercise):
    """A story without what depends on the machine: where its folders are, and how lines break."""
    text = text.replace(str(folder), f"/work/{exercise.name}")
    return " ".join(re.sub(r"/tmp/vitrine-\w+", "/tmp/vitrine", text).split())


def on_command_line(exercise, folder, case=""):
    """The same verdicts as the page tells them."""
    teller, verdicts = Teller(), []

    def tell(verdict):
        text = teller.tell(verdict)
        # The page is an installed kit, and its folder is the student's.
        text = plain(commands.shown(text, installed=True), folder, exercise)
        verdicts.append((verdict.case.name, verdict.points, verdict.counts, text))

    called = f"work/{exercise.name}"
    only = [case] if case else []
    judgement = judge(exercise, folder, seed=STUDENT, only=only, called=called, tell=tell)
    return judgement.points, verdicts


def assert_same(exercise, folders, tmp_path, case=""):
    found = in_page(exercise, [request(exercise, each, case) for each in folders], tmp_path)
    for folder, answer in zip(folders, found, strict=True):
        points, verdicts = on_command_line(exercise, folder, case)
        told = [
            (each["case"], each["points"], each["counts"], plain(each["text"], folder, exercise))
            for each in answer["verdicts"]
        ]
        assert told == verdicts, folder
        assert answer["points"] == points


def solutions(exercise, tmp_path):
    """The reference and every wrong solution, as this student hands them in."""
    for folder in (SOLUTIONS / exercise.name / "right", *wrong_folders(exercise)):
        into = tmp_path / folder.name
        into.mkdir()
        yield prepared(exercise, folder, STUDENT, into)


@needs_page
@pytest.mark.parametrize(
    ("name", "wrong", "case"),
    [
        ("first-router", "ttl-stays", "ttl-less-one"),
        ("head-of-line", "lowest-first", "legal"),
    ],
)
def test_a_page_tells_the_story_that_the_command_line_tells(name, wrong, case, tmp_path):
    exercise = catalogue.find(name)
    right, other = SOLUTIONS / name / "right", SOLUTIONS / name / "wrong" / wrong
    folders = [prepared(exercise, each, STUDENT, tmp_path / each.name) for each in (right, other)]
    assert_same(exercise, folders, tmp_path, case)


ENDLESS = """
from insides import Scheduler

class Drr(Scheduler):
    def choose(self, heads, now):
        while True:
            try:
                pass
            except Exception:
                pass
"""


@needs_page
def test_a_decision_that_does_not_end_is_ended_in_a_page_too(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "scheduler.py").write_text(ENDLESS)
    exercise = catalogue.find("fair-queues")
    asked = request(exercise, tmp_path / "work", "equal-bytes")
    (found,) = in_page(exercise, [asked], tmp_path)
    points, ((*_, text),) = on_command_line(exercise, tmp_path / "work", "equal-bytes")
    assert plain(found["verdicts"][0]["text"], tmp_path / "work", exercise) == text
    assert "it took longer than 5 s, and was ended" in text
    assert (found["points"], points) == (0, 0)


@needs_page
@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(handout.CAN))
def test_every_solution_gets_the_same_points_in_a_page(name, tmp_path):
    exercise = catalogue.find(name)
    assert_same(exercise, [*solutions(exercise, tmp_path), exercise.start], tmp_path)


@needs_page
def test_a_page_has_no_solution_and_nothing_of_other_exercises(tmp_path):
    exercise = catalogue.find("fair-queues")
    with zipfile.ZipFile(io.BytesIO(handout.kit(exercise))) as packed:
        names = packed.namelist()
        content = b"\n".join(packed.read(name) for name in names).decode(errors="replace")
    content += json.dumps(handout.described(exercise)) + handout.engine()
    assert not [name for name in names if re.search(r"solutions|examples|grading|jail", name)]
    others = {each.folder.name for each in catalogue.EXERCISES} - {exercise.folder.name}
    assert not [name for name in names if set(name.split("/")) & others]
    begun = (exercise.start / "scheduler.py").read_text()
    written = [
        line.strip()
        for folder in (SOLUTIONS / exercise.name / "right", *wrong_folders(exercise))
        for line in (folder / "scheduler.py").read_text().splitlines()
        if len(line.strip()) > 40 and line not in begun
    ]
    assert len(written) > 10, "there is something to look for"
    assert not [line for line in written if line in content]


def test_an_exercise_that_a_page_cannot_check_is_refused(tmp_path):
    with pytest.raises(
        CourseError, match="cannot be checked in a page yet; these can: fair-queues"
    ):
        handout.write(catalogue.find("own-tcp"), tmp_path)
