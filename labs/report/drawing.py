"""The figures that readers of such labs expect, as functions that draw into given axes.

Time is in seconds on every x axis, every axis names its unit, and a flow has the same colour in all
figures of all reports. Legends stand above the axes, so that they hide nothing.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np

from labs import palette
from labs.definition import Figure
from labs.measure.ping import Echo
from labs.measure.router import Drop, PortSeries
from labs.measure.sockets import SocketSample

# Pictures go to files; no display is needed.
matplotlib.use("Agg")

import matplotlib.figure
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

WIDTH_IN = 9.0
# Letters as shapes: a report looks the same wherever it is opened. The salt makes it the same file.
matplotlib.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "vitrine", "font.size": 9.5})

# Of what is no flow.
PALE, INK = "#e6e6e6", "#222222"
# Marks of drops, one shape a reason.
_MARKS = {"QUEUE_LIMIT": "v", "AQM": "^", "INPUT_LIMIT": "<", "VOQ_LIMIT": ">", "PORT_LIMIT": "s"}
# A long series is drawn with the least and the greatest of each of this many columns.
_COLUMNS = 1200


# ---- files ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def drawn(figure: Figure) -> Iterator[matplotlib.figure.Figure]:
    """A figure of a report, drawn."""
    canvas = plt.figure(figsize=(WIDTH_IN, figure.height), layout="constrained")
    try:
        figure.draw(canvas)
        yield canvas
    finally:
        plt.close(canvas)


def svg(canvas: matplotlib.figure.Figure) -> bytes:
    """A drawing that can be enlarged as far as one likes."""
    output = io.BytesIO()
    # As `savefig` does, but for a first invisible drawing, which costs as much again.
    FigureCanvasSVG(canvas).print_svg(output, metadata={"Date": None, "Creator": "vitrine"})
    return output.getvalue()


# The labels of bars that say how long something took and of `stems`: they are in the data and no
# legend.
SPAN, STEMS = "_span: ", "_stems: "


def data(canvas: matplotlib.figure.Figure) -> str:
    """A drawing's data as CSV: each point with its panel and its series.

    A panel is called by its label, or else by what is written at it.
    A line across the whole panel has no x, or no y where it stands. A span of time and each of the
    `stems` have a row for either end.
    """
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(["panel", "series", "x", "y"])
    for number, axes in enumerate(canvas.axes, 1):
        seen = " ".join(f"{axes.get_title(loc='left')} {axes.get_ylabel()}".split())
        words = str(axes.get_label()) or seen or f"panel {number}"
        for series, x, y in _points(axes):
            writer.writerow([words, series, x, y])
    return output.getvalue()


def _points(axes: Axes) -> Iterator[tuple[str, object, object]]:
    named = ""
    for line in axes.get_lines():
        label = str(line.get_label())
        named = named if label.startswith("_") else label
        is_level = line.get_transform() != axes.transData
        points = [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]
        if not is_level:
            yield from ((named, x, y) for x, y in points)
        elif points[0][0] == points[1][0]:
            yield label.removeprefix("_"), points[0][0], ""
        elif not label.startswith("_"):
            yield named, "", points[0][1]
    for patch in axes.patches:
        if isinstance(patch, Rectangle) and str(patch.get_label()).startswith(SPAN):
            for x in (patch.get_x(), patch.get_x() + patch.get_width()):
                yield str(patch.get_label()).removeprefix(SPAN), x, ""
        elif isinstance(patch, PathPatch) and str(patch.get_label()).startswith(STEMS):
            for x, y in np.asarray(patch.get_path().vertices).tolist():
                yield str(patch.get_label()).removeprefix(STEMS), x, y
    for container in axes.containers:
        if isinstance(container, BarContainer):
            for bar in container.patches:
                x, y = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height()
                if container.orientation == "horizontal":
                    x, y = bar.get_width(), bar.get_y() + bar.get_height() / 2
                yield str(container.get_label()), x, y


def thinned(
    times: Sequence[float], values: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    """As many points as can be seen: of each column the first, the least and the greatest."""
    if len(times) <= 4 * _COLUMNS:
        return times, values
    chosen: list[int] = []
    size = len(times) / _COLUMNS
    for column in range(_COLUMNS):
        rows = range(round(column * size), round((column + 1) * size))
        least, greatest = min(rows, key=values.__getitem__), max(rows, key=values.__getitem__)
        chosen += sorted({rows[0], least, greatest})
    chosen.append(len(times) - 1)
    return [times[row] for row in chosen], [values[row] for row in chosen]


def _steps(
    axes: Axes, times: Sequence[float], values: Sequence[float], **look: Any
) -> list[Line2D]:
    """Values that hold until the next one."""
    return axes.plot(*thinned(times, values), drawstyle="steps-post", **look)


def stems(
    axes: Axes,
    times: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    color: str,
    linewidth: float,
    label: str,
) -> None:
    """An upright line for each instant, all as one path: ten thousand paths take many seconds."""
    ends = np.empty((2 * len(times), 2))
    ends[0::2, 0] = ends[1::2, 0] = times
    ends[0::2, 1], ends[1::2, 1] = low, high
    path = Path(ends, [Path.MOVETO, Path.LINETO] * len(times))
    # Or lines that touch would become one.
    path.should_simplify = False
    look: dict[str, Any] = {"color": color, "linewidth": linewidth}
    axes.add_artist(PathPatch(path, fill=False, capstyle="butt", label=STEMS + label, **look))
    axes.update_datalim(ends)
    axes.autoscale_view()
    axes.plot([], [], label=label, **look)


# ---- queues --------------------------------------------------------------------------------------


def queue_depth(
    axes: Axes,
    series: PortSeries,
    *,
    limit_packets: int | None,
    class_: int | None = None,
    name: str = "packets that wait",
) -> None:
    """Packets in a port's queue, or in one of several, with its limit and its drops."""
    packets = series.packets if class_ is None else series.queues[class_].packets
    _steps(axes, series.time_s, packets, color=INK, linewidth=0.9, label=name)
    top = max([1, *packets])
    if limit_packets is not None:
        level(axes, limit_packets, f"limit: {limit_packets} packets")
        top = max(top, limit_packets)
    drops = [drop for drop in series.drops if class_ is None or drop.class_ == class_]
    drop_marks(axes, drops, height=top * 1.08)
    axes.set_ylabel("queue\n(packets)")
    axes.set_ylim(0, top * 1.2)
    legend(axes)


def queues(axes: Axes, series: PortSeries, names: Mapping[int, str], *, limit_packets: int) -> None:
    """Several queues of a port in one picture, with the limit that each of them has."""
    for index, (class_, name) in enumerate(names.items()):
        packets = series.queues[class_].packets
        own = INK if len(names) == 1 else palette.of_name(name, index)
        _steps(axes, series.time_s, packets, color=own, linewidth=0.8, label=name)
    each = "limit of each" if len(names) > 1 else "limit"
    level(axes, limit_packets, f"{each}: {limit_packets}")
    axes.set_ylabel("queue\n(packets)")
    legend(axes)


def input_queues(
    axes: Axes, series: PortSeries, outputs: Mapping[int, str], *, limit_packets: int
) -> None:
    """The queues of an input: one FIFO for all outputs, or a virtual output queue for each."""
    waiting = {name: series.input.voqs.get(output, []) for output, name in outputs.items()}
    is_voq = any(waiting.values())
    if not is_voq:
        waiting = {"all packets, in one FIFO": series.input.packets}
    for index, (name, packets) in enumerate(waiting.items()):
        times = series.time_s[-len(packets) :] if packets else []
        own = (palette.RED, palette.GREEN)[index % 2] if is_voq else INK
        _steps(axes, times, packets, color=own, linewidth=0.9, label=name)
    each = "limit of each" if is_voq else "limit"
    level(axes, limit_packets, f"{each}: {limit_packets} packets")
    drop_marks(axes, series.drops, height=limit_packets * 1.08)
    axes.set_ylabel("input port 1\n(packets)")
    axes.set_ylim(0, limit_packets * 1.2)
    legend(axes)


def queues_in_bytes(
    axes: Axes, series: PortSeries, names: Mapping[int, str], *, limit_bytes: int
) -> None:
    """Several queues of a port in one picture, in kilobytes, with the limit that each has."""
    for index, (class_, name) in enumerate(names.items()):
        queue = series.used_queues().get(class_)
        if queue is None:
            continue
        kilobytes = [each / 1000 for each in queue.bytes]
        own = INK if len(names) == 1 else palette.of_name(name, index)
        _steps(axes, series.time_s, kilobytes, color=own, linewidth=0.9, label=name)
    limit = limit_bytes / 1000
    each = "limit of each" if len(names) > 1 else "limit"
    level(axes, limit, f"{each}: {limit:.0f} kB")
    drop_marks(axes, series.drops, height=limit * 1.08)
    axes.set_ylabel("queue\n(kB)")
    axes.set_ylim(0, limit * 1.2)
    legend(axes)


def drop_marks(axes: Axes, drops: Sequence[Drop], *, height: float) -> None:
    """A mark for each instant of a drop, by reason; the legend counts the packets."""
    for reason in sorted({drop.reason for drop in drops}):
        chosen = [drop for drop in drops if drop.reason == reason]
        count = sum(drop.packets for drop in chosen)
        axes.plot(
            [drop.time_s for drop in chosen],
            [height] * len(chosen),
            linestyle="",
            marker=_MARKS.get(reason, "x"),
            markersize=4,
            markeredgewidth=0.6,
            color="#a00000",
            fillstyle="none",
            label=f"{count} dropped: {words(reason)}",
        )


def words(reason: str) -> str:
    """QUEUE_LIMIT as people say it: queue limit."""
    return "AQM" if reason == "AQM" else reason.lower().replace("_", " ")


# ---- flows ---------------------------------------------------------------------------------------


def congestion_window(
    axes: Axes, flows: Mapping[str, Sequence[SocketSample]], *, thresholds: bool = True
) -> None:
    """The congestion window of each flow, and its slow-start threshold as a thin dotted line.

    A flow may be several connections after each other; the line is broken between them.
    """
    for index, (name, samples) in enumerate(flows.items()):
        own = palette.of_name(name, index)
        windows = [sample.cwnd_packets for sample in samples]
        for part, (_, group) in enumerate(itertools.groupby(samples, lambda it: it.connection)):
            connection = list(group)
            _steps(
                axes,
                [sample.time_s for sample in connection],
                [sample.cwnd_packets for sample in connection],
                color=own,
                linewidth=1.1,
                label=name if part == 0 else None,
            )
        if not thresholds:
            continue
        # Before the first loss the threshold is no number worth drawing; ss leaves it out.
        known = [(sample.time_s, sample.ssthresh_packets) for sample in samples]
        known = [point for point in known if 0 < point[1] <= 2 * max(windows, default=1)]
        if known:
            axes.plot(
                *zip(*known, strict=True),
                color=own,
                linewidth=0.9,
                linestyle=":",
                label=f"{name}: slow-start threshold",
            )
    axes.set_ylabel("window\n(segments)")
    axes.set_ylim(bottom=0)
    legend(axes)


def throughput(
    axes: Axes,
    rates: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    line_rate_bps: float | None,
    colours: Mapping[str, str] | None = None,
) -> None:
    """Rates over time, given as (times, bits a second), with the line's rate.

    `colours` are those of what is no flow with a colour of its own.
    """
    largest = max([line_rate_bps or 0, *(max(bps, default=0) for _, bps in rates.values())])
    factor, unit = (1e9, "Gb/s") if largest >= 2e9 else (1e6, "Mb/s")
    for index, (name, (times, bps)) in enumerate(rates.items()):
        shown = thinned(times, [rate / factor for rate in bps])
        own = (colours or {}).get(name) or palette.of_name(name, index)
        axes.plot(*shown, color=own, linewidth=1.3, label=name)
    if line_rate_bps is not None:
        level(axes, line_rate_bps / factor, f"line: {line_rate_bps / factor:g} {unit}")
    axes.set_ylabel(f"rate\n({unit})")
    axes.set_ylim(0, largest / factor * 1.1 or 1)
    legend(axes)


def round_trips(axes: Axes, pings: Mapping[str, Sequence[Echo]]) -> None:
    """Ping's answers, each a dot at the time its request was sent."""
    for index, (name, echoes) in enumerate(pings.items()):
        axes.plot(
            [echo.time_s for echo in echoes],
            [echo.rtt_ms for echo in echoes],
            linestyle="",
            marker=".",
            markersize=4,
            color=palette.of_name(name, index) if len(pings) == 1 else palette.FLOWS[index],
            label=name,
        )
    axes.set_ylabel("round trip\n(ms)")
    axes.set_ylim(bottom=0)
    legend(axes)


def smoothed_round_trip(axes: Axes, flows: Mapping[str, Sequence[SocketSample]]) -> None:
    """The smoothed round-trip time that each flow's own TCP keeps."""
    for index, (name, samples) in enumerate(flows.items()):
        axes.plot(
            [sample.time_s for sample in samples],
            [sample.rtt_ms for sample in samples],
            color=palette.of_name(name, index),
            linewidth=1.1,
            label=name,
        )
    axes.set_ylabel("TCP's round trip (ms)")
    axes.set_ylim(bottom=0)
    legend(axes)


def port_rate(series: PortSeries, window_s: float) -> tuple[list[float], list[float]]:
    """A port's throughput: the middle of each window and the bits a second in it."""
    times: list[float] = []
    rates: list[float] = []
    start = 0
    for index, time_s in enumerate(series.time_s):
        span_s = time_s - series.time_s[start]
        if span_s >= window_s:
            sent_bytes = series.departed_bytes[index] - series.departed_bytes[start]
            times.append(time_s - span_s / 2)
            rates.append(sent_bytes * 8 / span_s)
            start = index
    return times, rates


# ---- parts ---------------------------------------------------------------------------------------


def compare(axes: Axes, x: Sequence[float], series: Mapping[str, Sequence[float]]) -> None:
    """The same quantity from several sources, as points joined by lines.

    Where a source says nothing, its value is not a number, and its line goes on to the next point.
    """
    marks = zip("os^D", palette.FLOWS, strict=False)
    for (name, values), (mark, own) in zip(series.items(), marks, strict=False):
        said = [point for point in zip(x, values, strict=True) if not math.isnan(point[1])]
        axes.plot(
            *zip(*said, strict=True),
            marker=mark,
            markersize=5,
            linewidth=1.1,
            color=own,
            label=name,
        )
    grid(axes)
    legend(axes)


def level(axes: Axes, value: float, label: str) -> None:
    """A line across the panel, named in the legend."""
    axes.axhline(value, color=palette.GREY, linestyle="--", linewidth=1, label=label)


def moments(every_axes: Iterable[Axes], marked: Sequence[tuple[float, str]]) -> None:
    """Thin lines at the instants that matter; in the uppermost axes they say what they are."""
    for index, axes in enumerate(every_axes):
        for time_s, text in marked:
            # The label is for the data; one that begins so is in no legend.
            dots = (0, (1, 2))
            axes.axvline(
                time_s, color=palette.GREY, linewidth=0.8, linestyle=dots, label=f"_{text}"
            )
            if index == 0:
                axes.annotate(
                    text,
                    (time_s, 0.02),
                    xycoords=("data", "axes fraction"),
                    xytext=(2, 0),
                    textcoords="offset points",
                    rotation=90,
                    va="bottom",
                    fontsize=7.5,
                    color=INK,
                    bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6},
                )


def stack(
    figure: matplotlib.figure.Figure, heights: Sequence[float], *, title: str, shared: bool = True
) -> list[Axes]:
    """Axes above each other, with one time axis for all where they are of one run (`shared`)."""
    figure.suptitle(title, fontsize=11)
    rows = figure.subplots(
        len(heights), 1, sharex=shared, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    stacked = [row[0] for row in rows]
    stacked[-1].set_xlabel("time (s)")
    for axes in stacked:
        grid(axes)
        axes.margins(x=0.01)
    return stacked


def grid(axes: Axes) -> None:
    """Pale lines behind the data."""
    axes.grid(visible=True, color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)


def one_scale(every_axes: Iterable[Axes]) -> None:
    """The same y axis for panels that are to be compared."""
    group = list(every_axes)
    limits = [axes.get_ylim() for axes in group]
    for axes in group:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def matrix(
    canvas: matplotlib.figure.Figure,
    columns: Sequence[str],
    rows: Sequence[str],
    draw: Callable[[Axes, int, int], None],
    *,
    title: str,
) -> None:
    """Panels on one scale, drawn by row and column; above all of them the title and one legend."""
    panels = canvas.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    for (row, side), (column, head) in itertools.product(enumerate(rows), enumerate(columns)):
        axes = panels[row][column]
        draw(axes, row, column)
        if (own := axes.get_legend()) is not None:
            own.remove()
        grid(axes)
        axes.set_label(f"{side}, {head}")
        axes.set_xlabel("time (s)")
        unit = " ".join(axes.get_ylabel().split())
        axes.set_ylabel(f"{side}\n{unit}")
        axes.label_outer()
        if row == 0:
            axes.set_title(head, fontsize=10)
    handles, labels = panels[0][0].get_legend_handles_labels()
    # The title is the legend's: a figure's own would lie upon it.
    canvas.legend(
        handles,
        labels,
        title=title,
        title_fontsize=11,
        loc="outside upper center",
        ncols=len(handles),
        frameon=False,
        fontsize=9,
    )


def legend(axes: Axes, *, columns: int = 5) -> None:
    """Above the axes, where nothing is drawn; to the right of the panel's title."""
    handles, labels = axes.get_legend_handles_labels()
    # One entry per label, however many lines or bars have it.
    named = dict(zip(labels, handles, strict=True))
    if named:
        axes.legend(
            named.values(),
            named.keys(),
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=min(columns, len(named)),
            frameon=False,
            fontsize=8.5,
            borderaxespad=0.1,
            handlelength=1.4,
            columnspacing=1.2,
        )
