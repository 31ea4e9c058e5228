"""`vitrine-sim` as an instrument: a router of cells slot by slot, or one port under random traffic.

    waits = simulator.measure([Router(16, "voq", "islip:4", loads=(0.5, 0.8), slots=100_000)])

Cells of one length arrive in slots, each for an output that the pattern chooses. What comes back is
a list of points for each router, a point for each load. Routers run beside each other, as many as
there are processors; none of them changes another's numbers. `mean_waits` is of one port.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

from controller.toolchain import ROOT
from labs import classes
from labs.errors import MeasurementError
from labs.machine import processors

SIMULATOR = ROOT / "build" / "bin" / "vitrine-sim"


@dataclass(frozen=True)
class Point:
    """One load of one router."""

    load: float
    throughput: float
    # Without the slot in which the cell leaves.
    wait_slots: float
    # The part of it before the fabric.
    input_wait_slots: float = 0.0


@dataclass(frozen=True)
class Router:
    """A router and its traffic, in the words of `vitrine-sim fabric --help`."""

    ports: int
    queueing: str
    arbiter: str
    loads: Sequence[float]
    slots: int
    # Slots before those that count; None: a tenth of them.
    warm_up: int | None = None
    pattern: str = "uniform"
    speedup: str = "1"
    seed: int = 1

    @property
    def argv(self) -> list[str]:
        """The command."""
        warm_up = [] if self.warm_up is None else ["--warm-up", str(self.warm_up)]
        loads = ",".join(f"{load:g}" for load in self.loads)
        return [
            *(str(SIMULATOR), "fabric", "--ports", str(self.ports), "--input", self.queueing),
            *("--arbiter", self.arbiter, "--speedup", self.speedup, "--pattern", self.pattern),
            *("--load", loads, "--slots", str(self.slots), *warm_up, "--seed", str(self.seed)),
        ]


def measure(routers: Sequence[Router]) -> list[list[Point]]:
    """The points of each router, in their order."""
    with ThreadPoolExecutor(processors()) as pool:
        return list(pool.map(points, routers))


def points(router: Router) -> list[Point]:
    """A point for each load of one router."""
    return [parse(line) for line in _output(router.argv).splitlines()]


def parse(line: str) -> Point:
    """One line of the simulator."""
    document = json.loads(line)
    if not document["conserved"]:
        raise MeasurementError(f"the simulator lost cells: {line.strip()}")
    return Point(
        document["load"],
        document["throughput"],
        document["wait_slots"],
        document.get("input_wait_slots", 0.0),
    )


def output_queueing_wait(ports: int, load: float) -> float:
    """Mean wait of an output-queued router, in slots: Karol, Hluchyj and Morgan, 1987."""
    return (ports - 1) / ports * load / (2 * (1 - load))


# ---- one port ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OnePort:
    """A port whose classes get packets of one length at random, by `vitrine-sim queue --help`."""

    # Of each class as a part of the line; the highest class is the last.
    loads: Sequence[float]
    scheduler: str
    packets: int
    seed: int = 1

    RATE_BPS: ClassVar = 8_000_000
    LENGTH_BYTES: ClassVar = 1000

    @property
    def argv(self) -> list[str]:
        """The command; a packet takes a millisecond."""
        loads = ",".join(f"{load:g}" for load in self.loads)
        seconds = self.packets * self.LENGTH_BYTES * 8 / self.RATE_BPS
        return [
            *(str(SIMULATOR), "queue", "--rate", f"{self.RATE_BPS} b/s", "--loads", loads),
            *("--scheduler", self.scheduler, "--lengths", str(self.LENGTH_BYTES)),
            *("--seconds", f"{seconds:g}", "--seed", str(self.seed)),
        ]


def mean_waits(port: OnePort) -> list[float]:
    """The mean wait of each class's packets, in packet times, without their own."""
    document = json.loads(_output(port.argv))
    if not document["conserved"]:
        raise MeasurementError("the simulator lost packets.")
    packet_us = port.LENGTH_BYTES * 8 / port.RATE_BPS * 1e6
    return [each["wait_us"] / packet_us for each in document["classes"]]


def _output(argv: Sequence[str]) -> str:
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env=classes.environment()
    )
    if done.returncode != 0:
        raise MeasurementError(f"{' '.join(argv)} failed: {done.stderr.strip()}")
    return done.stdout
