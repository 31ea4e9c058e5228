"""A queue in the terminal while it lives: a moving picture, or plain lines without a terminal.

`picture` is a pure function from readings to lines; `LiveView` owns the terminal.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from labs.sampling import Reading, throughput_bps
from topo.units import format_rate

# How much time one column of the chart stands for, and how many rows it has.
COLUMN_S = 0.1
CHART_ROWS = 8
# The window over which the momentary rate is taken.
RATE_WINDOW_S = 0.5

_BLOCKS = " ▁▂▃▄▅▆▇█"
# For terminals without Unicode.
_PLAIN_BLOCKS = " ..::==##"


@dataclass(frozen=True)
class Subject:
    """What is being watched."""

    title: str
    line_rate_bps: int
    limit_packets: int


class LiveView:
    """Draws readings into a terminal; without one, prints a line a second."""

    def __init__(self, subject: Subject, output: TextIO) -> None:
        self._subject = subject
        self._output = output
        self._is_terminal = output.isatty()
        self._blocks = _BLOCKS if _speaks_unicode(output) else _PLAIN_BLOCKS
        self._lines_drawn = 0
        self._next_line_s = 0.0

    def show(self, readings: Sequence[Reading]) -> None:
        """Call it as often as the picture shall change; the readings so far are the argument."""
        if not readings:
            return
        if self._is_terminal:
            self._redraw(readings)
        elif readings[-1].time_s >= self._next_line_s:
            print(status(self._subject, readings), file=self._output, flush=True)
            self._next_line_s = readings[-1].time_s + 1.0

    def _redraw(self, readings: Sequence[Reading]) -> None:
        width = max(40, min(100, shutil.get_terminal_size().columns)) - 1
        lines = picture(self._subject, readings, width, self._blocks)
        # Up to the first line of the last picture; then each line is written over and its rest
        # erased.
        up = f"\x1b[{self._lines_drawn}A" if self._lines_drawn else ""
        body = "".join(f"{line[:width]}\x1b[K\n" for line in lines)
        self._output.write(up + body)
        self._output.flush()
        self._lines_drawn = len(lines)


def picture(
    subject: Subject, readings: Sequence[Reading], width: int, blocks: str = _BLOCKS
) -> list[str]:
    """Title, chart of the depth over the last seconds, and the numbers of this moment."""
    scale = len(f"{subject.limit_packets}")
    columns = _columns(readings, width - scale - 2)
    chart = []
    for row in range(CHART_ROWS, 0, -1):
        label = subject.limit_packets * row / CHART_ROWS
        shown = f"{label:.0f}" if row % 2 == 0 else ""
        cells = "".join(_cell(depth, subject.limit_packets, row, blocks) for depth in columns)
        chart.append(f"{shown:>{scale}} |{cells}")
    floor = f"{0:>{scale}} +{'-' * (width - scale - 2)}"
    return [subject.title, *chart, floor, status(subject, readings)]


def status(subject: Subject, readings: Sequence[Reading]) -> str:
    """This moment's numbers in one line."""
    last = readings[-1]
    recent = [each for each in readings if each.time_s >= last.time_s - RATE_WINDOW_S]
    digits = len(f"{subject.limit_packets}")
    return (
        f"{last.time_s:5.1f} s   queue {last.depth_packets:>{digits}} of {subject.limit_packets} "
        f"packets   out {format_rate(throughput_bps(recent)):>9}   "
        f"dropped {last.dropped_packets}"
    )


def _columns(readings: Sequence[Reading], count: int) -> list[int]:
    """The greatest depth within each of the last `count` columns of time."""
    columns: dict[int, int] = {}
    for reading in readings:
        column = int(reading.time_s / COLUMN_S)
        columns[column] = max(columns.get(column, 0), reading.depth_packets)
    last = max(columns)
    first = max(0, last - count + 1)
    return [columns.get(column, 0) for column in range(first, last + 1)]


def _cell(depth: int, limit: int, row: int, blocks: str) -> str:
    """The part of a depth that falls into one row of the chart, in eighths of the row."""
    eighths = round(depth * CHART_ROWS * 8 / limit) - (row - 1) * 8
    return blocks[max(0, min(8, eighths))]


def _speaks_unicode(output: TextIO) -> bool:
    try:
        _BLOCKS.encode(getattr(output, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True
