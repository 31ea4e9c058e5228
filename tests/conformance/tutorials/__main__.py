"""The exercises of p4lang/tutorials, unmodified, on our compiler and switch.

    make conformance-tutorials TUTORIALS=<checkout of p4lang/tutorials>

Each exercise is copied, solved with its own solution, and started with its own Makefile; only PATH
is ours, so that `p4c-bm2-ss` and `simple_switch_grpc` are the programs in build/dropin. Then a
check does at the Mininet prompt what the exercise's README asks for. Nothing of the tutorials is
part of this repository. Logs, captures and a transcript of the prompt stay in `out/tutorials/`.

`--programs DIR` takes the two programs from another folder: with p4lang's own ones it shows that a
check holds for those too.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from controller import ownership
from tests.conformance.isolated.outcome import CheckError
from tests.conformance.isolated.prompt import Network
from tests.conformance.isolated.sandbox import ROOT, furnish, run_isolated
from tests.conformance.isolated.tools import furnish_path, interpreter

from .checks import EXERCISES, Exercise
from .staging import stage

OUT = ROOT / "out" / "tutorials"
# The slowest exercise takes half a minute on an idle machine; this is for busy ones.
DEADLINE_S = 600.0


def main() -> int:
    """Runs the requested exercises, prints the table, and returns a status: whether all passed."""
    parser = argparse.ArgumentParser(prog="make conformance-tutorials", description=__doc__)
    parser.add_argument("--tutorials", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "dropin")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="exercises; without any, all of them")
    arguments = parser.parse_args()
    chosen = [it for it in EXERCISES if not arguments.names or it.name in arguments.names]
    if not chosen:
        parser.error(f"there are: {', '.join(it.name for it in EXERCISES)}")
    if not (arguments.tutorials / "exercises").is_dir():
        parser.error("TUTORIALS must name a checkout of p4lang/tutorials")
    if arguments.inside:
        return _run_inside(chosen[0], arguments.tutorials, arguments.programs)
    for program in ("p4c-bm2-ss", "simple_switch_grpc"):
        if not os.access(arguments.programs / program, os.X_OK):
            parser.error(f"{arguments.programs / program} is not there: run `make build` first")
    passed = [_run(it, arguments.tutorials, arguments.programs) for it in chosen]
    ownership.give_to_caller(OUT)
    print(f"\n{sum(passed)} of {len(passed)} pass; logs are in {OUT.relative_to(ROOT)}/")
    return 0 if all(passed) else 1


def _run(exercise: Exercise, tutorials: Path, programs: Path) -> bool:
    """One line of the table."""
    started = time.monotonic()
    arguments = ["--tutorials", str(tutorials), "--programs", str(programs), exercise.name]
    try:
        run = run_isolated("tests.conformance.tutorials", arguments, DEADLINE_S)
        said = (run.stdout.strip() or run.stderr.strip() or "it said nothing").splitlines()[-1]
        passed = run.returncode == 0
    except subprocess.TimeoutExpired:
        said, passed = f"it did not end within {DEADLINE_S:g} s", False
    took = time.monotonic() - started
    print(f"{exercise.name:17} {'pass' if passed else 'FAIL'} {took:4.0f} s  {said}", flush=True)
    return passed


def _run_inside(exercise: Exercise, tutorials: Path, programs: Path) -> int:
    """The part that runs in a namespace of its own; its last line is what the table says."""
    furnish()
    scratch = OUT / re.sub(r"\W+", "_", exercise.name).strip("_")
    try:
        folder = stage(tutorials, exercise.folder, scratch)
        names = ("p4c-bm2-ss", "simple_switch_grpc")
        python = {"python3": interpreter(Path(sys.executable))}
        tools = furnish_path(scratch / "bin", programs, names, python)
        with Network(folder, ["make", "run", *exercise.arguments], tools) as network:
            said = exercise.check(network)
    except CheckError as error:
        print(f"{error} (see {scratch.relative_to(ROOT)})")
        return 1
    print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
