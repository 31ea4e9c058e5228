"""The Makefile: what it lists and what it leaves to scripts."""

import re
import subprocess
from pathlib import Path

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
