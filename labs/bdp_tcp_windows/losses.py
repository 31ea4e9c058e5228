"""How much buffer BBR needs for which loss: one flow for each pair of them.

    build/venv/bin/python -m labs.bdp_tcp_windows.losses virtual

Part of the handout. A line of 100 Mb/s, ten seconds a flow. In the live world it needs root.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator

from controller.toolchain import ROOT
from labs import worlds
from labs.bdp_tcp_windows.lab import RTT_S, BdpTcpWindows, Findings
from labs.experiment import Experiment
from labs.frames import bdp_bytes
from labs.narration import Narrator
from labs.run import AROUND_S, Run
from labs.settings import Settings
from labs.world import World

LOGS = ROOT / "build" / "log" / "bdp-losses"
RATE_BPS = 100_000_000
SECONDS = 10
# Of the hosts' buffers, in bandwidth-delay products; those of the lab are the second and the last.
BUFFERS_BDP = (1.05, 2.1, 4.2, 8.4)
LOSSES_PPM = (0, 10_000, 50_000)


def runs() -> list[list[Run]]:
    """A row for each buffer, a flow for each loss."""
    bdp = bdp_bytes(RATE_BPS, RTT_S)
    return [
        [
            Run(
                f"{size:g}-bdp-{loss_ppm}-ppm",
                f"A buffer of {size:g} BDP, {loss_ppm / 1e4:g} % lost",
                SECONDS + AROUND_S,
                {"buffer_bytes": round(size * bdp), "congestion": "bbr", "loss_ppm": loss_ppm},
            )
            for loss_ppm in LOSSES_PPM
        ]
        for size in BUFFERS_BDP
    ]


def rows(lab: BdpTcpWindows) -> Generator[list[str], None, None]:
    """A row for each buffer: the window that is offered, and what each loss leaves of the line."""
    grid = runs()
    narrator = Narrator([run for row in grid for run in row], io.StringIO())
    with worlds.bench(lab.settings, LOGS, narrator) as bench:
        for size, row in zip(BUFFERS_BDP, grid, strict=True):
            found = []
            for run in row:
                bench.narrator.begin(run)
                bench.begin(run.name)
                found.append(Findings(lab.conduct(run, bench)))
                bench.narrator.finished()
            window = found[0].window_bytes / bdp_bytes(RATE_BPS, RTT_S)
            shares = (f"{each.rate_bps / RATE_BPS:.0%} of the line" for each in found)
            yield [f"{size:.3g} BDP", f"{window:.1f} BDP", *shares]


def main(world: World) -> int:
    """Returns the exit status."""
    lab = BdpTcpWindows(Settings(rate_bps=RATE_BPS, seconds=SECONDS, world=world))
    losses = (f"{loss_ppm / 1e4:g} % lost" if loss_ppm else "no loss" for loss_ppm in LOSSES_PPM)
    command = f"build/venv/bin/python -m labs.bdp_tcp_windows.losses {world.value}"
    head = ["buffer", "window offered", *losses]
    return Experiment(lab.name, "losses", command, head).conducted(rows(lab), sep=", ")


if __name__ == "__main__":
    sys.exit(main(World.named(next(iter(sys.argv[1:]), None))))
