"""Interoperation day: the pairs that understand each other, and the teams that cannot take part."""

import shutil

import pytest

from course import catalogue
from course.errors import CourseError
from course.exercise import FOLDER, SOLUTIONS
from course.grading import interop
from course.grading.intake import submissions
from course.process import Runner

RIGHT = SOLUTIONS / "control-plane" / "right" / "control.py"


@pytest.fixture
def hand_in(tmp_path):
    def put(name, more=""):
        folder = tmp_path / "in" / name
        folder.mkdir(parents=True)
        shutil.copy(FOLDER / "control_plane" / "start" / "frames.py", folder)
        (folder / "control.py").write_text(RIGHT.read_text() + more)
        (folder / "student.txt").write_text(name)

    put.folder = tmp_path / "in"
    return put


def held(hand_in, name="control-plane"):
    with interop.teams(catalogue.find(name), submissions(hand_in.folder), Runner()) as day:
        ready, remarks = day
        return list(interop.rings(ready)), remarks


def test_two_teams_that_keep_to_the_rules_understand_each_other(hand_in):
    hand_in("ada")
    hand_in("grace")
    assert held(hand_in) == ([("ada", "grace", "")], [])


def test_who_never_says_hello_is_not_reached(hand_in):
    hand_in("ada")
    hand_in("mute", "\n\nControl.tick = lambda self, now: None\n")
    (hand_in.folder / "nothing").mkdir()
    ((one, other, wrong),), remarks = held(hand_in)
    assert (one, other) == ("ada", "mute")
    assert "An answer from" in wrong
    assert len(remarks) == 1 and "nothing cannot take part" in remarks[0]


def test_a_file_that_was_not_taken_is_told_of(hand_in):
    hand_in("ada")
    file = hand_in.folder / "ada" / "control.py"
    file.unlink()
    file.symlink_to(RIGHT)
    rings, remarks = held(hand_in)
    assert rings == []
    assert "ada: control.py was not taken" in remarks[0]
    assert "ada cannot take part" in remarks[1]


def test_other_exercises_have_no_such_day(hand_in):
    hand_in("ada")
    with pytest.raises(CourseError, match="control-plane and capstone"):
        held(hand_in, "own-tcp")
