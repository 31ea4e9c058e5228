"""Losses one by one and losses in a row: what netem's dice cost the original's flows.

    build/venv/bin/python -m labs.router_buffer_size.bursts

Part of the handout. netem decides once for what the kernel hands it, which is a super-packet of up
to 45 frames. So it loses as many packets as the lab does, but up to 45 at a time, and TCP takes
those for one loss. Here both are tried on the original's line of 10 Gb/s, in virtual time: several
minutes of one processor.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator

from controller.toolchain import ROOT
from labs import worlds
from labs.experiment import Experiment
from labs.narration import Narrator
from labs.router_buffer_size.lab import LINE, NAMES, ORIGINAL_RATE_BPS, Findings, RouterBufferSize
from labs.run import Run
from labs.settings import Settings
from labs.world import World
from topo import units
from topo.model import Topology

LOGS = ROOT / "build" / "log" / "loss-bursts"
SECONDS = 60
BURSTS_PACKETS = (1, 10, 45)
LOSSY = ("lossy-cubic", "lossy-reno")
COMMAND = "build/venv/bin/python -m labs.router_buffer_size.bursts"


class _InBursts(RouterBufferSize):
    """The lab with losses in a row."""

    burst_packets = 1

    def topology(self, run: Run) -> Topology:
        in_a_row = {"loss_burst_packets": self.burst_packets if self.burst_packets > 1 else None}
        return super().topology(run).with_transmit("s1", LINE, **in_a_row)


def rows(lab: _InBursts) -> Generator[list[str], None, None]:
    """A row for each length of losses, with h1's throughput under each algorithm."""
    runs = {run.name: run for run in lab.runs() if run.name in LOSSY}
    for lab.burst_packets in BURSTS_PACKETS:
        cells = []
        for name in LOSSY:
            narrator = Narrator([runs[name]], io.StringIO())
            with worlds.bench(lab.settings, LOGS, narrator) as bench:
                bench.narrator.begin(runs[name])
                bench.begin(name)
                found = Findings(lab.conduct(runs[name], bench), lab.window_s)
            cells.append(f"{units.format_rate(found.h1_bps)}, {found.retransmits} sent again")
        in_a_row = "1" if lab.burst_packets == 1 else f"{lab.burst_packets} in the mean"
        yield [in_a_row, *cells]


def main() -> int:
    """Returns the exit status."""
    settings = Settings(rate_bps=ORIGINAL_RATE_BPS, seconds=SECONDS, world=World.VIRTUAL)
    lab = _InBursts(settings)
    head = ["frames lost in a row", *(f"h1 with {NAMES[name[6:]]}" for name in LOSSY)]
    return Experiment(lab.name, "bursts", COMMAND, head).conducted(rows(lab))


if __name__ == "__main__":
    sys.exit(main())
