"""The measurements of a soak: saved as they come, judged and drawn however the run ends.

    series = Series(folder)
    ... series.add(row), again and again ...
    sys.exit(series.report())

Delays and throughput are the machine's as well: samples in which it held a router up (`HELD_UP`)
do not count where these two are judged. Where too few others are left nothing is judged, and that
is said.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot

from tests.chaos import slope

TIME = "time s"
# Share of the time since the previous sample; NaN where it is unknown.
HELD_UP = "held up %"
_HELD_UP_MAX = 0.1
_MACHINES_TOO = ("ms", "Mb/s")
# Tolerated growth over the whole run: a share, and amounts by unit.
_SHARE = 0.05
_LEAST = {
    **{"MiB": 4.0, "KiB": 16.0, "ms": 2.0},
    **{"descriptors": 4.0, "threads": 2.0, "connections": 8.0},
}
Row = dict[str, float]


@dataclass
class Judged:
    """The verdict on a run."""

    # Figures that grow and must not, and throughput where it falls, in sentences.
    wrong: list[str] = field(default_factory=list)
    # Names of figures that the machine was too busy to judge.
    unjudged: list[str] = field(default_factory=list)


def judge(rows: Sequence[Row]) -> Judged:
    """Looks at everything that was measured; too few rows are a ValueError."""
    judged = Judged()
    for name in rows[0]:
        if name in (TIME, HELD_UP):
            continue
        try:
            # Whatever the cause, a long time without a measurement is an outage.
            told = _growth(name, [row[name] for row in rows])
        except slope.OutageError as error:
            judged.wrong.append(f"{name}: {error}")
            continue
        if name.endswith(_MACHINES_TOO):
            try:
                told = _growth(name, [row[name] if _is_calm(row) else math.nan for row in rows])
            except slope.OutageError:
                judged.unjudged.append(name)
                continue
        if told is not None:
            judged.wrong.append(told)
    return judged


def _is_calm(row: Row) -> bool:
    return row.get(HELD_UP, 0.0) <= _HELD_UP_MAX


def _growth(name: str, values: Sequence[float]) -> str | None:
    falls = name.endswith("Mb/s")
    found = slope.of([-value for value in values] if falls else values)
    if not found.grows(_SHARE, _LEAST.get(name.rpartition(" ")[2], 0.0)):
        return None
    by = f"{found.growth:.3g} (± {found.error:.2g}) from {abs(found.start):.3g}"
    return f"{name} {'falls' if falls else 'grows'} by {by}"


class Series:
    """The rows of a run, all with the same names; they are in a file as soon as they are added."""

    def __init__(self, folder: Path) -> None:
        self.rows: list[Row] = []
        self._table, self._picture = folder / "soak.csv", folder / "soak.svg"

    def add(self, row: Row) -> None:
        """One more."""
        self.rows.append(row)
        with self._table.open("a" if len(self.rows) > 1 else "w", newline="") as file:
            writer = csv.DictWriter(file, list(self.rows[0]))
            if len(self.rows) == 1:
                writer.writeheader()
            writer.writerow(row)

    def report(self) -> int:
        """Draws and judges what there is; returns the exit status."""
        if not self.rows:
            print("vitrine: nothing was measured.", file=sys.stderr)
            return 1
        draw(self.rows, self._picture)
        for name in self.rows[0]:
            if name != TIME:
                values = [row[name] for row in self.rows]
                print(f"{name:<24} {np.nanmedian(values):>8.1f} in the median, ", end="")
                print(f"{values[-1]:>8.1f} at the end")
        print(f"Of {self.rows[-1][TIME] / 3600:.2f} hours, drawn: {self._picture}")
        try:
            judged = judge(self.rows)
        except ValueError as error:
            print(f"vitrine: {error}", file=sys.stderr)
            return 1
        if judged.unjudged:
            print(
                f"The machine held routers up all through a part of the time, so these are not "
                f"judged: {', '.join(judged.unjudged)}. Run it again when the machine has nothing "
                "else to do."
            )
        for sentence in judged.wrong:
            print(f"vitrine: {sentence}.", file=sys.stderr)
        return 1 if judged.wrong else 0


def draw(rows: Sequence[Row], file: Path) -> None:
    """One small picture below the other, with time across."""
    names = [name for name in rows[0] if name != TIME]
    size = (9, 1.3 * len(names))
    figure, axes = pyplot.subplots(len(names), figsize=size, sharex=True, squeeze=False)
    for name, axis in zip(names, axes[:, 0], strict=True):
        axis.plot([row[TIME] / 60 for row in rows], [row[name] for row in rows], linewidth=0.8)
        axis.set_title(name, loc="left", fontsize=8)
    axes[-1, 0].set_xlabel("minutes")
    figure.tight_layout()
    figure.savefig(file)
    pyplot.close(figure)
