"""Grading a class: what hostile submissions get, and what is written of honest ones."""

import csv
import json
import re
import sys
import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from course import catalogue
from course.errors import CourseError
from course.exercise import SOLUTIONS, Case
from course.exercises.control_plane import roads
from course.grading import gradescope, pages, sheet
from course.grading.grade import grade
from course.grading.intake import FILE_BYTES_MAX, submissions
from course.grading.jailed import JailedRunner
from course.jail import EXIT_NO_MEMORY
from course.judge import judge
from course.story import Refused, Story
from vitrine.command.run import main

RIGHT = SOLUTIONS / "first-router" / "right" / "router.p4"
FIRST = catalogue.find("first-router")


@pytest.fixture
def runner():
    runner = JailedRunner()
    runner.check()
    return runner


@pytest.fixture(params=[False, True], ids=["with namespaces", "in a container"])
def either(request):
    """Both kinds of jail."""
    runner = JailedRunner(in_container=request.param)
    runner.check()
    return runner


@pytest.fixture
def hand_in(tmp_path):
    """Hands in files under a name: `hand_in("ada", {"router.p4": "..."})`."""

    def put(name, files):
        folder = tmp_path / "in" / name
        folder.mkdir(parents=True)
        for file, text in {"student.txt": name, **files}.items():
            (folder / file).write_text(text)
        return folder

    put.folder = tmp_path / "in"
    return put


def graded(hand_in, runner, **more):
    found = grade(FIRST, submissions(hand_in.folder), secret="test", runner=runner, **more)
    return {each.name: each for each in found}


def test_one_compile_error_is_told_once(hand_in, runner):
    hand_in("ada", {"router.p4": "parser {"})
    ada = graded(hand_in, runner)["ada"]
    first, *others = FIRST.cases
    assert pages.page(ada).count("vitrine-p4c compiled router.p4") == 1
    outputs = [each["output"] for each in gradescope.results(ada)["tests"]]
    assert "vitrine-p4c compiled router.p4" in outputs[0]
    assert outputs[1:] == [f"for the reason told at {first.name}"] * len(others)


# ---- the jail ------------------------------------------------------------------------------------


def inside(runner, script, **more):
    return runner.run([sys.executable, "-c", script], **more)


@pytest.fixture
def open_folder():
    """A folder that anybody may look into; those of pytest are their owner's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_in_the_jail_one_reads_what_one_is_given_and_writes_nothing(either, open_folder):
    (open_folder / "given").mkdir()
    (open_folder / "given" / "file").write_text("for you")
    script = f"""
for name, mode in ((r"{open_folder}/given/file", "r"), (r"{RIGHT}", "r"), ("/etc/passwd", "r"),
                   (r"{open_folder}/given/new", "w"), ("/tmp/new", "w"), ("/dev/shm/new", "w")):
    try:
        with open(name, mode) as file:
            print(file.read() if mode == "r" else file.write("mine"))
    except OSError as error:
        print(type(error).__name__)
"""
    done = inside(either, script, readable=[open_folder / "given"])
    assert done.output.splitlines() == ["for you", *["PermissionError"] * 5], done


def test_in_the_jail_there_is_no_network_and_nobody_to_kill(runner):
    script = """
import os, signal, socket
for try_it in (lambda: socket.create_connection(("127.0.0.1", 1), 1),
               lambda: socket.create_connection(("192.0.2.1", 80), 1)):
    try:
        try_it()
        print("connected")
    except OSError as error:
        print("no network")
try:
    os.kill(-1, signal.SIGKILL)
except ProcessLookupError:
    print("nobody")
print(os.getpid(), os.getppid(), os.getuid() != 0)
"""
    done = inside(runner, script)
    # The first of its processes, whose parent is outside and so has no number.
    assert done.output.splitlines() == ["no network", "no network", "nobody", "1 0 True"], done


def test_a_fork_bomb_ends_with_its_first_process(runner):
    script = """
import os, signal
count = 0
try:
    while True:
        if os.fork() == 0:
            signal.pause()
        count += 1
except OSError:
    print(count)
"""
    done = inside(runner, script)
    # 16 processes are allowed, two of which are the jail's own and the first.
    assert int(done.output) <= 16, done
    # Had one of them lived, the pipe would be open and the run without end.
    assert done.status == 0


def test_what_never_ends_and_what_wants_all_memory_is_ended(either):
    assert inside(either, "while True: pass", seconds=1.0).status is None
    greedy = inside(either, "x = bytearray(8 << 30)")
    assert greedy.status == 1 and "MemoryError" in greedy.errors


def test_many_processes_have_no_more_memory_than_one(either):
    script = """
import os, signal
for _ in range(2):
    os.fork()
kept = bytearray(700 << 20)
signal.pause()
"""
    greedy = inside(either, script)
    assert greedy.status == EXIT_NO_MEMORY
    assert "all processes together used more than 2048 MB" in greedy.errors


def test_memory_that_is_nobody_s_is_not_given(either):
    script = """
import os
try:
    os.memfd_create("mine")
    print("made")
except OSError as error:
    print(type(error).__name__)
"""
    assert inside(either, script).output == "PermissionError\n"


def test_without_namespaces_there_is_no_network_and_nobody_to_kill():
    runner = JailedRunner(in_container=True)
    script = """
import os, signal, socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):
    try:
        socket.socket(family, socket.SOCK_RAW if family > 10 else socket.SOCK_DGRAM)
        print("a socket")
    except PermissionError:
        print("no socket")
try:
    os.kill(os.getppid(), signal.SIGKILL)
    print("killed")
except PermissionError:
    print("nobody")
"""
    done = inside(runner, script)
    assert done.output.splitlines() == [*["no socket"] * 4, "nobody"], done


def test_what_is_left_behind_is_ended_with_the_jail(either):
    script = """
import os, signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.pause()
"""
    began = time.monotonic()
    # Had it lived, the pipe would be open until the time is up.
    assert inside(either, script, seconds=60).status == 0
    assert time.monotonic() - began < 50


def test_a_budget_that_is_used_up_takes_nothing_from_what_was_right(either, tmp_path, open_folder):
    def runs(script):
        def check(work):
            if inside(work.runner, script).status != 0:
                raise Refused(Story("It ran.", "It to end well.", "So is it asked.", "It did not."))

        return check

    cases = (
        Case("quick", "It is quick.", 40, runs("pass")),
        Case("endless", "It ends.", 40, runs("while True: pass")),
        Case("after", "It is quick, too.", 20, runs("pass")),
    )
    exercise = replace(FIRST, begin=lambda work: work, cases=cases)
    limited = either.with_account(tmp_path / "account", 1.0)
    judgement = judge(exercise, open_folder, seed="test", runner=limited)
    assert judgement.points == 40
    for verdict in judgement.verdicts[1:]:
        assert "less than 1 s of processor time" in verdict.story.expected
        assert "The budget was used up" in verdict.story.came


def test_the_grader_s_secret_is_not_in_the_environment(either, monkeypatch):
    monkeypatch.setenv("SECRET", "hidden")
    done = inside(either, "import os; print('SECRET' in os.environ)")
    assert done.output == "False\n"


# ---- submissions ---------------------------------------------------------------------------------


def test_who_steals_the_solution_or_hands_in_a_link_gets_nothing_for_it(hand_in, runner):
    hand_in("includes", {"router.p4": f'#include "{RIGHT}"\n'})
    hand_in("links", {})
    (hand_in.folder / "links" / "router.p4").symlink_to(RIGHT)
    hand_in("honest", {"router.p4": RIGHT.read_text()})
    found = graded(hand_in, runner)
    assert {name: each.judgement.points for name, each in found.items()} == {
        "honest": 100,
        "includes": 0,
        "links": 0,
    }
    story = found["includes"].judgement.verdicts[0].story
    assert "Permission denied" in " ".join(story.way)
    assert "router.p4 was not taken" in found["links"].remarks[0]


def test_an_archive_is_read_wherever_its_files_are_and_however_large_it_says_they_are(
    hand_in, runner
):
    hand_in.folder.mkdir()
    with zipfile.ZipFile(hand_in.folder / "ada.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.write(RIGHT, "homework/final/router.p4")
        zipped.writestr("__MACOSX/homework/._router.p4", "nothing")
        zipped.writestr("../../student.txt", "Ada")
    with zipfile.ZipFile(hand_in.folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("router.p4", " " * (FILE_BYTES_MAX + 1))
    (hand_in.folder / "broken.zip").write_text("no zip")
    found = graded(hand_in, runner)
    assert found["ada"].judgement.points == 100 and found["ada"].student == "Ada"
    assert f"more than {FILE_BYTES_MAX} bytes" in found["bomb"].remarks[0]
    assert "cannot be read as a zip" in found["broken"].remarks[0]


def test_of_one_student_s_numbers_handed_in_twice_somebody_is_told(hand_in, runner):
    hand_in("ada", {"router.p4": RIGHT.read_text()})
    hand_in("bob", {"router.p4": RIGHT.read_text(), "student.txt": "ada"})
    assert "as does that of ada" in graded(hand_in, runner)["bob"].remarks[0]


def test_a_submission_without_a_name_is_told_as_one_and_as_nobodys_namesake(hand_in, runner):
    for name in ("ada", "bob"):
        (hand_in(name, {"router.p4": RIGHT.read_text()}) / "student.txt").unlink()
    for each in graded(hand_in, runner).values():
        (remark,) = each.remarks
        assert remark.startswith("student.txt has no name")


def test_what_is_written_of_a_class(hand_in, runner, tmp_path):
    wrong = SOLUTIONS / "first-router" / "wrong" / "ttl-of-one-goes-on" / "router.p4"
    hand_in("=1+1", {"router.p4": wrong.read_text(), "student.txt": "<b>Eve</b>"})
    one = graded(hand_in, runner)["=1+1"]
    sheet.write(tmp_path / "grades.csv", FIRST, [one.record])
    with (tmp_path / "grades.csv").open(newline="") as opened:
        row = next(csv.DictReader(opened))
    # A spreadsheet would compute a name that begins with =.
    assert (row["submission"], row["points"], row["ttl-used-up"]) == ("'=1+1", "85", "0")
    page = pages.write(tmp_path, one)
    assert page.parent == tmp_path and page.name == "_1_1.html"
    text = page.read_text()
    assert "85 of 100 points" in text and "section 5.3.1" in text
    assert "<b>Eve" not in text and "&lt;b&gt;Eve" in text
    gradescope.write(tmp_path / "results.json", one)
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["score"] == 85 and len(results["tests"]) == len(FIRST.cases)
    failed = [each for each in results["tests"] if each["status"] == "failed"]
    assert all("because" in each["output"] for each in failed)


def test_the_archive_for_gradescope_has_what_grading_needs_and_no_solution(tmp_path):
    gradescope.archive(FIRST, tmp_path / "made.zip", "secret")
    with zipfile.ZipFile(tmp_path / "made.zip") as zipped:
        names = zipped.namelist()
        assert "first-router" in zipped.read("run_autograder").decode()
    for name in ("setup.sh", "run_autograder", "vitrine/course/jail/walls.py", "vitrine/secret"):
        assert name in names
    assert "vitrine/build/bin/vitrine-programs" in names
    assert not [name for name in names if "solutions" in name or "__pycache__" in name]
    assert not [name for name in names if "insides/examples" in name]


@pytest.mark.parametrize(
    "name", [pytest.param("control-plane", marks=pytest.mark.nightly), "capstone"]
)
def test_the_archive_of_an_exercise_with_peers_has_these_and_no_other_solution(name, tmp_path):
    gradescope.archive(catalogue.find(name), tmp_path / "made.zip", "secret")
    with zipfile.ZipFile(tmp_path / "made.zip") as zipped:
        zipped.extractall(tmp_path)
    found = sorted((tmp_path / "vitrine/course/solutions").rglob("*.*"))
    told = [str(each.relative_to(tmp_path / "vitrine/course/solutions")) for each in found]
    others = [f"control-plane/others/{number}/control.py" for number in (1, 2, 3)]
    assert told == [*others, "control-plane/right/control.py"]


def test_a_case_without_its_peers_says_so_and_gives_its_points(
    hand_in, runner, tmp_path, monkeypatch
):
    monkeypatch.setattr(roads, "PEERS", tmp_path / "none")
    exercise = catalogue.find("control-plane")
    (case,) = (each for each in exercise.cases if each.name == "interoperates")
    exercise = replace(exercise, cases=(case,))
    frames = (exercise.start / "frames.py").read_text()
    hand_in("ada", {"control.py": roads.REFERENCE.read_text(), "frames.py": frames})
    (one,) = grade(exercise, submissions(hand_in.folder), secret="s", runner=runner)
    (told,) = gradescope.results(one)["tests"]
    assert (told["score"], told["status"]) == (5, "passed")
    assert told["name"].endswith("(without routers of others, which only graders have; what was "
        "checked gives all points)")  # fmt: skip
    assert "without routers of others" in pages.page(one)


def test_a_page_links_to_the_moment_in_the_students_own_network(hand_in, runner, tmp_path):
    exercise = catalogue.find("own-aqm")
    start = exercise.start / "aqm.p4"
    hand_in("a b", {"aqm.p4": start.read_text()})
    (one,) = grade(exercise, submissions(hand_in.folder), secret="s", runner=runner, films=tmp_path)
    text = pages.write(tmp_path, one).read_text()
    links = re.findall(r'href="([^"#]+)#at=[0-9.]+"', text)
    assert links
    assert all((tmp_path / each).is_file() for each in links)
    # The link has a figure of the packets that waited then.
    assert text.count("<figure><svg") == len(links)
    assert "s1 port 2: packets that wait" in text
    assert "The moment of the story is at" in text


def test_where_nothing_can_be_kept_in_gradescope_gets_a_sentence(hand_in, tmp_path, monkeypatch):
    def refuse(runner):
        raise CourseError("this machine gives no namespaces")

    monkeypatch.setattr(JailedRunner, "check", refuse)
    results = tmp_path / "results.json"
    given = ["gradescope-run", "first-router", str(hand_in("ada", {})), str(results)]
    assert main(given) == 0
    assert "this machine gives no namespaces" in json.loads(results.read_text())["output"]
