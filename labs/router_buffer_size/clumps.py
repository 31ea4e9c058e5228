"""Windows that leave in one piece: why Cubic and Reno are slow before the original's tiny buffer.

    sudo build/venv/bin/python -m labs.router_buffer_size.clumps
    build/venv/bin/python -m labs.router_buffer_size.clumps virtual

Part of the handout. On a line of 10 Gb/s a window of 150 segments lasts 0.2 ms of a round trip of
20 ms, and nothing on the way spreads it out. If acknowledgements come evenly, so do the packets
that they release, no faster than the line carries them. Real hosts answer several packets at once
and send as many in one go, faster than the line: then the buffer has to hold most of a window.

Live, hosts are Linux, and one thing at a time is taken from them. In virtual time hosts answer in
no time at all; there each acknowledgement comes later, evenly distributed from zero up to so much,
and those behind it wait for it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from controller.toolchain import ROOT
from labs import worlds
from labs.bench import FlowPlan
from labs.experiment import Experiment
from labs.narration import Narrator
from labs.router_buffer_size.lab import NAMES, ORIGINAL_RATE_BPS, Findings, RouterBufferSize
from labs.run import Run
from labs.settings import Settings
from labs.world import World
from topo import units
from topo.model import Topology

LOGS = ROOT / "build" / "log" / "clumps"
# Ports of s1 and s2 toward the hosts.
EDGES = (1, 2)
ALGORITHMS = ("cubic", "reno")
# As long as the original's; every packet of virtual time is computed.
SECONDS = {World.LIVE: 90, World.VIRTUAL: 30}


@dataclass(frozen=True)
class Variant:
    """The settings that differ from the lab's."""

    what: str
    offloads: Mapping[str, bool] = field(default_factory=dict)
    # TCP spaces its packets over the round trip, as with the queueing discipline fq.
    paced: bool = False
    # How late acknowledgements may come.
    late_us: int = 0


_NO_SUPER_PACKETS = {"tso": False, "gso": False, "gro": False}
VARIANTS: Mapping[World, Sequence[Variant]] = {
    World.LIVE: (
        Variant("Linux, as the lab has it"),
        Variant("no super-packets: each segment leaves on its own", _NO_SUPER_PACKETS),
        Variant("paced: a window is spread over the round trip", paced=True),
    ),
    World.VIRTUAL: (
        *(Variant(f"up to {late_us} us", late_us=late_us) for late_us in (0, 100, 500, 1000, 5000)),
        Variant("up to 5000 us, and paced", late_us=5000, paced=True),
    ),
}
HEADS = {World.LIVE: "what was changed", World.VIRTUAL: "acknowledgements come late by"}


class _Changed(RouterBufferSize):
    """The lab with one thing set otherwise."""

    variant = Variant("")

    def topology(self, run: Run) -> Topology:
        network = super().topology(run).with_hosts(offloads=self.variant.offloads)
        for port in EDGES if self.variant.late_us else ():
            network = network.with_receive("s2", port, jitter_ns=1000 * self.variant.late_us)
        return network

    def plans(self, run: Run) -> Sequence[FlowPlan]:
        # A rate that is no limit of its own: TCP then spaces by window and round trip.
        pacing_bps = self.rate_bps if self.variant.paced else None
        return [replace(plan, pacing_bps=pacing_bps) for plan in super().plans(run)]


def rows(lab: _Changed) -> Generator[list[str], None, None]:
    """A row for each variant, with h1's throughput under each algorithm."""
    runs = [run for run in lab.runs() if run.name in [f"small-{name}" for name in ALGORITHMS]]
    variants = VARIANTS[lab.settings.world]
    narrator = Narrator(runs * len(variants), io.StringIO())
    with worlds.bench(lab.settings, LOGS, narrator) as bench:
        for lab.variant in variants:
            cells, disturbed = [], ""
            for run in runs:
                bench.narrator.begin(run)
                bench.begin(run.name)
                recording = lab.conduct(run, bench)
                bench.narrator.finished()
                found = Findings(recording, lab.window_s)
                cells.append(f"{units.format_rate(found.h1_bps)}, {found.retransmits} sent again")
                if recording.hold_ups.disturb:
                    disturbed = f"; {recording.hold_ups}"
            yield [f"{lab.variant.what}{disturbed}", *cells]


def main(world: World) -> int:
    """Returns the exit status."""
    lab = _Changed(Settings(rate_bps=ORIGINAL_RATE_BPS, seconds=SECONDS[world], world=world))
    name = f"clumps-{world.value}"
    live = world is World.LIVE
    command = (
        f"{'sudo ' if live else ''}build/venv/bin/python -m labs.router_buffer_size.clumps"
        f"{'' if live else ' virtual'}"
    )
    head = [HEADS[world], *(f"h1 with {NAMES[each]}" for each in ALGORITHMS)]
    print("the original: Cubic 86.4 Mb/s, 994 sent again; Reno 78.7 Mb/s, 1129 sent again")
    return Experiment(lab.name, name, command, head).conducted(rows(lab))


if __name__ == "__main__":
    sys.exit(main(World.named(next(iter(sys.argv[1:]), None))))
