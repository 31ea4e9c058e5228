"""Measurements: whole runs in out/, and the figures of live runs for comparison in `measured/`.

Live runs take minutes and a calm machine, so they are kept; a cell's file has its repetitions, the
kernel they are of, the day, and for how long the machine held the router up.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from labs.measure.holdups import HoldUps
from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.measurement import Figures, Run, figures

MEASURED = Path(__file__).parent / "measured"
# Seconds of a run that a picture shows, and seconds between its dots.
_PICTURE_S, _DOT_S = 15.0, 0.1
REPETITIONS = 3


@dataclass(frozen=True)
class Curve:
    """A flow's window over time, for pictures."""

    time_s: Sequence[float]
    cwnd: Sequence[int]


@dataclass(frozen=True)
class Measured:
    """A cell's live runs."""

    cell: str
    kernel: str
    date: str
    runs: Sequence[Figures]
    # Of the first flow of each run.
    curves: Sequence[Curve]

    @property
    def is_complete(self) -> bool:
        """Enough repetitions that the machine did not disturb."""
        return len(self.runs) >= REPETITIONS


def curve(run: Run) -> Curve:
    """The first flow's window."""
    flow = run.flows[0]
    times: list[float] = []
    windows: list[int] = []
    for time_s, cwnd in zip(flow.time_s, flow.cwnd, strict=True):
        if 0 <= time_s <= _PICTURE_S and (not times or time_s >= times[-1] + _DOT_S):
            times.append(round(time_s, 3))
            windows.append(cwnd)
    return Curve(times, windows)


def read(cell: Cell) -> Measured | None:
    """The stored measurements of a cell, if there are any."""
    path = MEASURED / f"{cell.name}.json"
    if not path.exists():
        return None
    fields = json.loads(path.read_text())
    runs = [Figures(**run) for run in fields.pop("runs")]
    curves = [Curve(**each) for each in fields.pop("curves")]
    return Measured(runs=runs, curves=curves, **fields)


def keep(cell: Cell, run: Run) -> str:
    """Adds a run, unless the machine disturbed it or a flow did not last. Tells why it was not."""
    held_up = HoldUps(run.held_up_s[0], cell.seconds)
    if held_up.disturb:
        return str(held_up)
    if not run.covers(cell):
        return "not all flows were there for all of the measured time"
    kernel, date = os.uname().release, datetime.datetime.now(datetime.UTC).date().isoformat()
    before = read(cell)
    if before is None or before.kernel != kernel or before.is_complete:
        before = Measured(cell.name, kernel, date, (), ())
    after = Measured(
        cell.name, kernel, date, [*before.runs, figures(cell, run)], [*before.curves, curve(run)]
    )
    MEASURED.mkdir(exist_ok=True)
    (MEASURED / f"{cell.name}.json").write_text(json.dumps(asdict(after), indent=1) + "\n")
    return ""
