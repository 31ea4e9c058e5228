"""Working copies, and what a check says in the terminal."""

from pathlib import Path

import pytest

from controller.errors import ConnectError
from course import catalogue, telling, working
from course.errors import CourseError, VirtualOnly
from course.exercise import Case, Exercise
from course.judge import judge
from course.story import Refused, Story
from course.tools import alive
from labs.errors import MeasurementError
from labs.worlds.virtual import server

STORY = Story(
    done="It was asked for two and two.",
    expected="4.",
    because="Peano, 1889.",
    came="5.",
    way=tuple(f"step {number}" for number in range(20)),
    again="expr 2 + 2",
)


def refuse(bench):
    raise Refused(STORY)


def exercise(**changes):
    values = {
        "name": "sums",
        "title": "Sums",
        "question": "What is two and two?",
        "minutes": 5,
        "files": ("sum.py",),
        "begin": lambda work: work,
        "cases": (
            Case("four", "Two and two are four.", 60, refuse),
            Case("again", "They still are.", 30, refuse),
            Case("nothing", "Nothing is asked.", 10, lambda bench: None),
        ),
    }
    return Exercise(**{**values, **changes})


def test_a_story_has_all_its_parts_and_is_told_once(tmp_path):
    judgement = judge(exercise(), tmp_path, seed="test")
    teller = telling.Teller()
    first, second, third = (teller.tell(verdict) for verdict in judgement.verdicts)
    for part in ("two and two", "expected  4.", "because   Peano", "came      5.", "expr 2 + 2"):
        assert part in first
    # 14 of 20 steps are shown.
    assert "step 13" in first and "step 14" not in first and "and 6 more" in first
    assert second.endswith("for the reason told at four")
    assert third.startswith("  ok     10  nothing")
    assert telling.summary(judgement).startswith("sums: 10 of 100 points, 1 of 3 cases")


def test_where_nothing_can_be_checked_every_case_says_so(tmp_path):
    judgement = judge(exercise(begin=refuse), tmp_path, seed="test")
    assert [verdict.story for verdict in judgement.verdicts] == [STORY] * 3


class Router:
    """A check's router that is silent this many times."""

    def __init__(self, silences):
        self.silences = silences

    def check(self, bench):
        self.silences -= 1
        if self.silences >= 0:
            raise ConnectError("nothing answers at 127.0.0.1:1 within 1 s.")


def asked(router, tmp_path, *, is_alive):
    cases = (Case("it", "It answers.", 60, router.check), Case("none", "No.", 40, lambda it: None))
    return judge(exercise(cases=cases), tmp_path, seed="test", is_alive=lambda: is_alive)


def test_a_router_that_is_silent_once_is_asked_again(tmp_path):
    assert asked(Router(1), tmp_path, is_alive=False).points == 100


def test_a_submission_that_silences_its_router_is_told_so(tmp_path):
    silenced, other = asked(Router(2), tmp_path, is_alive=True).verdicts
    assert silenced.is_judged and "kit's own program answered" in silenced.story.because
    assert other.points == 40


def test_where_no_router_answers_nothing_is_said_of_the_submission(tmp_path):
    unjudged, other = asked(Router(2), tmp_path, is_alive=False).verdicts
    assert not unjudged.is_judged and "not judged: check it again" in unjudged.story.came
    assert other.points == 40


def test_what_an_instrument_did_not_see_is_no_silence(tmp_path):
    tries = []

    def check(bench):
        tries.append(bench)
        raise MeasurementError("no packet came.")

    cases = (Case("it", "It answers.", 100, check),)
    (verdict,) = judge(exercise(cases=cases), tmp_path, seed="test").verdicts
    assert verdict.is_judged and verdict.story.came == "no packet came." and len(tries) == 1


# ---- on live routers -----------------------------------------------------------------------------


def live(check, tmp_path, **more):
    cases = (Case("it", "It holds.", 100, check, **more),)
    (verdict,) = judge(exercise(cases=cases), tmp_path, seed="test", live=True).verdicts
    return verdict


def test_a_case_is_checked_live_where_it_can_be_and_says_where_it_was(tmp_path):
    places = []

    def check(work):
        places.append(work.place.is_live)

    assert live(check, tmp_path, live=True).remark == "on live routers"
    assert live(check, tmp_path).remark == "checked in virtual time only"
    assert places == [True, False]


def test_what_this_machine_does_not_have_is_checked_in_virtual_time(tmp_path):
    def check(work):
        if work.place.is_live:
            raise VirtualOnly("this kernel has no bbr.")

    verdict = live(check, tmp_path, live=True)
    assert verdict.story is None
    assert verdict.remark == "checked in virtual time only: this kernel has no bbr."


@pytest.mark.parametrize(("times", "tried", "judged"), [(0, 1, True), (1, 2, True), (2, 2, False)])
def test_a_refusal_counts_if_the_machine_had_time(times, tried, judged, tmp_path):
    tries = []

    def check(work):
        tries.append(work)
        work.place.held_up_s = 0.05 if len(tries) <= times else 0.0
        raise Refused(STORY)

    verdict = live(check, tmp_path, live=True)
    assert (len(tries), verdict.is_judged) == (tried, judged)
    assert ("held routers or hosts up for up to 50 ms" in verdict.story.came) is not judged
    assert verdict.story.again == STORY.again


def test_the_kits_own_router_is_asked_in_earnest(monkeypatch):
    assert alive.router_answers()
    # A program that says nothing and ends.
    monkeypatch.setattr(server, "BINARY", Path("/bin/true"))
    assert not alive.router_answers()


def test_one_case_alone_and_one_that_is_not_there(tmp_path):
    assert judge(exercise(), tmp_path, seed="test", only=["nothing"]).out_of == 10
    with pytest.raises(CourseError, match="it has four, again, nothing"):
        judge(exercise(), tmp_path, seed="test", only=["five"])


def test_a_working_copy_is_made_once_and_knows_its_student(tmp_path):
    first = catalogue.find("first-router")
    folder = working.make(first, "Grace Hopper", tmp_path)
    assert (folder / "router.p4").read_text() == (first.start / "router.p4").read_text()
    assert working.student_of(folder) == "Grace Hopper"
    (folder / "router.p4").write_text("mine")
    with pytest.raises(CourseError, match="what you have written stays"):
        working.make(first, "Grace Hopper", tmp_path)
    assert (folder / "router.p4").read_text() == "mine"


def test_a_student_file_may_hold_anything(tmp_path):
    assert working.student_of(tmp_path) == "nobody"
    (tmp_path / "student.txt").write_bytes(b"\xff\xfe" * 500)
    assert len(working.student_of(tmp_path)) <= 64
    (tmp_path / "student.txt").unlink()
    (tmp_path / "student.txt").symlink_to("/etc/passwd")
    assert working.student_of(tmp_path) == "nobody"


def test_a_misspelt_exercise_is_told_with_a_guess():
    with pytest.raises(CourseError, match="Did you mean first-router"):
        catalogue.find("first-ruter")
