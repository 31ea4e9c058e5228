"""P4Testgen's tests of programs, on our compiler and switch.

    make conformance-testgen ORACLE=<folder of p4testgen> [P4C=<checkout of p4lang/p4c>] [SMITH=100]

P4Testgen, of the P4 project, goes symbolically through a program and makes a test of each path that
it finds: table entries, a packet, and what must come out, by its own reading of the language and of
v1model. Our compiler compiles the program; machine code, then the interpreter play each test. Up to
four groups of programs, a line each:

* kit: the programs of p4src/programs for v1model;
* packets: those of tests/packets;
* samples: with P4C=, the programs for v1model among p4c's own, and those of P4Testgen's tests;
* smith: with SMITH=100, so many that p4smith makes at random and p4c compiles.

Nothing of that project is part of this repository, nor are the tests: they stay in
`out/conformance-testgen`, where GROUP.txt says what failed and why, and, if ORACLE has p4c-bm2-ss
and simple_switch_grpc, too, what these do with the same test. What P4Testgen reads otherwise than
the specification or simple_switch is in `expected.py`, with the cause.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .expected import cause
from .programs import Group, Program, groups, random_programs
from .tools import ROOT, Tools
from .witness import Witness

OUT = ROOT / "out" / "conformance-testgen"
# At most this many failures per program are repeated with simple_switch, which takes seconds each.
_WITNESSED = 3


@dataclass
class Outcome:
    """The outcome of one program."""

    name: str
    tests: int = 0
    # Why there are no tests of it: P4Testgen does not know something that it has.
    ungenerated: str | None = None
    # Tests that did not pass, by number, and why; all of them if it did not compile.
    failures: dict[str, str] = field(default_factory=dict)
    # Why its tests may fail.
    known: str | None = None

    @property
    def passed(self) -> int:
        """How many tests did."""
        return self.tests - len(self.failures)

    @property
    def unexplained(self) -> int:
        """The number of failures without a known cause."""
        return 0 if self.known else len(self.failures)

    def lines(self) -> list[str]:
        """The lines of the report about it."""
        if self.ungenerated is not None:
            return [f"no tests {self.name}: {self.ungenerated}"]
        if self.known and self.tests and not self.failures:
            return [f"passes {self.name}, though expected.py says: {self.known}"]
        kind = f"expected ({self.known})" if self.known else "failed"
        return [f"{kind} {self.name} {number}: {why}" for number, why in self.failures.items()]


@dataclass(frozen=True)
class Bench:
    """The tools and settings of tests."""

    tools: Tools
    most: int = 20
    seed: int = 1
    witness: Witness | None = None


def check(bench: Bench, program: Program, folder: Path) -> Outcome:
    """Makes tests of a program in a folder and plays them."""
    tools = bench.tools
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcome = Outcome(program.name)
    outcome.ungenerated = tools.tests(program.source, folder, most=bench.most, seed=bench.seed)
    # TEST_2 before TEST_10.
    scripts = sorted(folder.glob("*.stf"), key=lambda path: (len(path.name), path.name))
    outcome.tests = len(scripts)
    if not scripts:
        return outcome
    compiled = folder / "program.json"
    refused = tools.compiled(program.source, compiled)
    for script in scripts:
        want_silence_where_nothing_is_expected(script)
        told = refused or tools.played(compiled, script)
        if told is None:
            continue
        if bench.witness and not refused and len(outcome.failures) < _WITNESSED:
            told += f" ({bench.witness.says(program.source, script)})"
        outcome.failures[script.stem.rpartition("_")[2]] = told
    return outcome


def want_silence_where_nothing_is_expected(script: Path) -> None:
    """P4Testgen marks a drop by the lack of `expect`; our scripts need `no_packet` to check it."""
    text = script.read_text("utf-8")
    if not any(each.startswith("expect ") for each in text.splitlines()):
        script.write_text(f"{text}no_packet\n", "utf-8")


def line(name: str, outcomes: Sequence[Outcome]) -> str:
    """A group's line in the table."""
    tested = [each for each in outcomes if each.tests]
    passed = sum(each.passed for each in tested)
    unexplained = sum(each.unexplained for each in tested)
    known = sum(len(each.failures) for each in tested) - unexplained
    return (
        f"{name:8} programs {len(tested):4} of {len(outcomes):4}    "
        f"tests {passed:5} of {passed + unexplained:5}"
        + (f"    P4Testgen reads it otherwise {known}" if known else "")
    )


def check_group(bench: Bench, group: Group) -> int:
    """Prints a group's line and leaves the reasons in a file; how many tests failed."""

    def one(program: Program) -> Outcome:
        outcome = check(bench, program, OUT / group.name / program.name)
        outcome.known = cause(group.name, program.name)
        return outcome

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        outcomes = list(workers.map(one, group.programs))
    told = [each for outcome in outcomes for each in outcome.lines()]
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / f"{group.name}.txt").write_text("".join(f"{each}\n" for each in told), "utf-8")
    print(line(group.name, outcomes), flush=True)
    return sum(each.unexplained for each in outcomes)


def arguments() -> argparse.Namespace:
    """The arguments, from the variables of make or from flags."""

    def told(name: str) -> str:
        return os.environ.get(name, "")

    parser = argparse.ArgumentParser(prog="make conformance-testgen", description=__doc__)
    parser.add_argument("--oracle", type=Path, default=Path(told("ORACLE") or "."))
    parser.add_argument("--p4c", type=Path, default=Path(told("P4C")) if told("P4C") else None)
    parser.add_argument("--smith", type=int, default=int(told("SMITH") or 0))
    parser.add_argument("--most", type=int, default=int(told("MOST") or 20))
    parser.add_argument("--only", nargs="*", default=told("ONLY").split())
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if not os.access(given.oracle / "p4testgen", os.X_OK):
        parser.error(
            f"there is no p4testgen in {given.oracle}: ORACLE must name its folder, as in "
            "make conformance-testgen ORACLE=../p4c/build"
        )
    return given


def main() -> int:
    """The status says whether anything failed."""
    given = arguments()
    oracle = given.oracle.absolute()
    tools = Tools(oracle)
    witness = Witness(oracle) if Witness.is_there(oracle) else None
    bench = Bench(tools, given.most, given.seed, witness)
    chosen = list(groups(given.p4c and given.p4c.absolute()))
    if given.smith:
        seeds = range(given.seed, given.seed + given.smith)
        chosen.append(random_programs(tools, OUT / "programs", seeds))
    failed = 0
    for group in chosen:
        failed += check_group(bench, group.only(given.only))
    print(f"names and reasons: {OUT.relative_to(ROOT)}/GROUP.txt")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
