"""Points are for work: none for the start, for thoughtless answers, or for values that are no
numbers."""

from dataclasses import replace

import pytest

from course.catalogue import COURSE, EXERCISES, find
from course.exercise import Case, Work
from course.exercises.head_of_line.numbers import ports_of
from course.grading import gradescope, pages
from course.grading.grade import Graded
from course.judge import judge
from course.process import Runner
from course.story import Refused, Story
from course.telling import Teller, summary
from course.tools.documents import finite, yaml_content
from tests.course.lazy import MAKERS, hand_in, lazies

START_MOST, LAZY_MOST = 5, 15
SEED = "test"
# Each had many points before this was looked at; the rest is breadth.
QUICK = {
    ("elephants", "writes counters and marks nothing"),
    ("fair-queues", "the shortest packet"),
    ("head-of-line", "the diagonal where it was asked for"),
    ("how-much-buffer", "a thousand digits"),
    ("how-much-buffer", "ones"),
    ("own-aqm", "drops above an interval"),
    ("own-tcp", "twenty"),
    ("spread-the-load", "at random"),
    ("voice-and-bulk", "a short queue"),
    ("watch-the-queue", "everything"),
    ("who-filled-the-queue", "not a number"),
}
cases = [
    pytest.param(
        exercise,
        name,
        id=f"{exercise.name}/{name}",
        marks=[] if (exercise.name, name) in QUICK else [pytest.mark.nightly],
    )
    for exercise in EXERCISES
    for name in lazies(exercise)
    if name != "untouched"
]


def submission(exercise, name, folder):
    hand_in(exercise, lazies(exercise)[name], folder)
    if exercise.name == "head-of-line":
        # The size of this student's router, which the check tells.
        file = folder / "numbers.yaml"
        ports = ports_of(Work(folder, folder, SEED, Runner()))
        file.write_text(file.read_text().replace("PORTS", str(ports)))
    return folder


@pytest.mark.parametrize(("exercise", "name"), cases)
def test_what_costs_no_thought_earns_nothing_to_speak_of(exercise, name, tmp_path):
    judgement = judge(exercise, submission(exercise, name, tmp_path / "lazy"), seed=SEED)
    assert judgement.points <= LAZY_MOST, {
        each.case.name: each.points for each in judgement.verdicts if each.points
    }
    for verdict in judgement.verdicts:
        assert verdict.story is None or "The check broke" not in verdict.story.came, verdict.story


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_start_as_it_is_earns_next_to_nothing(exercise):
    judgement = judge(exercise, exercise.start, seed=SEED)
    assert judgement.points <= START_MOST, {
        each.case.name: each.points for each in judgement.verdicts if each.points
    }


def test_every_exercise_is_reviewed_with_five_lazy_submissions():
    assert set(MAKERS) == {exercise.name for exercise in COURSE}
    for exercise in EXERCISES:
        assert len(lazies(exercise)) > 5, exercise.name


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_what_a_case_waits_for_comes_before_it_and_stands_in_the_handout(exercise):
    handout = (exercise.folder / "README.md").read_text()
    before = set()
    for case in exercise.cases:
        assert set(case.behind) <= before, case.name
        before.add(case.name)
    for behind in {case.behind for case in exercise.cases if case.behind}:
        names = " and ".join(f"`{each}`" for each in behind)
        does = "does" if len(behind) == 1 else "do"
        behind_it = ", ".join(f"`{each.name}`" for each in exercise.cases if each.behind == behind)
        assert f"These earn points only once {names} {does}: {behind_it}." in handout


# ---- how points are counted ----------------------------------------------------------------------


def fails(work):
    raise Refused(Story("It ran.", "More.", "So it is asked.", "Less."))


def holds(work):
    pass


def judged(tmp_path, *cases, **more):
    exercise = replace(find("first-router"), begin=lambda work: work, cases=cases)
    return judge(exercise, tmp_path, seed=SEED, **more)


def test_a_case_earns_its_points_once_what_it_waits_for_does(tmp_path):
    first = Case("first", "It works.", 50, fails)
    second = Case("second", "Nothing breaks.", 30, holds, behind=("first",))
    third = Case("third", "Nothing breaks either.", 20, holds, behind=("second",))
    nothing = judged(tmp_path, first, second, third)
    assert [each.points for each in nothing.verdicts] == [0, 0, 0]
    assert [each.waits_for for each in nothing.verdicts] == [(), ("first",), ("second",)]
    everything = judged(tmp_path, replace(first, check=holds), second, third)
    assert everything.points == 100
    # By itself a case is what a student works on.
    assert judged(tmp_path, first, second, third, only=["second"]).points == 30


def test_a_case_that_waits_says_for_what(tmp_path):
    judgement = judged(
        tmp_path,
        Case("first", "It works.", 70, fails),
        Case("second", "Nothing breaks.", 30, holds, behind=("first",)),
    )
    words = "It earns points once first does."
    told = Teller().tell(judgement.verdicts[1])
    assert told.startswith("  met   0/30 second") and words in told
    assert "0 of 100 points, 0 of 2 cases" in summary(judgement)
    graded = Graded("ada", "Ada", judgement, ())
    assert words in pages.page(graded)
    (_, test) = gradescope.results(graded)["tests"]
    assert (test["score"], test["status"], test["output"]) == (0, "failed", words)


# ---- what is no number ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["a: .nan", "a: .inf", "a: -.inf", "a: 1e999", "a: true", "a: '1'", "a: [1]", "a: {1: 1}",
     "a:", f"a: {'9' * 400}", "a: 2026-11-27", "a: !!float nan", "a: !!str 1", "a: 0x" + "f" * 400],
)  # fmt: skip
def test_what_is_no_finite_number_is_none(text, tmp_path):
    (tmp_path / "a.yaml").write_text(text)
    found = yaml_content(Work(tmp_path, tmp_path, SEED, Runner()), "a.yaml")
    # 1e999 is text for YAML 1.1, and would be infinite for float().
    assert finite(found["a"]) is None
    for odd in (float("1e999"), float("nan"), None, b"1", 1j):
        assert finite(odd) is None
    assert finite(3) == 3.0 and finite(0.5) == 0.5


@pytest.mark.parametrize(
    "text",
    [
        f"a: {'9' * 5000}",
        "a: 2026-99-99",
        "[" * 3000,
        "a: &x [1, 2]\nb: *x",
        "? [1]\n: 2",
        "!!python/object/apply:os.system ['true']",
        "a: \x00",
    ],
)
def test_yaml_that_cannot_be_read_is_a_sentence(text, tmp_path):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(Refused) as refused:
        yaml_content(Work(tmp_path, tmp_path, SEED, Runner()), "a.yaml")
    assert len(refused.value.story.came) < 700


def test_a_few_bytes_of_aliases_make_no_large_page(tmp_path):
    exercise = find("head-of-line")
    lines = ["ports: 5", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    text = "\n".join([*lines, "fifo: {uniform: *a8}"]) + "\n"
    assert len(text) < 700
    hand_in(exercise, {"numbers.yaml": text}, tmp_path / "in")
    judgement = judge(exercise, tmp_path / "in", seed=SEED, only=["numbers"])
    assert "aliases" in judgement.verdicts[0].story.came
    assert len(pages.page(Graded("ada", "Ada", judgement, ()))) < 20_000
