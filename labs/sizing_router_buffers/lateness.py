"""How late hosts answer, and what that does to a flow with a buffer of 2 packets: in virtual time.

    build/venv/bin/python -m labs.sizing_router_buffers.lateness

Part of the handout. In virtual time a host answers in no time at all; here the cable on which
acknowledgements come adds a delay to each, evenly distributed from zero up to the one given.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator, Sequence
from dataclasses import replace

from controller.toolchain import ROOT
from labs import worlds
from labs.experiment import Experiment
from labs.narration import Narrator
from labs.run import Run
from labs.settings import Settings
from labs.sizing_router_buffers.findings import Findings
from labs.sizing_router_buffers.lab import BOTTLENECK, DELAYED, DELAYED_PACKETS, SizingRouterBuffers
from labs.world import World
from topo.model import Topology

LOGS = ROOT / "build" / "log" / "lateness"
SEEDS = (1, 2, 3)
LATENESS_US = (0, 50, 100, 300, 500, 1000)
COMMAND = "build/venv/bin/python -m labs.sizing_router_buffers.lateness"


class _Late(SizingRouterBuffers):
    """The lab with another lateness on the cable of the acknowledgements."""

    late_us = 0

    def topology(self, run: Run) -> Topology:
        late = {"jitter_ns": 1000 * self.late_us}
        return super().topology(run).with_receive("s1", BOTTLENECK, **late)


def measured(lab: _Late, run: Run) -> list[Findings]:
    """The flow with each seed."""
    found = []
    for seed in SEEDS:
        narrator = Narrator([run], io.StringIO())
        with worlds.bench(lab.settings, LOGS, narrator, seed=seed) as bench:
            bench.narrator.begin(run)
            bench.begin(run.name)
            recording = lab.conduct(run, bench)
        found.append(Findings(recording, lab.window_s, lab.rate_bps))
    return found


def cells(found: Sequence[Findings]) -> tuple[str, str]:
    """Throughput and loss of every seed."""
    rates = ", ".join(f"{each.throughput_bps / 1e6:.1f}" for each in found)
    losses = ", ".join(f"{each.loss:.2%}" for each in found)
    return f"{rates} Mb/s", losses


def rows(lab: _Late) -> Generator[list[str], None, None]:
    """A row for each lateness: throughput and loss with and without delayed acknowledgements."""
    (delayed,) = (run for run in lab.runs() if run.name == DELAYED)
    each_one = replace(delayed, name=f"buffer-{DELAYED_PACKETS}")
    for lab.late_us in LATENESS_US:
        pairs = (cells(measured(lab, run)) for run in (delayed, each_one))
        yield [f"{lab.late_us} us", *(cell for pair in pairs for cell in pair)]


def main() -> int:
    """Returns the exit status."""
    lab = _Late(Settings(world=World.VIRTUAL))
    head = ["answers come late by up to", "delayed acknowledgements", "loss rate"]
    head += ["every packet acknowledged", "lost"]
    return Experiment(lab.name, "lateness", COMMAND, head).conducted(rows(lab))


if __name__ == "__main__":
    sys.exit(main())
