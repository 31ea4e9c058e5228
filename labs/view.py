"""A queue in the terminal while a lab runs: a moving picture, or plain lines without a terminal.

`picture` is a pure function from a chart to lines; `LiveView` owns the terminal.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from labs.measure.router import PortSeries
from labs.text import BLOCKS, blocks_of, column_cells
from topo.units import format_rate

# How much time one column of the chart stands for, and how many rows it has.
COLUMN_S = 0.1
CHART_ROWS = 8
# The window over which the momentary rate is taken.
RATE_WINDOW_S = 0.5
# Without a terminal a line is printed this often.
LINE_INTERVAL_S = 5.0


@dataclass(frozen=True)
class Subject:
    """The watched port."""

    title: str
    line_rate_bps: int
    # Of all queues of the port together, as the depth that is drawn is theirs together.
    limit_packets: int


class Chart:
    """A growing series as columns of the picture; each sample is looked at once."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._seen = 0
        # The greatest depth within each column of time, by the column's number.
        self._depths: dict[int, int] = {}
        self._window_start = 0
        self.time_s = 0.0
        self.depth_packets = 0
        self.dropped_packets = 0
        self.rate_bps = 0.0

    def take(self, series: PortSeries) -> None:
        """Takes in what the series has grown by."""
        count = len(series.time_s)
        for index in range(self._seen, count):
            column = int(series.time_s[index] / COLUMN_S)
            self._depths[column] = max(self._depths.get(column, 0), series.packets[index])
        self._seen = count
        if count == 0:
            return
        last = count - 1
        self.time_s, self.depth_packets = series.time_s[last], series.packets[last]
        self.dropped_packets = series.dropped_packets
        while series.time_s[self._window_start] < self.time_s - RATE_WINDOW_S:
            self._window_start += 1
        first = self._window_start
        span_s = self.time_s - series.time_s[first]
        sent_bytes = series.departed_bytes[last] - series.departed_bytes[first]
        self.rate_bps = sent_bytes * 8 / span_s if span_s > 0 else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether no sample has come yet."""
        return self._seen == 0

    def columns(self, count: int) -> list[int]:
        """The depths of the last `count` columns of time."""
        last = max(self._depths, default=0)
        first = max(0, last - count + 1)
        return [self._depths.get(column, 0) for column in range(first, last + 1)]


class LiveView:
    """Draws a chart into a terminal; without one, prints a line now and then."""

    def __init__(self, subject: Subject, output: TextIO, left: Callable[[], str]) -> None:
        self._chart = Chart(subject)
        self._output = output
        self._left = left
        self._is_terminal = output.isatty()
        self._blocks = blocks_of(output)
        self._lines_drawn = 0
        self._next_line_s = 0.0

    def show(self, series: PortSeries) -> None:
        """Call it as often as the picture shall change; the series until now is the argument."""
        self._chart.take(series)
        if self._chart.is_empty:
            return
        if self._is_terminal:
            self._redraw()
        elif self._chart.time_s >= self._next_line_s:
            print(f"      {status(self._chart)}", file=self._output, flush=True)
            self._next_line_s = self._chart.time_s + LINE_INTERVAL_S

    def erase(self) -> None:
        """Takes the picture off the terminal, so that a note can stand in its place."""
        if self._lines_drawn:
            self._output.write(f"\x1b[{self._lines_drawn}A\x1b[J")
            self._output.flush()
            self._lines_drawn = 0

    def _redraw(self) -> None:
        width = max(40, min(100, shutil.get_terminal_size().columns)) - 1
        lines = [*picture(self._chart, width, self._blocks), self._left()]
        # Up to the first line of the last picture; then each line is written over and its rest
        # erased.
        up = f"\x1b[{self._lines_drawn}A" if self._lines_drawn else ""
        body = "".join(f"{line[:width]}\x1b[K\n" for line in lines)
        self._output.write(up + body)
        self._output.flush()
        self._lines_drawn = len(lines)


def picture(chart: Chart, width: int, blocks: str = BLOCKS) -> list[str]:
    """Title, chart of the depth over the last seconds, and the numbers of this moment."""
    limit = chart.subject.limit_packets
    scale = len(f"{limit}")
    columns = chart.columns(width - scale - 2)
    # A queue may hold more than its limit only while the limit was just lowered.
    cells = [column_cells(depth / limit, CHART_ROWS, blocks) for depth in columns]
    rows = []
    for row in range(CHART_ROWS, 0, -1):
        shown = f"{limit * row / CHART_ROWS:.0f}" if row % 2 == 0 else ""
        rows.append(f"{shown:>{scale}} |{''.join(column[row - 1] for column in cells)}")
    floor = f"{0:>{scale}} +{'-' * (width - scale - 2)}"
    return [chart.subject.title, *rows, floor, status(chart)]


def status(chart: Chart) -> str:
    """This moment's numbers in one line."""
    limit = chart.subject.limit_packets
    return (
        f"{chart.time_s:5.1f} s   queue {chart.depth_packets:>{len(str(limit))}} of {limit} "
        f"packets   out {format_rate(chart.rate_bps):>9}   dropped {chart.dropped_packets}"
    )
