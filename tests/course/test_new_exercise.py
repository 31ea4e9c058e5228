"""`vitrine new exercise`: what it writes can be checked at once, and refuses what is wrong."""

import re
import runpy

import pytest
import yaml

from controller.toolchain import ROOT
from course import catalogue, new
from course.errors import CourseError
from course.judge import judge
from labs.errors import SettingError

START_MOST, LAZY_MOST = 5, 15


@pytest.fixture
def places(tmp_path):
    """A clone's folders of exercises and solutions."""
    (tmp_path / "Makefile").touch()
    exercises, solutions = tmp_path / "course" / "exercises", tmp_path / "course" / "solutions"
    exercises.mkdir(parents=True)
    return exercises, solutions


@pytest.fixture
def made(places):
    """A new exercise, its folder and that of its solutions."""
    exercises, solutions = places
    assert "vitrine check my-mirror" in new.write("my-mirror", exercises, solutions)
    folder = exercises / "my_mirror"
    return runpy.run_path(str(folder / "exercise.py"))["EXERCISE"], folder, solutions / "my-mirror"


def points(exercise, folder):
    return judge(exercise, folder, seed="test").points


def test_its_reference_gets_all_points_and_its_start_nearly_none(made):
    exercise, folder, solved = made
    assert (exercise.name, exercise.points) == ("my-mirror", 100)
    assert points(exercise, solved / "right") == 100
    assert points(exercise, folder / "start") <= START_MOST


def test_each_wrong_solution_is_refused_as_it_says(made):
    exercise, _, solved = made
    folders = sorted((solved / "wrong").iterdir())
    assert len(folders) == 5
    for each in folders:
        said = yaml.safe_load((each / "refused.yaml").read_text())["by"]
        verdicts = judge(exercise, each, seed="test").verdicts
        stories = {it.case.name: it.story for it in verdicts if it.story is not None}
        assert stories.keys() == said.keys(), each.name
        for case, words in said.items():
            assert words in " ".join(map(str, vars(stories[case]).values())), each.name


def test_what_costs_no_thought_earns_nothing_to_speak_of(made):
    exercise, _, solved = made
    folders = sorted((solved / "lazy").iterdir())
    assert len(folders) == 5
    assert {each.name: points(exercise, each) > LAZY_MOST for each in folders} == {
        each.name: False for each in folders
    }


def test_a_name_that_is_taken_or_cannot_be_is_refused(places, made):
    with pytest.raises(SettingError, match="my_mirror exists: choose another name"):
        new.write("my-mirror", *places)
    with pytest.raises(CourseError, match="there is an exercise own-aqm already"):
        new.write("own-aqm", *places)
    with pytest.raises(SettingError, match="is no name of an exercise"):
        new.write("My mirror", *places)


def test_an_exercise_that_cannot_be_imported_takes_away_itself_only(monkeypatch):
    monkeypatch.setattr(catalogue, "BROKEN", {"mine": "mine/exercise.py cannot be imported: no"})
    with pytest.raises(CourseError, match="cannot be imported: no"):
        catalogue.find("mine")
    assert catalogue.find("own-aqm").name == "own-aqm"


def test_every_exercise_of_the_kit_can_be_imported():
    assert catalogue.BROKEN == {}
    assert catalogue.EXERCISES == catalogue.COURSE


STRICT = """
from insides import Scheduler


class Strict(Scheduler):
    def choose(self, heads, now):
        return CHOICE(heads)
"""


@pytest.mark.parametrize(("choice", "most"), [("min", 100), ("max", 0)])
def test_the_exercise_in_python_of_the_docs_can_be_checked(choice, most, tmp_path):
    text = (ROOT / "docs" / "new-exercise.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "exercise.py").write_text(code)
    exercise = runpy.run_path(str(tmp_path / "exercise.py"))["EXERCISE"]
    (tmp_path / "scheduler.py").write_text(STRICT.replace("CHOICE", choice))
    judgement = judge(exercise, tmp_path, seed="test")
    assert judgement.points == most, judgement.verdicts[0].story
    assert most or "Class 0 got" in judgement.verdicts[0].story.came
