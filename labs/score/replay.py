"""One run as a page: the queue packet by packet, and what each system believed at each instant.

    write(bench, [named("conquest"), named("polling-1ms")], WORKLOADS["adversary"], file)

The page is a recording of the first system's network. Each system's claims come from a run of its
own with the same traffic, and are compared with the truth of that run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labs.glass.tape import Tape
from labs.score import beliefs, network
from labs.score.claim import Claim
from labs.score.line import ONE_GIGABIT, Line
from labs.score.run import THRESHOLD_BYTES, Bench, Run
from labs.score.scoring import matched
from labs.score.system import System
from labs.score.truth import BuildUp
from labs.score.workloads import Workload

LESSON = "who-sees-the-queue"
# A second of the viewer shows a millisecond.
_PACE = 1e-3
# As many flows as a sentence can hold.
_CULPRITS_MAX = 4


def write(
    bench: Bench,
    systems: Sequence[type[System]],
    workload: Workload,
    file: Path,
    *,
    seed: int = 1,
    line: Line = ONE_GIGABIT,
) -> dict[str, Run]:
    """Writes the page; the runs by system."""
    tape = Tape(
        f"{workload.name} on {line}",
        interval_ms=0,
        lesson=LESSON,
        pace=_PACE * line.slower / line.faster,
    )
    found = beliefs.runs(bench, systems, workload, seed, line, tape)
    tape.beliefs = told(found)
    tape.write(file)
    return found


def told(found: Mapping[str, Run]) -> dict[str, Any]:
    """For the page: the depth of the first run, build-ups, and the claims of each system."""
    first = next(iter(found.values()))
    port, class_ = network.BOTTLENECK
    return {
        "router": network.ROUTER,
        "port": port,
        "class": class_,
        "thresholdBytes": THRESHOLD_BYTES,
        "depth": [[change.time_ps, change.bytes] for change in first.truth.changes],
        "buildups": [_span(each) for each in first.buildups],
        "systems": [_system(name, run) for name, run in found.items()],
    }


def _system(name: str, run: Run) -> dict[str, Any]:
    hosts = _hosts(run.line)
    own, false = matched(run.claims, run.buildups)
    return {
        "name": name,
        "claims": [
            {
                **_span(claim),
                "knownPs": claim.detected_ps,
                "peakBytes": claim.peak_bytes,
                "isRight": claim not in false,
                "culprits": _culprits(claim, hosts),
            }
            for claim in run.claims
        ],
        # Null: it never knew.
        "buildups": [
            {
                **_span(each),
                "crossedPs": each.crossed_ps,
                "knownPs": min((claim.detected_ps for claim in claims), default=None),
            }
            for each, claims in zip(run.buildups, own, strict=True)
        ],
    }


def _span(of: Claim | BuildUp) -> dict[str, int]:
    return {"beginPs": of.begin_ps, "endPs": of.end_ps}


def _hosts(line: Line) -> dict[int, str]:
    return {
        int(address.ip): host.name
        for host in network.topology(line).hosts
        for address in host.addresses
    }


def _culprits(claim: Claim, hosts: Mapping[int, str]) -> list[str]:
    """The flows with the most packets, as text."""
    if claim.culprits is None:
        return []
    return [
        f"{hosts[flow.source]} → {hosts[flow.destination]}:{flow.destination_port}, {packets}"
        for flow, packets in claim.culprits.most_common(_CULPRITS_MAX)
    ]
