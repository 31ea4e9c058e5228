"""Results of the timing, P4Runtime and Thrift tests, each by its id."""

from __future__ import annotations

import os
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tests.finished import finished
from tests.oracles import rust
from tests.oracles.running import ROOT, each
from tests.oracles.sections import Files
from tests.oracles.sizes import Sizes

# `traffic` has the timing scripts.
_CRATES = ("agent", "bmruntime", "p4runtime", "service", "thrift", "traffic")
_FOLDERS = ("tests/control", "tests/controller", "tests/programs", "tests/thrift")
_DEADLINE_S = 3600.0


def record(sizes: Sizes) -> Files:
    rust_lines = []
    for lines in each("crates", rust.test_programs(*_CRATES), _rust, 1):
        rust_lines += lines
    return {"rust.txt": rust_lines, "pytest.txt": _pytest(sizes.jobs)}


def _rust(program: rust.TestProgram) -> list[str]:
    done = program.run()
    results = [line for line in done.lines if line.startswith("test ") and " ... " in line]
    return [f"{program.crate} {program.target}: status {done.status}", *sorted(results)]


def _pytest(jobs: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        words = ("-q", "-m", "not live", "-n", jobs, "--junitxml", report, *_FOLDERS)
        command = (sys.executable, "-m", "pytest", *words)
        finished(command, _DEADLINE_S, folder=ROOT, environment=os.environ, typed="")
        cases = ElementTree.parse(report).iter("testcase")
        return sorted(
            f"{case.get('classname')}::{case.get('name')} {_outcome(case)}" for case in cases
        )


def _outcome(case: ElementTree.Element) -> str:
    bad = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    return " ".join(bad) or "passed"
