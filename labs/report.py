"""What a lab leaves behind: a table in Markdown, a picture, the readings as CSV."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import matplotlib

from labs.sampling import Reading
from labs.view import Subject

# Pictures go to files; no display is needed.
matplotlib.use("Agg")

import matplotlib.pyplot as plt

# Throughput is shown in windows of this length: one window holds 166 full frames at 10 Mb/s.
WINDOW_S = 0.2

# Colours that stay apart for colour-blind readers and in grey print.
_QUEUE_COLOUR = "#0072b2"
_RATE_COLOUR = "#009e73"
_LIMIT_COLOUR = "#555555"
_DROP_COLOUR = "#d55e00"


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns in Markdown, aligned so that the text itself is readable too."""
    left = max(len(name) for name, _ in rows)
    right = max(len(value) for _, value in rows)
    head = [f"| {'':{left}} | {'measured':{right}} |", f"|{'-' * (left + 2)}|{'-' * (right + 2)}|"]
    return "\n".join([*head, *(f"| {name:{left}} | {value:{right}} |" for name, value in rows)])


def draw_queue(subject: Subject, readings: Sequence[Reading], path: Path) -> None:
    """The queue's depth with its drops, and below it the throughput of the line."""
    figure, (queue, rate) = plt.subplots(
        2, 1, sharex=True, figsize=(9, 5.5), height_ratios=(2, 1), layout="constrained"
    )
    figure.suptitle(subject.title)
    _draw_depth(queue, subject, readings)
    _draw_rate(rate, subject, readings)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_depth(axes: plt.Axes, subject: Subject, readings: Sequence[Reading]) -> None:
    times = [reading.time_s for reading in readings]
    depths = [reading.depth_packets for reading in readings]
    axes.plot(times, depths, color=_QUEUE_COLOUR, linewidth=1, label="packets in the queue")
    axes.axhline(
        subject.limit_packets, color=_LIMIT_COLOUR, linestyle="--", linewidth=1, label="limit"
    )
    drops = [
        after.time_s
        for before, after in itertools.pairwise(readings)
        if after.dropped_packets > before.dropped_packets
    ]
    if drops:
        axes.plot(
            drops,
            [subject.limit_packets] * len(drops),
            linestyle="",
            marker="v",
            markersize=5,
            color=_DROP_COLOUR,
            label="packets dropped",
        )
    axes.set_ylabel("queue (packets)")
    # Room above the limit for the drops and the legend.
    axes.set_ylim(0, subject.limit_packets * 1.25)
    axes.legend(loc="upper right", ncols=3, frameon=False)


def _draw_rate(axes: plt.Axes, subject: Subject, readings: Sequence[Reading]) -> None:
    times, rates = windowed_mbps(readings)
    axes.plot(times, rates, color=_RATE_COLOUR, linewidth=1.2, label="sent on the line")
    axes.axhline(
        subject.line_rate_bps / 1e6, color=_LIMIT_COLOUR, linestyle="--", linewidth=1, label="rate"
    )
    axes.set_xlabel("time (s)")
    axes.set_ylabel("Mb/s")
    axes.set_ylim(0, subject.line_rate_bps / 1e6 * 1.25)
    axes.legend(loc="lower right", ncols=2, frameon=False)


def windowed_mbps(readings: Sequence[Reading]) -> tuple[list[float], list[float]]:
    """The middle of each window and the mean rate in it, in Mb/s."""
    times: list[float] = []
    rates: list[float] = []
    start = readings[0]
    for reading in readings:
        span_s = reading.time_s - start.time_s
        if span_s >= WINDOW_S:
            times.append((reading.time_s + start.time_s) / 2)
            rates.append((reading.departed_bytes - start.departed_bytes) * 8 / span_s / 1e6)
            start = reading
    return times, rates
