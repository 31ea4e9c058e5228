"""Exercises on live routers: `vitrine check NAME --live`.

A machine that held routers or hosts up is no judge: then the test says so and is skipped.
"""

from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from course import catalogue
from course.exercise import SOLUTIONS
from course.films import Films
from course.judge import judge
from course.telling import Teller
from tests.course.test_exercises import prepared, recorded_s

# One case of each exercise that has networks.
REFERENCES = {
    "first-router": "ping-and-tcp",
    "control-plane": "cut",
    "voice-and-bulk": "one-download",
    "own-aqm": "tcp-delay",
    "spread-the-load": "failure",
    "capstone": "reaches",
}


def _marks(name):
    """`make test` sees that one exercise is judged live; its routers only have to forward."""
    return [] if name == "first-router" else [pytest.mark.nightly, pytest.mark.alone]


def judged(name, solution, cases, tmp_path, films=None):
    exercise = catalogue.find(name)
    folder = prepared(exercise, SOLUTIONS / name / solution, "test", tmp_path)
    judgement = judge(exercise, folder, seed="test", only=cases, films=films, live=True)
    disturbed = [each.story.came for each in judgement.verdicts if not each.is_judged]
    if disturbed:
        pytest.skip(disturbed[0])
    return judgement.verdicts


@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(*each, marks=_marks(each[0])) for each in REFERENCES.items()],
)
def test_a_reference_is_right_on_live_routers_too(name, case, tmp_path):
    (verdict,) = judged(name, "right", [case], tmp_path)
    assert verdict.story is None, Teller().tell(verdict)
    assert verdict.remark == "on live routers"


@pytest.mark.nightly
@pytest.mark.alone
def test_a_wrong_solution_is_refused_and_its_page_shows_the_live_network(tmp_path):
    case, films = "blind-flood", Films(tmp_path / "films")
    (verdict,) = judged("voice-and-bulk", "wrong/all-udp-is-a-call", [case], tmp_path, films)
    told = verdict.story
    assert told is not None
    assert "of the calls' packets to be missing" in told.expected
    assert told.again == f"vitrine check voice-and-bulk --case {case} --live"
    address = urlparse(told.link)
    # The page has the clock of the router, which was there before the network was up.
    assert (
        told.moment.at_s
        < float(address.fragment.removeprefix("at="))
        <= recorded_s(Path(unquote(address.path)))
    )


def test_what_is_about_no_network_says_so(tmp_path):
    (verdict,) = judged("first-router", "right", ["forwards"], tmp_path)
    assert "(checked in virtual time only)" in Teller().tell(verdict)
