"""`vitrine run --all`: all labs, and whether every band of each is met.

Live labs run one after the other, because they share a machine; in the virtual world, where that
changes nothing, as many run at a time as there are processors.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from controller.addresses import Way
from controller.toolchain import ROOT, Toolchain
from labs import archive, catalogue, worlds
from labs.command import conduct
from labs.definition import Band, Lab, Verdict
from labs.errors import LabError
from labs.machine import processors
from labs.report.results import assessment_of
from labs.settings import Settings
from labs.world import World


def check(settings: Settings, way: Way = Way.SOCKET) -> None:
    """Runs all labs; raises what is not met."""
    labs = [kind(settings) for kind in catalogue.LABS if _can_run(kind, settings)]
    # Obstacles to the last of them are reported before the first of them starts.
    for lab in labs:
        worlds.check(lab.settings, lab.place.topology)
    found = _side_by_side(labs) if settings.world is World.VIRTUAL else _in_turn(labs, way)
    missed, unjudged = [], []
    for name, bands in found:
        for band in bands:
            if band.verdict is Verdict.NOT_MET:
                missed.append(f"{name}: {band}")
            elif band.verdict is Verdict.NOT_JUDGED:
                unjudged.append(f"{name}: {band.claim}, because {band.unjudged}")
        print(flush=True)
    if unjudged:
        print("\n  ".join(["these bands are not judged:", *unjudged]))
    if missed:
        raise LabError("\n  ".join(["these bands are not met:", *missed]))


def _can_run(kind: type[Lab], settings: Settings) -> bool:
    if settings.toolchain is Toolchain.VITRINE or kind.needs is None:
        return True
    print(f"{kind.name}: skipped, it needs {kind.needs}.\n", flush=True)
    return False


def _in_turn(labs: Sequence[Lab], way: Way) -> Iterator[tuple[str, Sequence[Band]]]:
    for lab in labs:
        yield lab.name, conduct(lab, sys.stdout, way=way).bands


def _side_by_side(labs: Sequence[Lab]) -> Iterator[tuple[str, Sequence[Band]]]:
    """Each lab in a process; the longest begin first, so that none is left alone at the end."""
    longest_first = sorted(labs, key=lambda lab: -sum(run.seconds for run in lab.runs()))
    with (
        # Their networks are up for seconds: who names a router means another network's.
        tempfile.TemporaryDirectory() as aside,
        ThreadPoolExecutor(processors()) as pool,
    ):
        names = {pool.submit(_run, lab, aside): lab.name for lab in longest_first}
        print(f"{len(labs)} labs in virtual time, the longest first, each told when it is done.\n")
        for done in as_completed(names):
            print(done.result(), end="")
            kept = archive.find(names[done])
            assert kept.results is not None, "it came to its end"
            yield names[done], assessment_of(kept.results).bands


def _run(lab: Lab, aside: str) -> str:
    """Runs a lab in a process of its own, and returns its output."""
    # Nobody looks at a page whose address is said when the lab is over.
    words = [lab.name, "--no-glass", f"--seeds={lab.settings.seeds}", "--world=virtual"]
    words += ["--quick"] if lab.settings.quick else []
    words += [f"--program={lab.settings.program}"] if lab.settings.program else []
    done = subprocess.run(
        [sys.executable, "-m", "vitrine", "run", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "VITRINE_RUN_DIR": aside},
        check=False,
    )
    if done.returncode != 0:
        raise LabError(f"{lab.name} ended early: {done.stderr.strip()}")
    return done.stdout
