"""Parsing of PTF's output, and the list of scripts."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.ptf.scripts import Outcome, expected, outcomes, scripts

SAID = """\
demo.Forwards ... ok
demo.Drops ... 2026-11-26 - root - INFO - a line of the test's own
ok
demo.Counts ... ERROR

======================================================================
ERROR: demo.Counts
----------------------------------------------------------------------
Traceback (most recent call last):
  File "demo.py", line 3, in runTest
    lengths[20]
IndexError: list index out of range

----------------------------------------------------------------------
Ran 3 tests in 2.467s

FAILED (errors=1)
"""


def test_each_test_is_found_and_why_it_failed() -> None:
    assert outcomes(SAID) == [
        Outcome("demo.Forwards", None),
        Outcome("demo.Drops", None),
        Outcome("demo.Counts", "IndexError: list index out of range"),
    ]
    assert outcomes("bash: ptf: command not found\n") == []


def test_scripts_of_other_switches_and_generated_tests_are_left_out(tmp_path: Path) -> None:
    for name in ("demo1/runptf.sh", "demo1/p4testgen-runptf.sh", "ipdk/sample/runptf.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert list(scripts(tmp_path)) == [Path("demo1/runptf.sh")]


def test_a_cause_may_be_of_one_script_alone() -> None:
    assert expected("lpmtester.BasicTest2", Path("lpmtester/lpmwidth20bits/runptf.sh"))
    assert expected("lpmtester.BasicTest2", Path("lpmtester/runptf.sh")) is None
