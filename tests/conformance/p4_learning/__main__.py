"""The networks of nsg-ethz/p4-learning, unmodified, on p4-utils with our compiler and switch.

    make conformance-p4-learning CHECKOUTS=<folder of checkouts> P4UTILS=<its Python>

P4UTILS is an interpreter that has p4-utils, which is installed outside this repository; only PATH
and PYTHONPATH are ours, so that `p4c`, `simple_switch`, `simple_switch_grpc` and
`simple_switch_CLI` are those in build/dropin, and the modules of Thrift those in guests. Each
network is copied, started as its README says, and a check does what the README asks for. Nothing
of p4-learning is part of this repository. Logs and a transcript of the prompt stay in
`out/p4-learning/`.

Names (`examples/ecmp`, or a part of one) choose some of the networks.
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
from tests.conformance.guests.projects import Project, checkout_of
from tests.conformance.isolated.outcome import CheckError
from tests.conformance.isolated.prompt import Network
from tests.conformance.isolated.sandbox import ROOT, furnish, run_isolated
from tests.conformance.isolated.tools import furnish_path, interpreter

from .checks import check_of
from .networks import Described, networks, stage

OUT = ROOT / "out" / "p4-learning"
PROGRAMS = ("p4c", "simple_switch", "simple_switch_grpc", "simple_switch_CLI")
# The longest adds 50,000 entries, one call an entry, and changes them all; on busy machines.
DEADLINE_S = 900.0


def main() -> int:
    """Runs the requested checks, prints the table, and returns a status: whether all passed."""
    parser = argparse.ArgumentParser(prog="make conformance-p4-learning", description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "dropin")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="parts of names of networks; without any, all")
    arguments = parser.parse_args()
    if not arguments.checkouts.is_dir():
        parser.error("CHECKOUTS must name a folder with a checkout of p4-learning")
    checkout = checkout_of(Project("p4-learning"), arguments.checkouts)
    if checkout is None:
        parser.error(f"p4-learning is not in {arguments.checkouts}")
    if not _has_p4utils(arguments.python):
        parser.error(f"P4UTILS must name a Python that has p4-utils: {arguments.python} has none")
    chosen = [it for it in networks(checkout) if _is_chosen(it, arguments.names)]
    if not chosen:
        parser.error(f"no network of {checkout} has {' or '.join(arguments.names)} in its name")
    if arguments.inside:
        return _run_inside(chosen[0], checkout, arguments.python, arguments.programs)
    passed = sum([_run(it, arguments) for it in chosen])
    ownership.give_to_caller(OUT)
    print(f"\n{passed} of {len(chosen)} pass; logs are in {OUT.relative_to(ROOT)}/")
    return 0 if passed == len(chosen) else 1


def _has_p4utils(python: Path) -> bool:
    probe = [str(python), "-c", "import p4utils, mininet"]
    return os.access(python, os.X_OK) and subprocess.run(probe, capture_output=True).returncode == 0


def _is_chosen(network: Described, names: list[str]) -> bool:
    return not names or any(name in network.name for name in names)


def _run(network: Described, arguments: argparse.Namespace) -> bool:
    """One line of the table; true if it passed."""
    started = time.monotonic()
    inside = ["--checkouts", str(arguments.checkouts.absolute())]
    inside += ["--python", str(arguments.python.absolute())]
    inside += ["--programs", str(arguments.programs.absolute()), network.name]
    try:
        run = run_isolated("tests.conformance.p4_learning", inside, DEADLINE_S)
        said = (run.stdout.strip() or run.stderr.strip() or "it said nothing").splitlines()[-1]
        passed = run.returncode == 0
    except subprocess.TimeoutExpired:
        said, passed = f"it did not end within {DEADLINE_S:g} s", False
    took = time.monotonic() - started
    verdict = "pass" if passed else "FAIL"
    print(f"{network.name:76} {verdict} {took:4.0f} s  {said}", flush=True)
    return passed


def _run_inside(network: Described, checkout: Path, python: Path, programs: Path) -> int:
    """The part that runs in namespaces of its own; its last line is what the table says."""
    furnish()
    scratch = OUT / re.sub(r"\W+", "_", network.name)
    try:
        folder = stage(checkout, network, scratch)
        tools = furnish_path(scratch / "bin", programs, PROGRAMS, _scripts(python))
        with Network(folder, network.command, tools, {"PYTHONPATH": str(ROOT / "guests")}) as it:
            said = check_of(network)(it)
    except CheckError as error:
        print(f"{' '.join(str(error).split())} (see {scratch.relative_to(ROOT)})")
        return 1
    print(said)
    return 0


def _scripts(python: Path) -> dict[str, str]:
    """The commands that p4-utils brings, and Python."""
    run = interpreter(python)
    p4run = f'exec {python.absolute()} {python.absolute().parent / "p4run"} "$@"'
    # Like Mininet's `m`: a command in the namespaces of a host.
    enter = 'host=$1; shift; exec mnexec -a "$(pgrep -f "mininet:$host\\$" | head -1)" "$@"'
    return {"python": run, "python3": run, "p4run": p4run, "mx": enter}


if __name__ == "__main__":
    sys.exit(main())
