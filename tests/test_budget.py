"""A tier of tests that uses more than its budget fails, and names the counter."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from controller.toolchain import ROOT
from tests import budget

ENOUGH = {"tests": 2, "processes": 3, "browsers": 1, "virtual_s": 10}
CONFTEST = "from tests.conftest import pytest_addoption, pytest_configure\n"
TESTS = """
import subprocess

def test_one():
    subprocess.run(["true"])

def test_another():
    for _ in range(2):
        subprocess.run(["true"])
"""


def spent(**counters):
    return {each: Counter(counters.get(each, {})) for each in budget.COUNTERS}


def test_a_tier_within_its_budget_is_not_complained_of():
    whole = spent(tests={"a.py": 2}, browsers={"a.py": 1, "b.py": 1}, virtual_s={"b.py": 9.9})
    assert budget.excesses(whole, 2, ENOUGH) == []


@pytest.mark.parametrize("counter", budget.COUNTERS)
def test_the_counter_and_the_heaviest_files_are_named(counter):
    files = {f"{number}.py": number for number in range(1, 9)}
    (told,) = budget.excesses(spent(**{counter: files}), 1, ENOUGH)
    assert told.startswith(f"{counter}: 36 of {ENOUGH[counter]}.")
    assert told.endswith("most by 8.py (8), 7.py (7), 6.py (6), 5.py (5), 4.py (4)")


def test_the_budget_of_make_test_can_be_read():
    assert budget.read(Path(__file__).with_name("budget.toml"))["browsers"] == 1


@pytest.mark.parametrize(("processes", "status"), [(3, 0), (2, 1)])
def test_what_all_workers_use_is_judged_together(processes, status, tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    lines = [f"{each} = {much}" for each, much in (ENOUGH | {"processes": processes}).items()]
    (tmp_path / "budget.toml").write_text("\n".join(lines))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    flags = ["-n", "2", "-p", "no:cacheprovider", "--budget", tmp_path / "budget.toml"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *flags, tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    assert f"2 of 2 tests, 3 of {processes} processes, 0 of 1 browsers" in ran.stdout
    complaint = (
        "OVER BUDGET: processes: 3 of 2. Mark breadth `nightly`, or raise the budget; most by"
    )
    assert (complaint in ran.stdout) == (status == 1)
