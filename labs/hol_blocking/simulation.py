"""Part A: an N x N router in virtual time, by `vitrine-sim fabric`, against the literature.

Cells of one length arrive in slots, each for an output chosen at random. What FIFO input queues can
carry at most was computed exactly by Karol, Hluchyj and Morgan (1987) from the chain of the cells
at the heads of the queues; the mean wait of output queueing is theirs as well.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from controller.toolchain import ROOT
from labs.errors import MeasurementError

SIMULATOR = ROOT / "build" / "bin" / "vitrine-sim"

# Part of the lines that FIFO input queues carry at most, by the number of ports: exact, from the
# stationary distribution of the heads of the queues.
FIFO_SATURATION = {2: 0.750000, 4: 0.655242, 8: 0.618390, 16: 0.60162}
# For infinitely many ports: 2 - sqrt(2).
FIFO_SATURATION_LIMIT = 2 - 2**0.5


@dataclass(frozen=True)
class Point:
    """One load of one router."""

    load: float
    throughput: float
    wait_slots: float


def output_queueing_wait(ports: int, load: float) -> float:
    """Mean wait of an output-queued router, in slots, without the cell's own."""
    return (ports - 1) / ports * load / (2 * (1 - load))


def fifo_wait(load: float) -> float:
    """Mean wait of FIFO input queues with infinitely many ports, in slots."""
    root = 2**0.5
    return (2 - load) * (1 - load) / ((2 - root - load) * (2 + root - load)) - 1


def points(
    *, ports: int, queueing: str, arbiter: str, loads: Sequence[float], slots: int
) -> list[Point]:
    """Runs the simulator once for each load."""
    return [_point(ports, queueing, arbiter, load, slots) for load in loads]


def _point(ports: int, queueing: str, arbiter: str, load: float, slots: int) -> Point:
    argv = [
        *(str(SIMULATOR), "fabric", "--ports", str(ports), "--input", queueing),
        *("--arbiter", arbiter, "--load", f"{load:g}", "--slots", str(slots)),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasurementError(f"{' '.join(argv)} failed: {done.stderr.strip()}")
    return parse(done.stdout)


def parse(line: str) -> Point:
    """One line of the simulator."""
    document = json.loads(line)
    if not document["conserved"]:
        raise MeasurementError(f"the simulator lost cells: {line.strip()}")
    return Point(document["load"], document["throughput"], document["wait_slots"])
