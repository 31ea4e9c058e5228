"""Messages name the commands that their reader has."""

import pytest

from course import commands
from course.catalogue import EXERCISES


@pytest.mark.parametrize(
    ("clone", "installed"),
    [
        (
            "VITRINE_PYTHON=build/venv/bin/python build/bin/vitrine-sim fabric --ports 4",
            "VITRINE_PYTHON=python3 vitrine-sim fabric --ports 4",
        ),
        ("make sure that it holds", "make sure that it holds"),
        ("build/bin/vitrine check own-tcp", "vitrine check own-tcp"),
    ],
)
def test_where_the_kit_is_installed_its_own_commands_are_named(clone, installed):
    assert commands.shown(clone, installed=True) == installed
    assert commands.shown(clone, installed=False) == clone
    # This is a clone.
    assert commands.shown(clone) == clone


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_handout_of_an_installed_kit_tells_nobody_to_make_a_check(exercise):
    for file in (exercise.folder / "README.md", *exercise.start.iterdir()):
        text = commands.shown(file.read_text(), installed=True)
        for word in ("make check", "make lab", "build/bin/"):
            assert word not in text, file
