"""The names of all tests: pytest's ids of every tier, and those of each Rust crate."""

from __future__ import annotations

import sys

from tests.oracles import rust
from tests.oracles.running import run
from tests.oracles.sections import Files, SectionError
from tests.oracles.sizes import Sizes


def record(sizes: Sizes) -> Files:
    return {"pytest.txt": _pytest(), "rust.txt": _rust()}


def _pytest() -> list[str]:
    done = run(sys.executable, "-m", "pytest", "--collect-only", "-q", "tests")
    if done.status != 0:
        raise SectionError(f"pytest cannot collect all tests:\n{done.output[-2000:]}")
    return sorted(line for line in done.lines if "::" in line)


def _rust() -> list[str]:
    """Names under their crate, so that a moved crate changes one line."""
    lines = []
    for program in rust.test_programs():
        names = program.run("--list", "--format", "terse").lines
        lines.append(f"{program.crate} {program.target}")
        lines += sorted(f"  {name.removesuffix(': test')}" for name in names)
    return lines
