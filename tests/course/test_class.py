"""A class of sixty, good, lazy, wrong and hostile, gets the same points twice and by both paths."""

import csv
import json
import subprocess
import sys
import time

import pytest

from controller.toolchain import ROOT
from course import catalogue
from course.exercise import SOLUTIONS
from tests.course import lazy
from tests.course.test_exercises import wrong_folders
from tests.course.test_hostile import TRIES

SECRET = "rosebud"
CLASS = 60
# Of the grader and its largest program, whatever the machine.
MEMORY_MB = 500
GOT = "def got():\n    raise SystemExit('it worked')\n"


def hostile_programs(right):
    """Programs that harm, from the right one; each may keep the points of what works."""
    egress = "control egress"
    return {
        "resubmits without end": right.replace(
            "apply {", "apply { resubmit_preserving_field_list(0);", 1
        ),
        "includes itself": '#include "router.p4"\n' + right,
        "includes the solution": f'#include "{SOLUTIONS / "first-router/right/router.p4"}"\n',
        "reads a device": '#include "/dev/zero"\n' + right,
        "has two gigabytes of registers": right.replace(
            egress, "register<bit<64>>(268435456) much;\n" + egress, 1
        ),
        "is no text": "\0" * 100_000,
        "nests without end": "(" * 100_000,
        "is long": right + "// more\n" * 100_000,
    }


def hostile_classes(right):
    """The attacks of `test_hostile`, and classes that do not end."""
    harms = {what: GOT + harm + right for what, harm in TRIES.items()}
    return {
        **harms,
        "sleeps": right + "\nimport threading\nthreading.Event().wait(600)\n",
        "computes": right + "\nwhile True:\n    pass\n",
        "writes": right + "\nimport sys\nwhile True:\n    sys.stderr.write('x' * 65536)\n",
    }


def kinds(exercise):
    """Submissions by name, each with its files; those of one student differ in the name only."""
    start = {file: (exercise.start / file).read_text() for file in exercise.files}
    right = {
        file: (SOLUTIONS / exercise.name / "right" / file).read_text() for file in exercise.files
    }
    (main,) = exercise.files
    found = {"right": right}
    for folder in wrong_folders(exercise):
        found[f"wrong {folder.name}"] = {main: (folder / main).read_text()}
    for name, files in lazy.lazies(exercise).items():
        found[f"lazy {name}"] = {**start, **files}
    make = hostile_programs if main.endswith(".p4") else hostile_classes
    for name, text in make(right[main]).items():
        found[f"hostile {name}"] = {main: text}
    return found


def hand_in(exercise, folder):
    """Sixty submissions: each kind, and good ones."""
    made = kinds(exercise)
    names = [*made, *(["right"] * CLASS)][:CLASS]
    for number, name in enumerate(names):
        into = folder / f"{number:02} {name}"
        into.mkdir(parents=True)
        (into / "student.txt").write_text(f"Student {number}\n")
        for file, text in made[name].items():
            (into / file).write_text(text)
    return folder


def measured(arguments):
    """Runs `vitrine ARGUMENTS`; seconds, and the most memory of it and of its largest program."""
    script = (
        "import resource, sys\nfrom vitrine.command.run import main\nstatus = main(sys.argv[1:])\n"
        "most = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF,"
        " resource.RUSAGE_CHILDREN)]\n"
        "print(sum(most) // 1024, file=sys.stderr)\nsys.exit(status)"
    )
    began_s = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, None), done.stderr[-2000:]
    return time.monotonic() - began_s, int(done.stderr.split()[-1])


def points_of_sheet(exercise, file):
    with file.open() as opened:
        return {
            row["submission"]: [int(row[case.name]) for case in exercise.cases]
            for row in csv.DictReader(opened)
        }


def points_of_gradescope(exercise, folder, results):
    measured(["gradescope-run", exercise.name, folder, results, "--secret", SECRET])
    tests = {
        each["name"].partition(":")[0]: each["score"]
        for each in json.loads(results.read_text())["tests"]
    }
    return [tests[case.name] for case in exercise.cases]


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", ["first-router", "fair-queues"])
def test_a_class_of_sixty_gets_the_same_points_twice_and_by_both_paths(name, tmp_path):
    exercise = catalogue.find(name)
    folder = hand_in(exercise, tmp_path / "in")
    sheets = []
    for run in ("first", "second"):
        out = tmp_path / run
        seconds, memory_mb = measured(["grade", name, folder, out, "--secret", SECRET])
        print(f"{name}: {CLASS} submissions, {seconds:.0f} s, {memory_mb} MB")
        assert memory_mb < MEMORY_MB
        sheets.append(points_of_sheet(exercise, out / "grades.csv"))
    assert sheets[0] == sheets[1]
    assert len(sheets[0]) == CLASS
    full = [case.points for case in exercise.cases]
    for submission, points in sheets[0].items():
        kind = submission.split()[1]
        assert (points == full) or kind != "right", submission
        assert sum(points) <= 15 or kind != "lazy", submission
    for number, submission in enumerate(sorted(folder.iterdir())):
        results = tmp_path / f"{number}.json"
        found = points_of_gradescope(exercise, submission, results)
        assert found == sheets[0][submission.name], submission.name
