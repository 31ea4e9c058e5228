"""`make labs-check`: all labs, and whether every band of each is met.

Live labs run one after the other, because they share a machine; in the virtual world, where that
changes nothing, as many run at a time as there are processors.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from controller.toolchain import ROOT, Toolchain
from labs import archive, catalogue
from labs.command import conduct
from labs.definition import Band, Lab, Verdict
from labs.errors import LabError
from labs.glass import beside
from labs.report.results import assessment_of
from labs.settings import Settings
from labs.world import World


def check(settings: Settings) -> None:
    """Runs all labs; raises what is not met."""
    found = _side_by_side(settings) if settings.world is World.VIRTUAL else _in_turn(settings)
    missed, unjudged = [], []
    for lab, bands in found:
        for band in bands:
            if band.verdict is Verdict.NOT_MET:
                missed.append(f"{lab}: {band}")
            elif band.verdict is Verdict.NOT_JUDGED:
                unjudged.append(f"{lab}: {band.claim}, because {band.unjudged}")
        print(flush=True)
    if unjudged:
        print("\n  ".join(["these bands are not judged:", *unjudged]))
    if missed:
        raise LabError("\n  ".join(["these bands are not met:", *missed]))


def _in_turn(settings: Settings) -> Iterator[tuple[str, Sequence[Band]]]:
    for kind in catalogue.LABS:
        if settings.toolchain is not Toolchain.VITRINE and kind.needs is not None:
            print(f"{kind.name}: skipped, it needs {kind.needs}.\n", flush=True)
            continue
        yield kind.name, conduct(kind(settings), sys.stdout).bands


def _side_by_side(settings: Settings) -> Iterator[tuple[str, Sequence[Band]]]:
    """Each lab in a process; the longest begin first, so that none is left alone at the end."""
    labs = [kind(settings) for kind in catalogue.LABS]
    labs.sort(key=lambda lab: sum(run.seconds for run in lab.runs()), reverse=True)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        futures = {lab.name: pool.submit(_run, lab, settings) for lab in labs}
        for kind in catalogue.LABS:
            print(futures[kind.name].result(), end="")
            kept = archive.find(kind.name)
            assert kept.results is not None, "it came to its end"
            yield kind.name, assessment_of(kept.results).bands


def _run(lab: Lab, settings: Settings) -> str:
    """What the lab's process says; SEEDS of the environment are one, unless somebody wants more."""
    done = subprocess.run(
        [sys.executable, "-m", "labs", "run", lab.name],
        capture_output=True,
        text=True,
        cwd=ROOT,
        # Nobody looks at a page whose address is said when the lab is over.
        env={**os.environ, "SEEDS": str(settings.seeds), "GLASS": beside.OFF},
        check=False,
    )
    if done.returncode != 0:
        raise LabError(f"{lab.name} ended early: {done.stderr.strip()}")
    return done.stdout
