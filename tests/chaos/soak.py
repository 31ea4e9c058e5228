"""`make soak HOURS=8`: nothing goes wrong, for long; whatever grows is found.

Now and then: memory, descriptors and threads of routers and controller, the delays of datagrams,
what TCP carried. In the end each of them is drawn over time into out/soak and must not grow (see
`slope`), nor must throughput fall; and everything that must hold after a fault holds here too.

Delays and throughput are the machine's as well: where it held the routers up, as they say
themselves, these two are shown and not judged.
"""

from __future__ import annotations

import csv
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot

from controller.toolchain import ROOT
from tests.chaos import network, slope, span, traffic
from tests.chaos.holdings import Holdings
from tests.chaos.laws import LawError, Laws
from tests.chaos.network import Network
from topo.errors import TopologyError

# As many samples whatever the length: enough to draw, few enough to keep.
_SAMPLE_COUNT = 2000
_LEAST_BETWEEN_S = 1.0
_UP_S = 30.0
_CHECKS_EVERY = 50
_MIB = 1 << 20
# A lag that hosts feel, and for which share of the time a router may be so late and be judged.
_FELT_S, _HELD_UP_SHARE_MAX = 0.005, 0.001
_MACHINES_TOO = ("ms", "Mb/s")
# What nobody would mind: of memory over the whole run, of everything else as well.
_SHARE, _LEAST = 0.05, {"MiB": 4.0, "descriptors": 4.0, "threads": 2.0, "ms": 2.0}
Row = dict[str, float]


class Sampler:
    """Looks at a network again and again; what counts up it remembers from one time to the next."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._began_s = self._before_s = time.monotonic()
        self._bytes = network.tallies["tcp"]["bytes"]
        self._delays = traffic.delays_beside(network.live.logs / "udp").open("rb")
        # What was under way before anybody looked is not of the first sample.
        self._delays.read()

    def look(self) -> Row:
        """What is so now, and since the last time."""
        now_s, row = time.monotonic(), Row()
        row["time s"] = now_s - self._began_s
        pids = {name: self._network.pid(name) for name in self._network.routers}
        for name, pid in {**pids, "controller": os.getpid()}.items():
            held = Holdings.of(pid)
            row[f"{name} MiB"] = held.resident_bytes / _MIB
            row[f"{name} descriptors"] = held.descriptors
            row[f"{name} threads"] = held.threads
        carried = self._network.tallies["tcp"]["bytes"]
        row["TCP Mb/s"] = (carried - self._bytes) * 8e-6 / (now_s - self._before_s)
        self._before_s, self._bytes = now_s, carried
        # Each is written at once, so there is never half of one.
        delays_us = np.frombuffer(self._delays.read(), dtype=np.uint32)
        for percent in (50, 99):
            found_us = np.percentile(delays_us, percent) if len(delays_us) else float("nan")
            row[f"delay {percent} % ms"] = float(found_us) / 1000
        return row


def growing(rows: Sequence[Row], *, held_up: bool) -> list[str]:
    """What grows that must not, and throughput where it falls, in sentences."""
    said = []
    for name in rows[0]:
        if name == "time s" or (held_up and name.endswith(_MACHINES_TOO)):
            continue
        falls = name.endswith("Mb/s")
        try:
            found = slope.of([-row[name] if falls else row[name] for row in rows])
        except slope.OutageError as error:
            said.append(f"{name}: {error}")
            continue
        least = _LEAST.get(name.rpartition(" ")[2], 0.0)
        if found.grows(_SHARE, least):
            word = "falls" if falls else "grows"
            by = f"{found.growth:.3g} (± {found.error:.2g}) from {abs(found.start):.3g}"
            said.append(f"{name} {word} by {by}")
    return said


def draw(rows: Sequence[Row], file: Path) -> None:
    """One small picture below the other, with time across."""
    names = [name for name in rows[0] if name != "time s"]
    figure, axes = pyplot.subplots(len(names), figsize=(9, 1.3 * len(names)), sharex=True)
    for name, axis in zip(names, axes, strict=True):
        axis.plot([row["time s"] / 60 for row in rows], [row[name] for row in rows], linewidth=0.8)
        axis.set_title(name, loc="left", fontsize=8)
    axes[-1].set_xlabel("minutes")
    figure.tight_layout()
    figure.savefig(file)
    pyplot.close(figure)


def run(folder: Path, seconds: float) -> tuple[list[Row], float]:
    """The network for so long, and for how many seconds of it the machine held a router up; raises
    what does not hold meanwhile."""
    between_s = max(_LEAST_BETWEEN_S, seconds / _SAMPLE_COUNT)
    rows: list[Row] = []
    with network.up(folder) as up, (folder / "soak.csv").open("w", newline="") as file:
        laws = Laws(up)
        laws.await_return(_UP_S)
        sampler, end_s = Sampler(up), time.monotonic() + seconds
        pause = threading.Event()
        while time.monotonic() < end_s and not pause.wait(between_s):
            rows.append(sampler.look())
            writer = csv.DictWriter(file, list(rows[0]))
            if len(rows) == 1:
                writer.writeheader()
            writer.writerow(rows[-1])
            file.flush()
            if len(rows) % _CHECKS_EVERY == 0:
                laws.check()
        laws.await_return(_UP_S)
        laws.check()
        held_up_s = max(queues.held_up_s(_FELT_S) for queues in up.queues.values())
    return rows, held_up_s


def main() -> int:
    """Returns the exit status."""
    folder = ROOT / "out" / "soak"
    try:
        hours = os.environ.get("HOURS") or "8"
        seconds = span.seconds(f"{hours}h")
        rows, held_up_s = run(folder, seconds)
        draw(rows, folder / "soak.svg")
        held_up = held_up_s > _HELD_UP_SHARE_MAX * seconds
        grows = growing(rows, held_up=held_up)
    except (LawError, TopologyError, ValueError) as error:
        print(f"vitrine: {error}\nWhat all of them said is in {folder}.", file=sys.stderr)
        return 1
    medians = {name: float(np.nanmedian([row[name] for row in rows])) for name in rows[0]}
    for name, median in medians.items():
        if name != "time s":
            print(f"{name:<24} {median:>8.1f} in the median, {rows[-1][name]:>8.1f} at the end")
    print(f"Drawn: {folder / 'soak.svg'}")
    if held_up:
        print(
            f"The machine held a router up for {held_up_s:.1f} s: delays and throughput are not "
            "judged. Run it again when the machine has nothing else to do."
        )
    for sentence in grows:
        print(f"vitrine: {sentence}.", file=sys.stderr)
    return 1 if grows else 0


if __name__ == "__main__":
    sys.exit(main())
