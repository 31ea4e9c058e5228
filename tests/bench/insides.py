"""`make bench-insides`: decisions a second of the built-in parts as Python classes.

Each class runs where it decides, a router of `vitrine-sim` or a host of a virtual network, and a
copy of it looks at the clock when it is first asked and when it has been asked often enough. So a
number holds all that a user waits for between two questions: the router, the pipe and the class.
"""

from __future__ import annotations

import io
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vitrine.v1 import world_pb2

from controller.errors import ControllerError
from controller.toolchain import ROOT
from controller.world import PS_PER_S
from labs import classes
from labs.machine import processors
from labs.narration import Narrator
from labs.simulator import SIMULATOR
from labs.worlds.virtual.bench import VirtualBench
from topo import load
from topo.document import Place

# Decisions per second that a class of some thirty lines must reach.
LEAST_PER_S = 20_000
RUNS = 3
WARM, COUNT = 2_000, 20_000
# An upper bound that no run reaches; a run ends when its class has made enough decisions.
LONG = 1_000_000

TIMED = """
import functools, json, sys, time
sys.path.insert(0, {root!r})
from {module} import {name} as Own
asked, began = 0, 0.0

def timed(method):
    @functools.wraps(method)
    def ask(*given):
        global asked, began
        asked += 1
        if asked == {warm}:
            began = time.perf_counter()
        elif asked == {warm} + {count}:
            with open({result!r}, "w") as file:
                json.dump({count} / (time.perf_counter() - began), file)
            raise RuntimeError("asked often enough")
        return method(*given)
    return ask

class {name}(Own):
    pass

for each in {methods!r}:
    setattr({name}, each, timed(getattr(Own, each)))
"""
TRIVIAL = """
from insides import Arbiter

class First(Arbiter):
    def match(self, asks, now):
        for output, inputs in enumerate(asks):
            if inputs:
                return [(inputs[0], output)]
        return []
"""
NETWORK = """
hosts:
  h1: {{address: 10.0.1.1/24, tcp: {{congestion: "{decider}"}}}}
  h2: {{address: 10.0.2.1/24}}
switches:
  s1:
    ports:
      1: {{address: 10.0.1.254/24, rate: 1 Gb/s}}
      2: {{address: 10.0.2.254/24, rate: 100 Mb/s, queue: 200 packets}}
links:
  - [h1, "s1:1"]
  - {{ends: ["s1:2", h2], delay: 5 ms}}
"""


@dataclass(frozen=True)
class Subject:
    """A class, the methods in which it decides, and what has it decide."""

    title: str
    module: str
    name: str
    methods: tuple[str, ...]
    run: Callable[[str], None]


def fabric(ports: int, iterations: int) -> Callable[[str], None]:
    """A crossbar that is nearly full."""
    size = ["--ports", str(ports), "--load", "0.9", "--slots", str(LONG)]
    return lambda decider: _sim("fabric", *size, "--arbiter", f"{decider}:{iterations}")


def scheduler(decider: str) -> None:
    """A line with three classes that always have packets."""
    _sim("queue", "--loads", "0.5,0.5,0.5", "--seconds", str(LONG), "--scheduler", decider)


def aqm(decider: str) -> None:
    """A line with too much to do."""
    _sim("queue", "--loads", "1.2", "--seconds", str(LONG), "--aqm", decider)


def transfer(decider: str) -> None:
    """A flow that fills a line of 100 Mb/s."""
    # A topology names classes of its own folder only.
    file = Path(decider).with_name("topology.yaml")
    of = load.read(Place.of_text(NETWORK.format(decider=decider), file))
    with (
        tempfile.TemporaryDirectory() as logs,
        VirtualBench(Path(logs), Narrator((), io.StringIO())) as bench,
    ):
        bench.bring_up(of)
        bench.world.start("h2", world_pb2.App(listener=world_pb2.Listener(port=5001)))
        bulk = world_pb2.Bulk(to=world_pb2.Peer(host="h2", port=5001), span_ns=10**12)
        bench.world.start("h1", world_pb2.App(bulk=bulk))
        try:
            bench.world.advance(1000 * PS_PER_S)
        except ControllerError as error:
            if "asked often enough" not in str(error):
                raise


def _sim(*words: str) -> None:
    done = subprocess.run(
        [str(SIMULATOR), *words], capture_output=True, text=True, env=classes.environment()
    )
    if "asked often enough" not in done.stderr:
        raise SystemExit(f"vitrine-sim {' '.join(words)}: {done.stderr}")


_EXAMPLES = "insides.examples"
_CONGESTION = ("grow", "lost")
SUBJECTS = (
    Subject("an arbiter of one pair, 8 ports", "trivial", "First", ("match",), fabric(8, 1)),
    Subject("iSLIP, 8 ports", f"{_EXAMPLES}.islip", "Islip", ("match",), fabric(8, 1)),
    Subject("iSLIP, 16 ports", f"{_EXAMPLES}.islip", "Islip", ("match",), fabric(16, 1)),
    Subject("PIM, 8 ports", f"{_EXAMPLES}.pim", "Pim", ("match",), fabric(8, 1)),
    Subject("DRR", f"{_EXAMPLES}.drr", "Drr", ("choose",), scheduler),
    Subject("WFQ", f"{_EXAMPLES}.wfq", "Wfq", ("choose",), scheduler),
    Subject("CoDel", f"{_EXAMPLES}.codel", "CoDel", ("departure",), aqm),
    Subject("Reno", f"{_EXAMPLES}.reno", "Reno", _CONGESTION, transfer),
    Subject("CUBIC", f"{_EXAMPLES}.cubic", "Cubic", (*_CONGESTION, "measured"), transfer),
)


def measure(subject: Subject, count: int = COUNT) -> float:
    """Decisions a second."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trivial.py").write_text(TRIVIAL)
        file, result = folder / "timed.py", folder / "result.json"
        # Started by root, the class runs as the user nobody.
        folder.chmod(0o755)
        result.touch()
        result.chmod(0o666)
        file.write_text(
            TIMED.format(
                root=str(ROOT),
                module=subject.module,
                name=subject.name,
                methods=subject.methods,
                warm=WARM,
                count=count,
                result=str(result),
            )
        )
        subject.run(f"{file}:{subject.name}")
        return float(json.loads(result.read_text()))


def main() -> int:
    """Measures all; 1 if one is too slow."""
    print(f"Python {platform.python_version()}, {processors()} processors, median of {RUNS} runs")
    too_slow = 0
    for subject in SUBJECTS:
        found = [measure(subject) for _ in range(RUNS)]
        per_s = statistics.median(found)
        too_slow += per_s < LEAST_PER_S
        mark = "" if per_s >= LEAST_PER_S else f"  below {LEAST_PER_S:,}"
        print(
            f"{subject.title:32} {per_s:9,.0f} decisions/s "
            f"({min(found):,.0f} to {max(found):,.0f}){mark}",
            flush=True,
        )
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
