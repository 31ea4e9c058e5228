"""Exercises in a page give the verdicts, stories and points of the command line.

The checks run in Node with the page's own engine and Python; `tests/page/test_exercise.py` opens a
page in a browser. `vm/page.sh exercises-light` builds what these tests need; the nightly run does
so and compares every solution.
"""

import io
import json
import re
import shutil
import subprocess
import zipfile

import pytest

from controller.toolchain import ROOT
from course import catalogue, commands
from course.errors import CourseError
from course.exercise import SOLUTIONS
from course.judge import judge
from course.page import handout
from course.telling import Teller
from tests.course.test_exercises import prepared, wrong_folders

STUDENT = "Ada Lovelace"
RUNNER = SOLUTIONS.parents[1] / "tests" / "course" / "page_checks.mjs"


def _lacks():
    """The reason why no page can be checked here; empty if one can."""
    if shutil.which("node") is None:
        return "there is no node"
    for file in (handout.NETWORK, handout.PROGRAMS, handout.PYTHON):
        if not file.exists():
            return f"there is no {file}: vm/page.sh exercises-light builds it"
    built_s = handout.PROGRAMS.stat().st_mtime
    if any(
        file.stat().st_mtime > built_s for file in (ROOT / "switch").glob("crates/*/src/**/*.rs")
    ):
        return f"{handout.PROGRAMS} is older than its sources: vm/page.sh exercises-light builds it"
    return ""


needs_page = pytest.mark.skipif(bool(_lacks()), reason=_lacks())
# The pages that `make test` searches for solutions: one in P4, one in Python.
AT_ONCE = frozenset({"first-router", "fair-queues"})
# A line of a solution this long is nowhere else by chance.
LINE_OF_ITS_OWN = 40
# For all submissions of an exercise, on a busy machine.
DEADLINE_S = 1800


def in_page(exercise, requests, tmp_path):
    """The page's response to each request."""
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
    # Some folders of wrong solutions have several files.
    files = {file.name: file.read_text() for file in folder.glob("*.*")}
    return {"student": STUDENT, "files": files, "case": case}


def plain(text, folder, exercise):
    """A story without line breaks and the names of folders, which depend on the machine."""
    text = text.replace(str(folder), f"/work/{exercise.name}")
    return " ".join(re.sub(r"/tmp/vitrine-\w+", "/tmp/vitrine", text).split())


def on_command_line(exercise, folder, case=""):
    """The points and verdicts of `vitrine check`, in the page's words."""
    teller, verdicts = Teller(), []

    def tell(verdict):
        text = teller.tell(verdict)
        # The page speaks of an installed kit.
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
        name = folder.name if folder == exercise.start else folder.parent.name
        print(f"{exercise.name} {name}: {points} points, page and command line")


def solutions(exercise, tmp_path):
    """The reference and every wrong solution, as this student would hand them in."""
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


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in AT_ONCE else pytest.mark.nightly)
        for name in sorted(handout.CAN)
    ],
)
def test_a_page_has_no_solution_and_nothing_of_other_exercises(name):
    exercise = catalogue.find(name)
    with zipfile.ZipFile(io.BytesIO(handout.kit(exercise))) as packed:
        names = packed.namelist()
        content = b"\n".join(packed.read(name) for name in names).decode(errors="replace")
    content += json.dumps(handout.described(exercise)) + handout.engine()
    assert not [name for name in names if re.search(r"solutions|examples|grading|jail", name)]
    others = {each.folder.name for each in catalogue.EXERCISES} - {exercise.folder.name}
    assert not [name for name in names if set(name.split("/")) & others]
    public = "".join((exercise.start / file).read_text() for file in exercise.files)
    public += (exercise.folder / "README.md").read_text()
    written = [
        line.strip()
        for folder in (SOLUTIONS / exercise.name / "right", *wrong_folders(exercise))
        for file in exercise.files
        if (folder / file).exists()
        for line in (folder / file).read_text().splitlines()
        if len(line.strip()) > LINE_OF_ITS_OWN and line.strip() not in public
    ]
    assert len(written) > 10, "there is something to look for"
    assert not [line for line in written if line in content]


def test_an_exercise_that_a_page_cannot_check_is_refused(tmp_path):
    with pytest.raises(CourseError, match="cannot be checked in a page; these can: address-"):
        handout.write(catalogue.find("own-tcp"), tmp_path)
