"""The archive for Gradescope is unpacked and run, as that service does for a submission."""

import ctypes
import json
import os
import platform
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from course import catalogue
from course.exercise import SOLUTIONS
from course.grading import gradescope
from course.grading.grade import Graded
from course.judge import Judgement
from tests.course.test_hostile import TRIES

EXERCISE = catalogue.find("fair-queues")
# Packages of the kit's whole environment that the autograder does without.
MISSING = (
    *("matplotlib", "distributed", "dask", "websockets", "thrift", "pytest", "playwright"),
    *("scapy", "psutil", "ruff", "mypy", "p4runtime_sh", "IPython"),
)
UNSHARE = {"x86_64": 272, "aarch64": 97}[platform.machine()]
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
EPERM = 0x00050001


def refuse_unshare():
    """The effect of the usual profile of containers: no namespaces for this process and its
    children."""
    steps = ((0x20, 0, 0, 0), (0x15, 0, 1, UNSHARE), (0x06, 0, 0, EPERM), (0x06, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None)
    libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
    described = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    assert libc.prctl(SECCOMP, FILTER, described, 0, 0) == 0


@pytest.fixture(scope="module")
def autograder():
    """The folder /autograder, set up as setup.sh does but without its installations."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        gradescope.archive(EXERCISE, folder / "made.zip", "secret")
        with zipfile.ZipFile(folder / "made.zip") as zipped:
            zipped.extractall(folder / "source")
        build = folder / "source" / "vitrine" / "build"
        (build / "bin" / "vitrine-programs").chmod(0o755)
        for program in ("vitrine-p4c", "vitrine-sim"):
            (build / "bin" / program).symlink_to("vitrine-programs")
        (build / "venv").symlink_to(sys.prefix)
        run = folder / "source" / "run_autograder"
        run.write_text(run.read_text().replace("/autograder", name))
        yield folder


@pytest.mark.parametrize("namespaces", ["as here", "refused"])
def test_a_submission_is_graded_in_the_unpacked_archive(autograder, namespaces):
    submission = autograder / "submission"
    submission.mkdir(exist_ok=True)
    right = (SOLUTIONS / EXERCISE.name / "right" / "scheduler.py").read_text()
    got = "def got():\n    raise SystemExit('it worked')\n"
    tries = [TRIES[what] for what in ("kills its parent", "calls home", "fills the disk")]
    (submission / "scheduler.py").write_text("".join([got, *tries, right]))
    results = autograder / "results" / "results.json"
    results.unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", str(autograder / "source" / "run_autograder")],
        preexec_fn=refuse_unshare if namespaces == "refused" else None,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(results.read_text())
    assert told["score"] == 100, told
    assert [each["status"] for each in told["tests"]] == ["passed"] * len(EXERCISE.cases)


def test_checks_import_no_package_but_those_that_are_installed_there():
    """One with a network and its recording, and one with a class in the place of a TCP."""
    script = f"""
import sys, tempfile
from pathlib import Path

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MISSING!r}:
            raise ModuleNotFoundError(f"{{name}} is not installed there")

sys.meta_path.insert(0, Missing())
from course import catalogue
from course.exercise import SOLUTIONS
from course.films import Films
from course.grading import command
from course.judge import judge

with tempfile.TemporaryDirectory() as folder:
    for name, case in (("first-router", "ping-and-tcp"), ("own-tcp", "slow-start")):
        films = Films(Path(folder), keeps_all=True, draws=True)
        right = SOLUTIONS / name / "right"
        judgement = judge(catalogue.find(name), right, seed="x", only=[case], films=films)
        print(name, judgement.points == judgement.out_of, judgement.verdicts[0].story)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout.splitlines() == ["first-router True None", "own-tcp True None"], done.stderr
    kept = gradescope.requirements().splitlines()
    assert "PyYAML==" in " ".join(kept)
    assert not [line for line in kept if line.partition("==")[0] in MISSING]
    assert all("==" in line for line in kept)


@pytest.mark.parametrize(
    ("said", "account", "remarks"),
    [
        ("Ada Lovelace", "Ada Lovelace", 0),
        ("ada", "Lovelace, Ada", 0),
        ("Charles Babbage", "Ada Lovelace", 1),
        ("Charles Babbage", None, 0),
    ],
)
def test_the_name_of_another_student_is_remarked_on(said, account, remarks, tmp_path):
    metadata = tmp_path / gradescope.METADATA
    if account:
        users = [{"id": 1, "email": "ada@example.org", "name": account}]
        metadata.write_text(json.dumps({"users": users}))
    graded = Graded("submission", said, Judgement(EXERCISE, said, ()), ())
    found = gradescope.compared(graded, metadata).remarks
    assert len(found) == remarks
    assert all(said in remark and account in remark for remark in found)
