"""References get all points, and wrong solutions are refused for the right reason.

A wrong solution is a folder in course/solutions/<exercise>/wrong: the files, and refused.yaml,
which says why it is wrong, which cases refuse it and with which words. Every other case must pass.

`make test` judges each reference once, and runs each case on one wrong solution that it must
refuse. The nightly run judges every solution on every case.
"""

import base64
import functools
import gzip
import json
import os
import re
import runpy
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
import yaml

from course.catalogue import EXERCISES
from course.exercise import SOLUTIONS, Exercise
from course.films import Films
from course.judge import Judgement, judge
from course.story import Story
from labs.glass import tape

WRONG_LEAST = 5
# Students, and teachers' secrets; the nightly run has a hundred more of both.
MORE = int(os.environ.get("VITRINE_REFERENCE_RUNS", "0"))
DICE = [
    *(("Ada Lovelace", ""), ("学生", "rosebud"), ("nobody", "")),
    *((f"student {number}", f"secret {number}") for number in range(MORE)),
]


def references() -> Iterator[object]:
    """Each exercise with each student; `make test` takes one student per exercise, in turns."""
    for place, exercise in enumerate(EXERCISES):
        for number, (seed, secret) in enumerate(DICE):
            marks = () if number == place % 3 else (pytest.mark.nightly,)
            name = f"{seed}-{secret}-{exercise.name}"
            yield pytest.param(exercise, seed, secret, id=name, marks=marks)


def wrong_folders(exercise: Exercise) -> list[Path]:
    return sorted((SOLUTIONS / exercise.name / "wrong").iterdir())


def refusals(folder: Path) -> dict[str, str]:
    """The cases that refuse a wrong solution, and words of each refusal."""
    return yaml.safe_load((folder / "refused.yaml").read_text())["by"]


def least_wrong(exercise: Exercise) -> Iterator[tuple[Path, frozenset[str]]]:
    """Few wrong solutions, each with cases that refuse it: together every case that refuses any."""
    left = {case for folder in wrong_folders(exercise) for case in refusals(folder)}
    while left:
        found = {folder: left & set(refusals(folder)) for folder in wrong_folders(exercise)}
        folder = max(found, key=lambda each: len(found[each]))
        yield folder, frozenset(found[folder])
        left -= found[folder]


wrong_ones = [
    pytest.param(exercise, folder, id=f"{exercise.name}/{folder.name}")
    for exercise in EXERCISES
    for folder in wrong_folders(exercise)
]
least_wrong_ones = [
    pytest.param(exercise, folder, cases, id=f"{exercise.name}/{folder.name}")
    for exercise in EXERCISES
    for folder, cases in least_wrong(exercise)
]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)


def prepared(exercise: Exercise, folder: Path, seed: str, into: Path) -> Path:
    """A copy of a solution, with the numbers that only this student has."""
    copy = into / "submission"
    shutil.copytree(folder, copy)
    script = SOLUTIONS / exercise.name / "fill.py"
    if script.exists():
        filler(script)(copy, seed)
    return copy


@functools.cache
def filler(script: Path) -> Callable[[Path, str], None]:
    """A script's measurement, made only once."""
    return runpy.run_path(str(script))["fill"]


def stories(judgement: Judgement) -> dict[str, str]:
    return {
        verdict.case.name: " ".join(str(part) for part in vars(verdict.story).values())
        for verdict in judgement.verdicts
        if verdict.story is not None
    }


@pytest.mark.parametrize(("exercise", "seed", "secret"), references())
def test_the_reference_gets_all_points(exercise, seed, secret, tmp_path):
    folder = prepared(exercise, SOLUTIONS / exercise.name / "right", seed, tmp_path)
    judgement = judge(exercise, folder, seed=seed, secret=secret)
    assert stories(judgement) == {}


@every_exercise
def test_what_students_begin_with_can_be_checked_and_is_not_enough(exercise):
    judgement = judge(exercise, exercise.start, seed="test")
    assert judgement.points < judgement.out_of / 2


@pytest.mark.nightly
@pytest.mark.parametrize(("exercise", "folder"), wrong_ones)
def test_a_wrong_solution_is_refused_for_the_right_reason(exercise, folder, tmp_path):
    assert_refused(exercise, folder, frozenset(refusals(folder)), tmp_path)


@pytest.mark.parametrize(("exercise", "folder", "cases"), least_wrong_ones)
def test_cases_refuse_a_solution_that_is_wrong_there(exercise, folder, cases, tmp_path):
    assert_refused(exercise, folder, cases, tmp_path, only=cases)


def assert_refused(
    exercise: Exercise,
    folder: Path,
    cases: frozenset[str],
    tmp_path: Path,
    only: Collection[str] = (),
) -> None:
    """Exactly these cases refuse a solution, with the words that refused.yaml has."""
    words = refusals(folder)
    submission, films = prepared(exercise, folder, "test", tmp_path), Films(tmp_path / "films")
    judgement = judge(exercise, submission, seed="test", films=films, only=only)
    found = stories(judgement)
    assert set(found) == cases, found
    for case in cases:
        assert words[case] in found[case], found[case]
    for verdict in judgement.verdicts:
        if verdict.story is not None:
            leads_there(exercise, verdict.case.name, verdict.story)


def leads_there(exercise: Exercise, case: str, story: Story) -> None:
    """The command line is about this case, and the page shows the instant."""
    if "vitrine check" in story.again:
        assert story.again == f"vitrine check {exercise.name} --case {case}"
    assert story.again
    assert bool(story.moment) == bool(story.link), story
    if story.moment is None:
        return
    address = urlparse(story.link)
    assert address.fragment == f"at={story.moment.at_s:.6f}"
    last_s = recorded_s(Path(unquote(address.path)))
    assert 0 <= story.moment.at_s <= last_s, (story, last_s)


def recorded_s(page: Path) -> int:
    """How long the recording in a page is, in seconds that have begun."""
    found = re.search(r'id="tape">([^<]*)<', page.read_text())
    assert found is not None
    *_, (_, _, index) = tape.read(gzip.decompress(base64.b64decode(found[1])))
    return max(int(second) for second in json.loads(index)) + 1


@every_exercise
def test_an_exercise_is_complete(exercise):
    assert sum(case.points for case in exercise.cases) == 100
    assert len({case.name for case in exercise.cases}) == len(exercise.cases)
    assert len(wrong_folders(exercise)) >= WRONG_LEAST
    handout = (exercise.folder / "README.md").read_text()
    for part in ("Background", "Steps", "What to hand in", "Points", "Common mistakes"):
        assert f"## {part}" in handout
    assert f"{exercise.minutes} minutes" in handout
    for case in exercise.cases:
        assert f"| {case.name} | {case.points} |" in handout, case.name
    for file in exercise.files:
        assert (exercise.start / file).is_file()
