"""One submission never costs another: each ends within its limits, with a sentence."""

import csv
import json
import shutil
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from course import catalogue
from course.errors import CourseError
from course.exercise import SOLUTIONS, Case
from course.films import Films
from course.grading import grade as grading
from course.grading.intake import submissions
from course.grading.jailed import JailedRunner
from course.grading.records import write_whole
from course.grading.run import Progress, Run
from course.judge import judge
from course.process import OUTPUT_BYTES_MAX, Runner
from course.story import Moment, Refused, Story
from course.wall_clock import WallClock

FIRST = catalogue.find("first-router")
QUIET = Story("It ran.", "More.", "So it is asked.", "Less.")


def python(runner, script, **more):
    return runner.run([sys.executable, "-S", "-c", script], **more)


# ---- programs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pipe", ["stdout", "stderr"])
def test_a_program_that_writes_without_end_is_ended_and_hardly_any_of_it_kept(pipe):
    done = python(Runner(), f"import sys\nwhile True: sys.{pipe}.write('x' * 65536)")
    assert done.status is None and "wrote more than 32 MB" in done.why
    assert len(done.output) <= OUTPUT_BYTES_MAX and len(done.errors) <= 65536


def test_what_a_program_writes_is_read_while_it_runs():
    done = python(Runner(), "import sys; print('a' * 200000); print('b' * 100000, file=sys.stderr)")
    assert (done.status, done.why) == (0, "")
    assert done.output == "a" * 200000 + "\n" and done.errors == "b" * 65536


def test_a_program_that_leaves_its_pipes_to_a_child_is_not_waited_for():
    script = "import os, signal\nif os.fork() == 0: signal.pause()\nprint('done', flush=True)"
    done = python(Runner(), script, seconds=600)
    assert (done.status, done.output) == (0, "done\n")


# ---- the clock on the wall -----------------------------------------------------------------------


def test_what_is_begun_in_a_case_ends_with_its_time():
    clock, ended = WallClock(0.05, 10, waits=dict), threading.Event()
    with clock.case(), clock.ends(ended.set):
        assert ended.wait(60)
    assert clock.is_late
    with clock.case():
        assert not clock.is_late


def test_where_its_time_is_up_nothing_begins():
    clock = WallClock(10, 0.0, waits=dict)
    with clock.case():
        late = threading.Event()
        with clock.ends(late.set):
            assert late.wait(60)


def test_what_a_busy_machine_takes_away_does_not_count():
    """As long as its threads wait for a processor a case has a tenth of its time."""
    began_s = time.monotonic()
    clock = WallClock(0.1, 10, waits=lambda: {"thread": time.monotonic() - began_s})
    with clock.case():
        ended = threading.Event()
        with clock.ends(ended.set):
            assert ended.wait(60)
    assert time.monotonic() - began_s > 0.9


def test_cases_share_the_time_of_their_submission():
    clock = WallClock(60, 0.1, waits=dict)
    for _ in range(2):
        with clock.case():
            ended = threading.Event()
            with clock.ends(ended.set):
                assert ended.wait(60)
        assert clock.is_late
    assert "That was all its submission had left" in clock.story("It ends.").came


def test_a_case_that_sleeps_is_a_sentence_and_the_next_one_is_checked(tmp_path):
    def sleeps(work):
        if python(work.runner, "import time; time.sleep(600)").status != 0:
            raise Refused(QUIET)

    def ends(work):
        assert python(work.runner, "pass").status == 0

    cases = (Case("sleeps", "It ends.", 60, sleeps), Case("ends", "It ends.", 40, ends))
    exercise = replace(FIRST, begin=lambda work: work, cases=cases)
    runner = JailedRunner().with_account(tmp_path / "account", 30.0)
    runner.clock.case_s = 1.0
    judgement = judge(exercise, tmp_path, seed="test", runner=runner)
    assert judgement.points == 40
    assert "ended after 1 s" in judgement.verdicts[0].story.came


def test_a_class_of_a_network_ends_with_the_time_of_its_case(tmp_path):
    """Nobody but the jail can end it: the network that started it waits for its answer."""
    folder = tmp_path / "in"
    shutil.copytree(SOLUTIONS / "own-tcp" / "right", folder)
    text = (folder / "tcp.py").read_text()
    (folder / "tcp.py").write_text(
        "import time\n" + text.replace("path, acked):", "path, acked):\n        time.sleep(4)")
    )
    for each in (tmp_path, *tmp_path.parents):
        # A user without rights must reach it.
        if each.is_relative_to("/tmp") and each != Path("/tmp"):
            each.chmod(0o755)
    runner = JailedRunner().with_account(tmp_path / "account", 30.0)
    runner.clock.case_s = 1.0
    exercise = catalogue.find("own-tcp")
    judgement = judge(exercise, folder, seed="test", runner=runner, only=["slow-start"])
    assert "ended after 1 s" in judgement.verdicts[0].story.came


# ---- reports -------------------------------------------------------------------------------------


def test_a_story_has_no_longer_texts_than_anybody_reads(tmp_path):
    def refuses(work):
        long = Story("d" * 9999, "e" * 9999, "b" * 9999, "c" * 9999, ("w" * 999,) * 999)
        raise Refused(replace(long, again="a" * 99999))

    exercise = replace(FIRST, begin=lambda work: work, cases=(Case("x", "It ends.", 1, refuses),))
    story = judge(exercise, tmp_path, seed="test").verdicts[0].story
    assert max(map(len, (story.done, story.expected, story.because, story.came))) == 2000
    assert len(story.way) == 201 and len(story.way[0]) == 300 and "799 more" in story.way[-1]
    assert len(story.again) < 200


def test_pages_of_networks_have_a_limit_together(tmp_path, monkeypatch):
    from course import films
    from labs.glass.tape import Tape

    monkeypatch.setattr(films, "PAGES_BYTES_MAX", 10)
    monkeypatch.setattr(Tape, "write", lambda tape, file: file.write_text("a page of 20 bytes.."))
    kept = Films(tmp_path)
    for name in ("one", "two"):
        kept.add(name, Tape(name))
    assert kept.show(Moment(0.0, "one")).endswith("one.html#at=0.000000")
    assert kept.show(Moment(0.0, "two")) == ""
    assert not (tmp_path / "two.html").exists()


# ---- a class -------------------------------------------------------------------------------------


@pytest.fixture
def class_(tmp_path):
    """Three submissions of an exercise with one case, which fails where the file says so."""

    def check(work):
        text = (work.folder / "router.p4").read_text()
        checked.append(text)
        if text == "breaks":
            raise MemoryError("of the judge")
        if text == "wrong":
            raise Refused(QUIET)

    checked = []
    folder = tmp_path / "in"
    for name, text in (("ada", "right"), ("bob", "wrong"), ("eve", "right")):
        (folder / name).mkdir(parents=True)
        (folder / name / "router.p4").write_text(text)
        (folder / name / "student.txt").write_text(name)
    exercise = replace(FIRST, begin=lambda work: work, cases=(Case("x", "It is.", 100, check),))

    def run(secret="s", exercise=exercise):
        return Run(exercise, submissions(folder), tmp_path / "out", secret)

    run.folder, run.out, run.checked, run.exercise = folder, tmp_path / "out", checked, exercise
    return run


def points(out):
    with (out / "grades.csv").open(newline="") as opened:
        return {row["submission"]: row["points"] for row in csv.DictReader(opened)}


def test_each_result_is_on_disk_before_the_next_one_is_told_of(class_):
    for count, graded in enumerate(class_().grade(Runner()), 1):
        page, results = (class_.out / f"{graded.name}.{kind}" for kind in ("html", "json"))
        assert page.is_file() and json.loads(results.read_text())["tests"]
        assert len(list(class_.out.glob("*.html"))) >= count
    assert points(class_.out) == {"ada": "100", "bob": "0", "eve": "100"}


def test_a_run_that_was_ended_goes_on_where_it_was(class_):
    run = class_().grade(Runner())
    first = next(run).name
    # As by Ctrl-C: the work under way may still end, and the sheet has the reported results.
    run.close()
    assert first in points(class_.out)
    class_.checked.clear()
    again = class_()
    assert first in again.records
    done = [each.name for each in again.grade(Runner())]
    assert first not in done and len(done) == len(class_.checked)
    assert points(class_.out) == {"ada": "100", "bob": "0", "eve": "100"}


def test_what_has_changed_is_graded_again(class_):
    list(class_().grade(Runner()))
    assert set(class_().records) == {"ada", "bob", "eve"}
    (class_.folder / "bob" / "router.p4").write_text("right")
    assert set(class_().records) == {"ada", "eve"}
    assert class_(secret="another").records == {}
    (class_.out / "eve.html").unlink()
    assert set(class_().records) == {"ada"}
    (class_.out / ".records" / "ada.json").write_text("{")
    assert class_().records == {}


def test_a_submission_that_breaks_the_grader_costs_the_others_nothing(class_, monkeypatch):
    one = grading._one

    def breaks(exercise, submission, *more):
        if submission.name == "bob":
            raise MemoryError("of the grader")
        return one(exercise, submission, *more)

    monkeypatch.setattr(grading, "_one", breaks)
    told = {each.name: each for each in class_().grade(Runner())}
    assert points(class_.out) == {"ada": "100", "bob": "0", "eve": "100"}
    assert "MemoryError: of the grader" in told["bob"].remarks[0]
    # Nobody judged it, so the next run tries again.
    assert set(class_().records) == {"ada", "eve"}


def test_what_keeps_all_from_being_graded_is_said_once(class_):
    def begin(work):
        raise CourseError("there is no program: run `make build` first")

    run = class_(exercise=replace(class_.exercise, begin=begin))
    with pytest.raises(CourseError, match="make build"):
        list(run.grade(Runner()))


def test_progress_says_how_long_the_rest_takes(class_):
    times = iter((0.0, 10.0, 20.0))
    progress = Progress(60, 0, lambda: next(times))
    record = next(iter(class_().grade(Runner()))).record
    assert progress.line(record).startswith(" 1/60") is False
    assert progress.line(record).endswith(f"  {record.name}  (10 min left)")


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "grades.csv"
    write_whole(file, "first")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(file, "second")
    assert file.read_text() == "first" and list(tmp_path.iterdir()) == [file]


def test_a_network_is_recorded_only_where_there_is_something_to_see(tmp_path):
    """Recording takes as long as the check, and a class has hundreds of networks."""
    seen = []

    def runs(name, story):
        def check(work):
            seen.append((name, work.filming is not None))
            if story is not None:
                raise Refused(story)

        return check

    cases = (
        Case("met", "It is.", 40, runs("met", None)),
        Case("refused", "It is.", 30, runs("refused", QUIET)),
        Case("seen", "It is.", 30, runs("seen", replace(QUIET, moment=Moment(1.0, "net")))),
    )
    exercise = replace(FIRST, begin=lambda work: work, cases=cases)
    judge(exercise, tmp_path, seed="test", films=Films(tmp_path))
    assert seen == [("met", False), ("refused", False), ("seen", False), ("seen", True)]
    seen.clear()
    judge(exercise, tmp_path, seed="test", films=Films(tmp_path, keeps_all=True))
    assert seen == [("met", True), ("refused", True), ("seen", True)]
