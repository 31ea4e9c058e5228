"""Our compiler and switch against the corpora of p4lang/p4c.

    make conformance P4C=<checkout of p4lang/p4c>

None of that project's files is part of this repository; they are read from the checkout, and what
is made of them stays in `out/conformance/`. Five categories, one line each:

* compile: programs that p4c's simple_switch back end compiles; ours must, too;
* p4info: the P4Info of the same programs must be the same message;
* run: the `.stf` packet tests of these programs, on our switch;
* psa: the packet tests of programs for psa_switch, from source;
* reject: programs with errors; ours must refuse them, and say so on the same line first.

The names of what fails, with the reason, are in `out/conformance/CATEGORY.txt`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .textproto import same_message

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "conformance"
# No program of the corpus may take this long; a second is the goal, the rest is for slow machines.
DEADLINE_S = 20
# Programs for other architectures, and for externs that a switch would have to bring along.
OTHER_ARCHITECTURES = re.compile(
    r"#include\s*[<\"](?:[\w./]*/)?(?:psa|pna|ubpf_model|ebpf_model|dpdk)\w*\.p4"
)
V1MODEL = re.compile(r"#include\s*[<\"][\w./]*v1model\.p4[>\"]")


@dataclass(frozen=True)
class Tools:
    """Where the programs under test are."""

    p4c: Path
    compiler: Path
    sim: Path
    include: Path

    @property
    def samples(self) -> Path:
        return self.p4c / "testdata" / "p4_16_samples"

    @property
    def outputs(self) -> Path:
        return self.p4c / "testdata" / "p4_16_samples_outputs"


@dataclass
class Category:
    """The number of attempts, and the failures by name, with the reason."""

    name: str
    total: int = 0
    failures: dict[str, str] = field(default_factory=dict)

    def record(self, name: str, reason: str | None) -> None:
        self.total += 1
        if reason is not None:
            self.failures[name] = reason

    def line(self) -> str:
        passed = self.total - len(self.failures)
        share = 100 * passed / self.total if self.total else 0.0
        return f"{self.name:8} {passed:4} of {self.total:4}  {share:5.1f} %"

    def write(self) -> None:
        lines = [f"{name}: {reason}" for name, reason in sorted(self.failures.items())]
        (OUT / f"{self.name}.txt").write_text("".join(f"{line}\n" for line in lines))


def run(command: list[str | Path]) -> tuple[int, str]:
    """Exit status and everything printed; a program that hangs has the status of a killed one."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -9, f"no answer within {DEADLINE_S} s"
    return done.returncode, done.stdout.decode(errors="replace")


def first_error(output: str) -> str:
    """The line of the output that says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line or "panicked" in line]
    return (errors or lines or ["no message"])[0]


def compile_program(tools: Tools, program: Path, out: Path) -> tuple[int, str]:
    return run(
        [
            tools.compiler,
            "-I",
            tools.include,
            "--p4runtime-files",
            out.with_suffix(".p4info.txtpb"),
            "-o",
            out.with_suffix(".json"),
            program,
        ]
    )


def run_stf(tools: Tools, program: Path, out: Path) -> str | None:
    """Why the packet test of a program fails; `None` when it passes."""
    stf = program.with_suffix(".stf")
    status, output = run([tools.sim, "stf", out.with_suffix(".json"), stf])
    return None if status == 0 else first_error(output)


def check_program(tools: Tools, name: str, categories: dict[str, Category]) -> None:
    """Compiles one program, compares its P4Info and runs its packets."""
    program = tools.samples / f"{name}.p4"
    out = OUT / "programs" / f"{name}.out"
    status, output = compile_program(tools, program, out)
    failure = None if status == 0 else f"exit status {status}: {first_error(output)}"
    categories["compile"].record(name, failure)

    expected = tools.outputs / f"{name}.p4.p4info.txtpb"
    if expected.exists():
        reason = failure and "does not compile"
        if reason is None:
            ours = out.with_suffix(".p4info.txtpb").read_text()
            reason = same_message(ours, expected.read_text())
        categories["p4info"].record(name, reason)

    if program.with_suffix(".stf").exists() and tools.sim.exists():
        reason = "does not compile" if failure else run_stf(tools, program, out)
        categories["run"].record(name, reason)


def check_psa(tools: Tools, name: str, category: Category) -> None:
    """Compiles a program for psa_switch and runs its packets."""
    program = tools.samples / f"{name}.p4"
    out = OUT / "programs" / f"{name}.out"
    status, output = compile_program(tools, program, out)
    if status == 0:
        category.record(name, run_stf(tools, program, out))
    else:
        category.record(name, f"exit status {status}: {first_error(output)}")


def psa_programs(tools: Tools) -> list[str]:
    """Programs for psa_switch with packet tests."""
    return sorted(test.stem for test in tools.samples.glob("psa-*-bmv2.stf"))


def reported_line(path: Path, program: Path) -> int | None:
    """The line of the first error in what p4c printed for a wrong program."""
    pattern = re.compile(rf"{re.escape(program.name)}\((\d+)\): \[--Werror=[\w-]+\] error")
    found = pattern.search(path.read_text(errors="replace"))
    return int(found.group(1)) if found else None


def check_rejected(tools: Tools, program: Path, expected: int, category: Category) -> None:
    """A wrong program must be refused, with the first error on the line p4c reports."""
    out = OUT / "programs" / f"{program.stem}.rejected"
    status, output = compile_program(tools, program, out)
    if status == 0:
        category.record(program.stem, f"accepted; line {expected} is wrong")
    elif status not in (1, 2):
        category.record(program.stem, f"exit status {status}: {first_error(output)}")
    else:
        # Warnings may come before it, as in p4c's output.
        place = re.search(rf"{re.escape(program.name)}:(\d+):\d+: error", output)
        line = int(place.group(1)) if place else 0
        reason = None if line == expected else f"says line {line}, p4c line {expected}"
        category.record(program.stem, reason)


def wrong_programs(tools: Tools) -> list[tuple[Path, int]]:
    """Programs with errors in the language or v1model, and the line of the first error."""
    folder = tools.p4c / "testdata" / "p4_16_errors"
    outputs = tools.p4c / "testdata" / "p4_16_errors_outputs"
    found = []
    for program in sorted(folder.glob("*.p4")):
        stderr = outputs / f"{program.name}-stderr"
        if OTHER_ARCHITECTURES.search(program.read_text(errors="replace")) or not stderr.exists():
            continue
        line = reported_line(stderr, program)
        if line is not None:
            found.append((program, line))
    return found


def good_programs(tools: Tools, listed: Path | None) -> list[str]:
    """The programs to compile: those of the list, or all for v1model that p4c has outputs of."""
    if listed is not None and listed.exists():
        return listed.read_text().split()
    names = []
    for program in sorted(tools.samples.glob("*.p4")):
        has_info = (tools.outputs / f"{program.name}.p4info.txtpb").exists()
        if has_info and V1MODEL.search(program.read_text(errors="replace")):
            names.append(program.stem)
    return names


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description="p4c's corpora, our programs")
    parser.add_argument("--p4c", type=Path, required=True, help="a checkout of p4lang/p4c")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin", help="our programs")
    parser.add_argument("--list", type=Path, help="names of the programs to compile, one a line")
    parser.add_argument("--only", nargs="*", help="only programs with these names")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    tools = Tools(
        p4c=options.p4c,
        compiler=options.bin / "vitrine-p4c",
        sim=options.bin / "vitrine-sim",
        include=ROOT / "p4src" / "include",
    )
    if not tools.samples.is_dir():
        print(f"{tools.samples} is not there: P4C must name a checkout of p4lang/p4c")
        return 2
    (OUT / "programs").mkdir(parents=True, exist_ok=True)
    categories = {name: Category(name) for name in ("compile", "p4info", "run", "psa", "reject")}
    wanted = set(options.only or [])
    names = [name for name in good_programs(tools, options.list) if not wanted or name in wanted]
    wrong = [
        (program, line)
        for program, line in wrong_programs(tools)
        if not wanted or program.stem in wanted
    ]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        for name in names:
            workers.submit(check_program, tools, name, categories)
        for name in psa_programs(tools):
            if not wanted or name in wanted:
                workers.submit(check_psa, tools, name, categories["psa"])
        for program, line in wrong:
            workers.submit(check_rejected, tools, program, line, categories["reject"])
    for category in categories.values():
        category.write()
        print(category.line())
    print(f"names and reasons: {OUT.relative_to(ROOT)}/CATEGORY.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
