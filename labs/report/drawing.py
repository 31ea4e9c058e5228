"""The figures that readers of such labs expect, as functions that draw into given axes.

Time is in seconds on every x axis, every axis names its unit, and a thing has the same colour in
all figures of a report.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import matplotlib

from labs.definition import Figure
from labs.measure.ping import Echo
from labs.measure.router import Drop, PortSeries
from labs.measure.sockets import SocketSample

# Pictures go to files; no display is needed.
matplotlib.use("Agg")

import matplotlib.figure
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

WIDTH_IN = 9.0
DPI = 150

# Colours that stay apart for colour-blind readers and in grey print (Okabe and Ito).
BLUE, GREEN, ORANGE, PURPLE, SKY, YELLOW, RED = (
    "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#b8a800", "#d55e00",
)  # fmt: skip
SERIES = (BLUE, GREEN, ORANGE, PURPLE, SKY, YELLOW)
GREY = "#555555"

# Marks of drops, one shape a reason.
_MARKS = {"QUEUE_LIMIT": "v", "AQM": "^", "INPUT_LIMIT": "<", "VOQ_LIMIT": ">", "PORT_LIMIT": "s"}


def save(figure: Figure, path: Path) -> None:
    """Draws a figure of a report into a PNG file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = plt.figure(figsize=(WIDTH_IN, figure.height), layout="constrained")
    try:
        figure.draw(canvas)
        canvas.savefig(path, dpi=DPI)
    finally:
        plt.close(canvas)


def queue_depth(
    axes: Axes, series: PortSeries, *, limit_packets: int | None, class_: int | None = None
) -> None:
    """Packets in a port's queues, or in one of them, with the limit and the drops."""
    packets = series.packets if class_ is None else series.queues[class_].packets
    axes.plot(
        series.time_s, packets, color=BLUE, linewidth=0.9, drawstyle="steps-post", label="packets"
    )
    top = max([1, *packets])
    if limit_packets is not None:
        axes.axhline(
            limit_packets,
            color=GREY,
            linestyle="--",
            linewidth=1,
            label=f"limit: {limit_packets} packets",
        )
        top = max(top, limit_packets)
    drops = [drop for drop in series.drops if class_ is None or drop.class_ == class_]
    drop_marks(axes, drops, height=top * 1.06)
    axes.set_ylabel("queue (packets)")
    # Room above the limit for the drops and the legend.
    axes.set_ylim(0, top * 1.4)
    legend(axes)


def queues(axes: Axes, series: PortSeries, names: Mapping[int, str], *, limit_packets: int) -> None:
    """Several queues of a port in one picture, with the limit that each of them has."""
    for index, (class_, name) in enumerate(names.items()):
        axes.plot(
            series.time_s,
            series.queues[class_].packets,
            color=SERIES[index],
            linewidth=0.8,
            drawstyle="steps-post",
            label=name,
        )
    axes.axhline(limit_packets, color=GREY, linestyle="--", linewidth=1, label="limit")
    axes.set_ylabel("queue (packets)")
    axes.legend(loc="upper right", ncols=3, frameon=False, fontsize=8, handlelength=1.2)


def input_queues(
    axes: Axes, series: PortSeries, outputs: Mapping[int, str], *, limit_packets: int
) -> None:
    """What waits at an input: one FIFO for all outputs, or a virtual output queue for each."""
    waiting = {name: series.input.voqs.get(output, []) for output, name in outputs.items()}
    if not any(waiting.values()):
        waiting = {"all packets, in one FIFO": series.input.packets}
    for index, (name, packets) in enumerate(waiting.items()):
        axes.plot(
            series.time_s[-len(packets) :] if packets else [],
            packets,
            color=SERIES[index],
            linewidth=0.9,
            drawstyle="steps-post",
            label=name,
        )
    axes.axhline(limit_packets, color=GREY, linestyle="--", linewidth=1, label="limit")
    drop_marks(axes, series.drops, height=limit_packets * 1.06)
    axes.set_ylabel("input port 1\n(packets)")
    axes.set_ylim(0, limit_packets * 1.45)
    legend(axes)


def queues_in_bytes(
    axes: Axes, series: PortSeries, names: Mapping[int, str], *, limit_bytes: int
) -> None:
    """Several queues of a port in one picture, in kilobytes, with the limit that each has."""
    for index, (class_, name) in enumerate(names.items()):
        queue = series.used_queues().get(class_)
        if queue is None:
            continue
        axes.plot(
            series.time_s,
            [each / 1000 for each in queue.bytes],
            color=SERIES[index % len(SERIES)],
            linewidth=0.9,
            drawstyle="steps-post",
            label=f"{name}",
        )
    limit = limit_bytes / 1000
    axes.axhline(
        limit, color=GREY, linestyle="--", linewidth=1, label=f"limit of each: {limit:.0f} kB"
    )
    drop_marks(axes, series.drops, height=limit * 1.06)
    axes.set_ylabel("queue (kB)")
    axes.set_ylim(0, limit * 1.45)
    legend(axes)


def drop_marks(axes: Axes, drops: Sequence[Drop], *, height: float) -> None:
    """A mark for each instant of a drop, by reason; the legend counts the packets."""
    for index, reason in enumerate(sorted({drop.reason for drop in drops})):
        chosen = [drop for drop in drops if drop.reason == reason]
        count = sum(drop.packets for drop in chosen)
        axes.plot(
            [drop.time_s for drop in chosen],
            [height] * len(chosen),
            linestyle="",
            marker=_MARKS.get(reason, "x"),
            markersize=4.5,
            color=(RED, PURPLE, ORANGE)[index % 3],
            label=f"dropped, {words(reason)}: {count}",
        )


def words(reason: str) -> str:
    """QUEUE_LIMIT as people say it: queue limit."""
    return "AQM" if reason == "AQM" else reason.lower().replace("_", " ")


def congestion_window(
    axes: Axes, flows: Mapping[str, Sequence[SocketSample]], *, thresholds: bool = True
) -> None:
    """The congestion window of each flow, and its slow-start threshold as a thin dotted line.

    A flow may be several connections after each other; the line is broken between them.
    """
    for index, (name, samples) in enumerate(flows.items()):
        colour = SERIES[index % len(SERIES)]
        windows = [sample.cwnd_packets for sample in samples]
        for part, (_, group) in enumerate(itertools.groupby(samples, lambda it: it.connection)):
            connection = list(group)
            axes.plot(
                [sample.time_s for sample in connection],
                [sample.cwnd_packets for sample in connection],
                color=colour,
                linewidth=1.1,
                drawstyle="steps-post",
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
                color=colour,
                linewidth=0.8,
                linestyle=":",
                label=f"{name}: ssthresh",
            )
    axes.set_ylabel("cwnd (segments)")
    axes.set_ylim(bottom=0)
    headroom(axes)
    legend(axes)


def throughput(
    axes: Axes,
    rates: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    line_rate_bps: float | None,
) -> None:
    """Rates over time, given as (times, bits a second), with the line's rate."""
    largest = max([line_rate_bps or 0, *(max(bps, default=0) for _, bps in rates.values())])
    factor, unit = (1e9, "Gb/s") if largest >= 2e9 else (1e6, "Mb/s")
    for index, (name, (times, bps)) in enumerate(rates.items()):
        axes.plot(
            times,
            [rate / factor for rate in bps],
            color=SERIES[index % len(SERIES)],
            linewidth=1.3,
            label=name,
        )
    if line_rate_bps is not None:
        axes.axhline(
            line_rate_bps / factor, color=GREY, linestyle="--", linewidth=1, label="line's rate"
        )
    axes.set_ylabel(f"throughput ({unit})")
    axes.set_ylim(0, largest / factor * 1.35 or 1)
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
            color=SERIES[index % len(SERIES)],
            label=name,
        )
    axes.set_ylabel("RTT (ms)")
    axes.set_ylim(bottom=0)
    headroom(axes)
    legend(axes)


def smoothed_round_trip(axes: Axes, flows: Mapping[str, Sequence[SocketSample]]) -> None:
    """The smoothed round-trip time that each flow's own TCP keeps."""
    for index, (name, samples) in enumerate(flows.items()):
        axes.plot(
            [sample.time_s for sample in samples],
            [sample.rtt_ms for sample in samples],
            color=SERIES[index % len(SERIES)],
            linewidth=1.1,
            label=name,
        )
    axes.set_ylabel("TCP's RTT (ms)")
    axes.set_ylim(bottom=0)
    headroom(axes)
    legend(axes)


def compare(axes: Axes, x: Sequence[float], series: Mapping[str, Sequence[float]]) -> None:
    """The same quantity from several sources, as points joined by lines."""
    marks = zip("os^D", SERIES, strict=False)
    for (name, values), (mark, colour) in zip(series.items(), marks, strict=False):
        axes.plot(x, values, marker=mark, markersize=5, linewidth=1.1, color=colour, label=name)
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.6)
    axes.legend(frameon=False, fontsize=8.5)


def port_rate(series: PortSeries, window_s: float) -> tuple[list[float], list[float]]:
    """What a port sent: the middle of each window and the bits a second in it."""
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


def moments(every_axes: Iterable[Axes], marked: Sequence[tuple[float, str]]) -> None:
    """Thin lines at the instants that matter; the uppermost axes say what they are."""
    for index, axes in enumerate(every_axes):
        for time_s, text in marked:
            axes.axvline(time_s, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
            if index == 0:
                axes.annotate(
                    text,
                    (time_s, 1.0),
                    xycoords=("data", "axes fraction"),
                    xytext=(2, 2),
                    textcoords="offset points",
                    fontsize=8,
                    color=GREY,
                )


def stack(
    figure: matplotlib.figure.Figure, heights: Sequence[float], *, title: str, shared: bool = True
) -> list[Axes]:
    """Axes above each other, with one time axis for all where they are of one run (`shared`)."""
    figure.suptitle(title, fontsize=11)
    grid = figure.subplots(
        len(heights), 1, sharex=shared, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    rows = [row[0] for row in grid]
    rows[-1].set_xlabel("time (s)")
    for axes in rows:
        axes.grid(visible=True, color="#e6e6e6", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.margins(x=0.01)
    return rows


def headroom(axes: Axes, share: float = 0.35) -> None:
    """Room above the data for the legend."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + (high - low) * share)


def legend(axes: Axes) -> None:
    """In the free room above the data, in as many columns as there is place for."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(loc="upper right", ncols=min(4, len(handles)), frameon=False, fontsize=8.5)
