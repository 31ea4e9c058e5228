"""PTF tests of jafingerhut/p4-guide, unmodified, on our compiler and switch.

    make conformance-ptf CHECKOUTS=<folder of checkouts> PTF=<a Python with ptf and p4runtime-shell>

Each `runptf.sh` is run as it is, in a namespace that has the pairs of virtual devices that it asks
for; only PATH is ours, so that `p4c` and `simple_switch_grpc` are those in build/dropin. One line a
script; what it said lies in `out/ptf/`. Nothing of p4-guide is part of this repository.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from controller import ownership
from tests.conformance.guests.projects import Project, checkout_of
from tests.conformance.isolated.sandbox import ROOT, furnish, run_isolated
from tests.conformance.isolated.tools import furnish_path, interpreter

from .scripts import expected, outcomes, scripts

OUT = ROOT / "out" / "ptf"
PROGRAMS = ("p4c", "simple_switch_grpc")
# The longest sends 9,000 packets and waits a tenth of a second for each answer.
DEADLINE_S = 1800.0
# The scripts give the switch veth0, veth2 and so on, and PTF the other ends.
DEVICE_COUNT = 18


def main() -> int:
    """Runs the requested scripts, prints the table, and returns a status: whether all passed."""
    parser = argparse.ArgumentParser(prog="make conformance-ptf", description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "dropin")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="parts of names of scripts; without any, all")
    arguments = parser.parse_args()
    if not arguments.checkouts.is_dir():
        parser.error("CHECKOUTS must name a folder with a checkout of p4-guide")
    checkout = checkout_of(Project("p4-guide"), arguments.checkouts)
    if checkout is None:
        parser.error(f"p4-guide is not in {arguments.checkouts}")
    if not _has_ptf(arguments.python):
        parser.error(f"PTF must name a Python with ptf and p4runtime-shell: {arguments.python}")
    names = arguments.names
    chosen = [it for it in scripts(checkout) if not names or any(name in str(it) for name in names)]
    if not chosen:
        parser.error(f"no script of {checkout} has {' or '.join(names)} in its name")
    if arguments.inside:
        return _run_inside(chosen[0], arguments.python, arguments.programs)
    told = [_run(it, checkout, arguments) for it in chosen]
    ownership.give_to_caller(OUT)
    passed, failed, known = (sum(counts) for counts in zip(*told, strict=True))
    print(f"\n{passed} of {passed + failed} tests pass, {known} cannot; logs are in out/ptf/")
    return 1 if failed else 0


def _has_ptf(python: Path) -> bool:
    probe = [str(python), "-c", "import ptf, p4runtime_sh"]
    return os.access(python, os.X_OK) and subprocess.run(probe, capture_output=True).returncode == 0


def _run(script: Path, checkout: Path, arguments: argparse.Namespace) -> tuple[int, int, int]:
    """One line of the table; returns how many tests passed, failed and cannot pass."""
    started = time.monotonic()
    scratch = _scratch(script)
    if scratch.exists():
        shutil.rmtree(scratch)
    shutil.copytree(checkout / script.parts[0], scratch / script.parts[0])
    # Modules that the tests import.
    shutil.copytree(checkout / "testlib", scratch / "testlib")
    inside = ["--checkouts", str(arguments.checkouts.absolute())]
    inside += ["--python", str(arguments.python.absolute())]
    inside += ["--programs", str(arguments.programs.absolute()), script.as_posix()]
    try:
        said = run_isolated("tests.conformance.ptf", inside, DEADLINE_S).stdout
    except subprocess.TimeoutExpired as stopped:
        said = (stopped.stdout or b"").decode(errors="replace")
    (scratch / "said.txt").write_text(said)
    run = outcomes(said)
    known = [it for it in run if expected(it.name, script) and it.failure]
    wrong = [it for it in run if it.failure and it not in known]
    # One that is listed and passes is a failure of the list.
    wrong += [it for it in run if expected(it.name, script) and not it.failure]
    passed = len(run) - len(known) - len(wrong)
    why = [f"{it.name}: {it.failure or 'passes, but is listed'}" for it in wrong]
    why += [f"{it.name} cannot: {expected(it.name, script)}" for it in known]
    if not run:
        why, wrong = ["no test was begun"], [*wrong, *run]
    failed = len(wrong) or int(not run)
    took = time.monotonic() - started
    print(f"{script.as_posix():45} {passed} of {passed + failed} {took:5.0f} s  {'; '.join(why)}")
    sys.stdout.flush()
    return passed, failed, len(known)


def _scratch(script: Path) -> Path:
    return OUT / re.sub(r"\W+", "_", script.as_posix())


def _run_inside(script: Path, python: Path, programs: Path) -> int:
    """The part that runs in its own namespaces: the script, with its devices and programs."""
    furnish()
    for number in range(0, DEVICE_COUNT, 2):
        pair = [f"veth{number}", f"veth{number + 1}"]
        _ip("link", "add", pair[0], "type", "veth", "peer", "name", pair[1])
        for device in pair:
            # Nobody but the tests speaks there.
            Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6").write_text("1")
            _ip("link", "set", device, "up")
    run = interpreter(python)
    ptf = f'exec {python.absolute()} {python.absolute().parent / "ptf"} "$@"'
    commands = {"python3": run, "ptf": ptf}
    tools = furnish_path(_scratch(script) / "bin", programs, PROGRAMS, commands)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    folder = _scratch(script) / script.parent
    done = subprocess.run(
        [f"./{script.name}"], cwd=folder, env=environment, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
