"""The scoreboard as text: a Markdown table for each workload, and CSV of everything."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from labs.score.board import Row
from labs.score.workloads import WORKLOADS
from labs.sweep.showing.outcome import Mean

# Heading, number, decimals, factor.
COLUMNS = (
    ("build-ups found", "buildup_recall", 2, 1),
    ("claims right", "buildup_precision", 2, 1),
    ("flow precision", "flow_precision", 2, 1),
    ("flow recall", "flow_recall", 2, 1),
    ("packet precision", "packet_precision", 2, 1),
    ("packet recall", "packet_recall", 2, 1),
    ("delay (µs)", "delay_us", 1, 1),
    ("depth error (%)", "depth_error", 0, 100),
    ("bytes/packet", "bytes_per_packet", 2, 1),
    ("memory (KiB)", "memory_kib", 1, 1),
    ("steps/packet", "steps_per_packet", 0, 1),
)
HEAD = ["system", *(name for name, *_ in COLUMNS)]


def heading(workload: str) -> list[str]:
    """The lines above a workload's rows."""
    return [
        f"## {workload}",
        "",
        f"{WORKLOADS[workload].summary[0].upper()}{WORKLOADS[workload].summary[1:]}.",
        "",
        f"| {' | '.join(HEAD)} |",
        f"|{'---|' * len(HEAD)}",
    ]


def line(row: Row) -> str:
    """A row; a number with its interval over seeds, or `none`."""
    return f"| {' | '.join(cells(row))} |"


def cells(row: Row) -> list[str]:
    """The system, then each number."""
    numbers = [_cell(row.means[name], places, factor) for _, name, places, factor in COLUMNS]
    return [row.system, *numbers]


def _cell(mean: Mean | None, places: int, factor: int) -> str:
    if mean is None:
        return "none"
    value = f"{mean.value * factor:.{places}f}"
    half = f"{mean.half * factor:.{places}f}"
    return value if float(half) == 0 else f"{value} ± {half}"


def as_csv(rows: Sequence[Row]) -> str:
    """Each mean with half the width of its interval, and the seeds in which it exists."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(["workload", "system", "number", "mean", "half", "seeds"])
    for row in rows:
        for name, mean in row.means.items():
            if mean is not None:
                numbers = (f"{mean.value:.9g}", f"{mean.half:.9g}", mean.count)
                writer.writerow([row.workload, row.system, name, *numbers])
    return output.getvalue()
