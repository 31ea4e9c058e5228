"""A decision that differs from the built-in one's: the message has what both remember."""

import re

from course import catalogue
from course.exercise import SOLUTIONS
from course.judge import judge


def told(exercise, folder, case):
    (verdict,) = judge(catalogue.find(exercise), folder, seed="test", only=[case]).verdicts
    return verdict.story.came


def test_a_match_that_differs_shows_the_pointers_of_both():
    folder = SOLUTIONS / "head-of-line" / "wrong" / "pointer-stays-on-the-partner"
    came = told("head-of-line", folder, "islip-one-round")
    numbers = r"\d( \d){7}"
    own = rf" and then has the grant pointers {numbers} and the accept pointers {numbers}"
    assert re.search(rf"{own}; now yours has grant_from = \[.*accept_from = \[", came)


def test_a_tag_that_is_not_removed_is_told_by_its_number(tmp_path):
    right = (SOLUTIONS / "fair-queues" / "right" / "scheduler.py").read_text()
    kept, _, _ = right.rpartition("    def departed")
    (tmp_path / "scheduler.py").write_text(kept)
    came = told("fair-queues", tmp_path, "wfq-turn-by-turn")
    assert "tags = [deque([" in came
    assert ": departed() and dropped() must remove the first" in came
    # The rest of its state, without the parts that say only what they are.
    assert "fluid.virtual = " in came and " object at " not in came
