"""Programs of the BMv2 world, unmodified, with our compiler in the place of theirs.

    make conformance-guests CHECKOUTS=<folder of checkouts>

CHECKOUTS holds checkouts of the projects in `projects.py`, under their names; those that are not
there are left out and named. Three columns a project:

* compile: every program with a `main` of v1model or PSA, by `p4c-bm2-ss` of build/dropin, run in
  the program's folder as the projects' Makefiles do, in every flavour that these build. What is not
  meant to compile is in `expected.py` with its cause, and is counted apart;
* p4info: where the project ships P4Info for a program, ours must say the same to controllers;
* stf: where it ships scripts of packets, they must pass, on BMv2 JSON that is shipped beside them
  or on the program that we compile.

None of these projects' files is part of this repository. What failed stands with its reason in
`out/conformance-guests/PROJECT.txt`. What the projects do with their networks is run by targets of
their own, which the last lines name.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.guests.shipped import same_to_controllers

from .expected import cause
from .projects import PROJECTS, Program, Project, checkout_of, programs
from .running import failure_of
from .scripts import run, scripts

ROOT = Path(__file__).resolve().parents[3]
OUT = ROOT / "out" / "conformance-guests"
SIMULATOR = ROOT / "build" / "bin" / "vitrine-sim"


@dataclass
class Result:
    """The results of a project's programs: failures by name, with the reason, and counts."""

    compiled: int = 0
    compared: int = 0
    # Programs that are not meant to compile and do not: why.
    expected: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    differences: dict[str, str] = field(default_factory=dict)
    scripts: int = 0
    # Packets of scripts that did not come out as written: by program, the first.
    lost: dict[str, str] = field(default_factory=dict)

    def line(self, name: str) -> str:
        """The project's line in the table."""
        passed = f"{self.compiled - len(self.failures)} of {self.compiled}"
        same = f"{self.compared - len(self.differences)} of {self.compared}"
        line = f"{name:12} compile {passed:>12}    p4info {same:>12}"
        if self.scripts:
            line += f"    stf {self.scripts - len(self.lost)} of {self.scripts}"
        return line + (f"    not meant to do so {len(self.expected)}" if self.expected else "")

    def write(self, name: str) -> None:
        """Leaves the reasons in a file."""
        lines = [f"expected {which}: {why}" for which, why in sorted(self.expected.items())]
        lines += [f"compile {which}: {why}" for which, why in sorted(self.failures.items())]
        lines += [f"p4info {which}: {why}" for which, why in sorted(self.differences.items())]
        lines += [f"stf {which}: {why}" for which, why in sorted(self.lost.items())]
        (OUT / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))


def compile_program(
    compiler: Path, flags: Sequence[str], program: Program, made: Path
) -> str | None:
    """Compiles one program; returns why not, if not."""
    info = made.with_suffix(".p4info.txtpb")
    command = [str(compiler), *flags, *program.flags, "--p4v", "16", "--p4runtime-files", str(info)]
    command += ["-o", str(made), program.path.name]
    failure = failure_of(
        command, program.path.parent, lambda lines: [line for line in lines if "error" in line]
    )
    return failure and failure.strip()


def check(compiler: Path, project: Project, root: Path) -> Result:
    """Compiles all programs of a project and compares what it ships."""
    result = Result()
    flags = [flag.format(root=root) for flag in (*project.flags, *project.switch_flags)]
    p4info_flags = [flag.format(root=root) for flag in project.flags]
    folder = OUT / "programs" / project.name
    folder.mkdir(parents=True, exist_ok=True)
    found = list(programs(root, project.flavours))

    def one(number: int) -> tuple[str | None, str | None]:
        made = folder / f"{number}.json"
        failure = compile_program(compiler, flags, found[number], made)
        shipped = found[number].p4info
        if shipped is None or failure is not None:
            return failure, failure and "does not compile"
        if p4info_flags != flags:
            failure = compile_program(compiler, p4info_flags, found[number], made)
            if failure is not None:
                return None, failure
        ours = made.with_suffix(".p4info.txtpb").read_text()
        return None, same_to_controllers(ours, shipped.read_text())

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        told = list(workers.map(one, range(len(found))))
    for program, (failure, difference) in zip(found, told, strict=True):
        name = program.name
        why = cause(project.name, program.path.relative_to(root).as_posix())
        if why is not None and failure is not None:
            result.expected[name] = f"{why}: {failure}"
            continue
        result.compiled += 1
        if why is not None:
            failure = f"compiles, but expected.py has it as {why}"
        if failure is not None:
            result.failures[name] = failure
        if program.p4info is not None:
            result.compared += 1
            if difference is not None:
                result.differences[name] = difference
    _run_scripts(result, project, root)
    return result


def _run_scripts(result: Result, project: Project, root: Path) -> None:
    for script in scripts(root):
        name = script.name(root)
        lost, why = run(SIMULATOR, script), cause(project.name, name)
        if why is not None and lost is not None:
            result.expected[name] = f"{why}: {lost}"
            continue
        result.scripts += 1
        if why is not None:
            lost = f"passes, but expected.py has it as {why}"
        if lost is not None:
            result.lost[name] = lost


def main() -> int:
    """Prints the table; the status says whether anything failed."""
    parser = argparse.ArgumentParser(prog="make conformance-guests", description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--compiler", type=Path, default=ROOT / "build/dropin/p4c-bm2-ss")
    arguments = parser.parse_args()
    if not arguments.checkouts.is_dir():
        parser.error(
            "CHECKOUTS must name a folder with checkouts: make conformance-guests CHECKOUTS=.."
        )
    if not os.access(arguments.compiler, os.X_OK):
        parser.error(f"{arguments.compiler} is not there: run `make build` first")
    failed = missing = 0
    for project in PROJECTS:
        root = checkout_of(project, arguments.checkouts)
        if root is None:
            missing += 1
            print(f"{project.name:12} not in {arguments.checkouts}")
            continue
        result = check(arguments.compiler.absolute(), project, root.absolute())
        result.write(project.name)
        print(result.line(project.name), flush=True)
        failed += len(result.failures) + len(result.differences) + len(result.lost)
    print(f"names and reasons: {OUT.relative_to(ROOT)}/PROJECT.txt\nnot run here:")
    for project in PROJECTS:
        if project.elsewhere:
            print(f"{project.name:12} {project.elsewhere}")
    if missing == len(PROJECTS):
        print(f"none of the projects is in {arguments.checkouts}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
