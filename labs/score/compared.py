"""`vitrine score --live`: runs on a live network beside the same runs in virtual time.

Live packets come at other instants, so no two runs are the same. A system agrees if its live
numbers lie within the spread of its virtual ones over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from labs.score import table
from labs.score.line import Line
from labs.score.live import LiveBench, LiveRun
from labs.score.live import check as live_check
from labs.score.numbers import Numbers, numbers
from labs.score.run import Bench
from labs.score.systems import named
from labs.score.workloads import WORKLOADS
from topo.units import counted

# A run that the machine delayed is repeated this often.
_TRIES = 5
# Numbers of a program and not of a run: the same in both worlds.
_SAME = {"memory_kib", "steps_per_packet"}
COLUMNS = [each for each in table.COLUMNS if each[1] not in _SAME]


@dataclass(frozen=True)
class Compared:
    """The runs of a system under a workload, in both worlds."""

    system: str
    virtual: Sequence[Numbers]
    live: Sequence[Numbers]
    # Of the live ones, those that the machine delayed each time they were tried.
    delayed: int

    def agrees(self, number: str, places: int, factor: int) -> bool:
        """Whether the live mean is within the virtual runs' range, to the printed digit."""
        ours, theirs = _known(self.live, number), _known(self.virtual, number)
        if not ours or not theirs:
            return bool(ours) == bool(theirs)
        digit = 10**-places / factor
        mean = math.fsum(ours) / len(ours)
        return min(theirs) - digit <= mean <= max(theirs) + digit


def compared(
    references: Sequence[str], workload: str, seeds: int, virtual_seeds: int, line: Line
) -> Iterator[Compared]:
    """Each system as soon as its runs are done."""
    for reference in references:
        with TemporaryDirectory(prefix="vitrine-live-") as logs:
            with Bench.temporary() as bench:
                virtual = [
                    numbers(bench.run(named(reference), WORKLOADS[workload], seed, line=line))
                    for seed in range(1, virtual_seeds + 1)
                ]
            with LiveBench(Path(logs), line) as live:
                runs = [_undelayed(live, reference, workload, seed) for seed in range(1, seeds + 1)]
            delayed = sum(each.held_up_us > 0 for each in runs)
            found = [numbers(each.run) for each in runs]
            yield Compared(named(reference).name, virtual, found, delayed)


def check(reference: str) -> None:
    """Raises if a system cannot be run live."""
    live_check(named(reference))


def _undelayed(bench: LiveBench, reference: str, workload: str, seed: int) -> LiveRun:
    """A run that the machine did not delay; after some tries, the one that it delayed least."""
    tried: list[LiveRun] = []
    while len(tried) < _TRIES and not (tried and tried[-1].held_up_us == 0):
        tried.append(bench.run(named(reference), WORKLOADS[workload], seed))
    return min(tried, key=lambda each: each.held_up_us)


def heading(workload: str, line: Line, seeds: int, virtual_seeds: int) -> list[str]:
    """The lines above the rows."""
    names = ["system", *(name for name, *_ in COLUMNS), "delayed"]
    return [
        f"# Live and virtual: {workload} on {line}",
        "",
        f"Means of {counted(seeds, 'live run')}, and the range of "
        f"{counted(virtual_seeds, 'virtual run')}; a mean outside of it has an asterisk.",
        "`delayed` counts live runs that the machine delayed each time they were tried.",
        "",
        f"| {' | '.join(names)} |",
        f"|{'---|' * len(names)}",
    ]


def row(found: Compared) -> str:
    """A line of the table."""
    cells = [_cell(found, *each[1:]) for each in COLUMNS]
    return f"| {' | '.join([found.system, *cells, str(found.delayed)])} |"


def agreement(all_found: Sequence[Compared]) -> str:
    """How many numbers agree, as a sentence."""
    cells = [each.agrees(*column[1:]) for each in all_found for column in COLUMNS]
    return f"{sum(cells)} of {len(cells)} numbers are within the virtual range."


def _cell(found: Compared, number: str, places: int, factor: int) -> str:
    ours, theirs = _known(found.live, number), _known(found.virtual, number)
    mean = f"{factor * math.fsum(ours) / len(ours):.{places}f}" if ours else "none"
    spread = "none"
    if theirs:
        least, most = (f"{factor * bound:.{places}f}" for bound in (min(theirs), max(theirs)))
        spread = least if least == most else f"{least} to {most}"
    mark = "" if found.agrees(number, places, factor) else " *"
    return f"{mean}{mark} ({spread})"


def _known(runs: Sequence[Mapping[str, float | None]], number: str) -> list[float]:
    return [value for run in runs if (value := run[number]) is not None]
