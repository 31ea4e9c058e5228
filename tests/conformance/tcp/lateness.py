"""Cells with hosts that are late in other ways: what of a difference the machine may have made.

    python -m tests.conformance.tcp.lateness                   the cells that are not met
    python -m tests.conformance.tcp.lateness cubic,codel bbr   cells whose names have these words

For each lateness it tells the figures of the virtual runs, and what of them does not agree with the
live runs. `chance` is how often three seeds of the virtual world would not agree with three others
of the same world.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Mapping, Sequence

from tests.conformance.tcp import archive, judge, virtual
from tests.conformance.tcp.cells import Cell, named
from tests.conformance.tcp.measurement import Figures, figures

# By up to how much.
LATE_US = (0, 50, 100, 200, 400)
_GROUP = archive.REPETITIONS


def main() -> None:
    """Prints a block for each cell."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("cells", nargs="*", help="words of their names, joined by commas")
    arguments.add_argument("--seeds", type=int, default=_GROUP, help="of each lateness")
    arguments.add_argument("--only", nargs="*", type=int, help="of the latenesses, in us")
    chosen = arguments.parse_args()
    for cell in named(chosen.cells):
        live = archive.read(cell)
        if live is None or (not chosen.cells and _agrees(cell, live.runs)):
            continue
        runs = {
            late_us: [
                figures(cell, virtual.measure(cell, seed, late_us))
                for seed in range(1, chosen.seeds + 1)
            ]
            for late_us in chosen.only or LATE_US
        }
        _tell(cell, live.runs, runs)


def _agrees(cell: Cell, live: Sequence[Figures]) -> bool:
    runs = [virtual.measure(cell, seed) for seed in range(1, _GROUP + 1)]
    return not _missed(cell, live, [figures(cell, run) for run in runs])


def _tell(cell: Cell, live: Sequence[Figures], runs: Mapping[int, Sequence[Figures]]) -> None:
    print(f"{cell.name}\n  {'in Linux':>16}: {_words(cell, live)}")
    for late_us, found in runs.items():
        missed = ", ".join(_missed(cell, live, found)) or "agrees"
        chance = f"; chance {_chance(cell, found):.0%}" if len(found) >= 2 * _GROUP else ""
        print(f"  {f'to {late_us} us':>16}: {_words(cell, found)}: {missed}{chance}", flush=True)


def _words(cell: Cell, runs: Sequence[Figures]) -> str:
    mean = statistics.mean
    words = (
        f"{mean(one.utilisation for one in runs):.1%} used, queue "
        f"{mean(one.queue_packets for one in runs):.2f}, "
        f"{mean(one.drops for one in runs):.0f} dropped"
    )
    if cell.flows > 1:
        least, most = (mean(values) for values in _shares(runs))
        words += f", shares {least:.3f} to {most:.3f}"
    return words


def _shares(runs: Sequence[Figures]) -> tuple[list[float], list[float]]:
    return [one.share_min for one in runs], [one.share_max for one in runs]


def _missed(cell: Cell, live: Sequence[Figures], found: Sequence[Figures]) -> list[str]:
    return [it.what for it in judge.compare(cell, live, found) if not it.is_met]


def _chance(cell: Cell, runs: Sequence[Figures]) -> float:
    """The part of pairs of groups, in the order of their seeds, that do not agree."""
    groups = [runs[first : first + _GROUP] for first in range(0, len(runs) - _GROUP + 1, _GROUP)]
    pairs = list(itertools.permutations(groups, 2))
    return sum(bool(_missed(cell, one, other)) for one, other in pairs) / len(pairs)


if __name__ == "__main__":
    main()
