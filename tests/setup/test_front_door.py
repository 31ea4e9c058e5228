"""The Makefile: what it lists and what it leaves to scripts."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()


def targets():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    return phony.split()


def test_help_lists_every_target_with_a_comment():
    listing = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    listed = re.findall(r"^  make (\S+) +\S", listing, re.MULTILINE)
    assert listed == targets()


def test_help_is_what_plain_make_says():
    plain = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listing = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert plain.stdout == listing.stdout


def test_targets_hold_no_logic():
    recipes = re.findall(r"^\t(.*)$", MAKEFILE, re.MULTILINE)
    assert recipes
    for recipe in recipes:
        assert not re.search(r"\b(if|for|while)\b|[;|&]", recipe), recipe


def test_ci_runs_the_tests_and_nothing_else():
    commands = [
        line
        for line in (ROOT / ".ci" / "run").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert commands == ['exec make --no-print-directory -C "$(dirname "$0")/.." test']


def test_no_script_and_no_python_file_sleeps():
    """Waiting is for a condition with a deadline; topo/wait.py is the one place that pauses."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.py", "*.sh", "Makefile", ".ci/run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    sleeping = [name for name in tracked if re.search(r"\bsleep[ (]", (ROOT / name).read_text())]
    assert sleeping == ["topo/wait.py"]


@pytest.mark.parametrize(
    ("target", "written", "meant"),
    [
        ("bench", "QUIK=1", "did you mean QUICK?"),
        ("chaos", "SEEDS=3", "did you mean SEED?"),
        ("check", "NAM=own-aqm", "did you mean NAME?"),
        ("interop", "INN=work", "did you mean IN?"),
        ("vscode", "NAME=p4", "it takes none."),
        ("compare", "C=bufferbloat", "there are: A, B."),
        ("down", "NOW=1", "it takes none."),
        ("exercise", "NAMES=own-aqm", "did you mean NAME?"),
        ("glass", "LESSONS=bufferbloat", "did you mean LESSON?"),
        ("metrics", "ROUTR=s1", "did you mean ROUTER?"),
        ("reload", "PROGRAMM=my.p4", "did you mean PROGRAM?"),
        ("report", "RUNS=bufferbloat", "did you mean RUN?"),
        ("results", "LABS=bufferbloat", "did you mean LAB?"),
        ("shell", "ROUTE=s1", "did you mean ROUTER?"),
        ("sweep", "SWEEPS=who-wins", "did you mean SWEEP?"),
        ("top", "ROUTERS=s1", "did you mean ROUTER?"),
        ("trace", "FLOWS=*->*", "did you mean FLOW?"),
    ],
)
def test_a_setting_that_is_misspelt_is_refused_before_anything_is_set_up(target, written, meant):
    # Not as the make that runs the tests has been called.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    refused = subprocess.run(
        ["make", target, written], cwd=ROOT, capture_output=True, text=True, env=environment
    )
    assert refused.returncode != 0
    name = written.partition("=")[0]
    assert refused.stderr.splitlines()[0] == f"vitrine: there is no setting {name}: {meant}"
    assert refused.stdout == ""


# Labs and prompts check their settings in Python, each in the user's words; `provision` is for a
# machine on which nothing is yet, and `help` takes anything.
BY_THEMSELVES = {"help", "run", "lab", "labs-check", "up", "provision"}


def test_every_target_refuses_what_it_does_not_take():
    recipes = re.findall(r"^([a-z-]+): +##.*\n((?:\t.*\n|if.*\n)*)", MAKEFILE, re.MULTILINE)
    careless = {target for target, recipe in recipes if "vm/takes.sh" not in recipe}
    assert careless == BY_THEMSELVES


def test_what_help_says_that_a_target_takes_it_takes():
    for target, said, taken in re.findall(
        r"^([a-z-]+): +## (.*)\n(?:if.*\n)?\t@vm/takes.sh(.*)$", MAKEFILE, re.MULTILINE
    ):
        settings = set(re.findall(r"\b([A-Z]+[0-9]?)=", said)) - {"GLASS"}
        assert settings <= set(taken.split()), target
