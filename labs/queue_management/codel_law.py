"""CoDel's law of drops under a flood, and two figures that only this lab has."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import matplotlib.figure

from labs import palette
from labs.declared.figures import Shown
from labs.declared.measures import Measures
from labs.report import drawing

# CoDel's first drops are looked at.
SPACINGS = 25
INTERVAL_MS = 100.0


def codel_off_ms(run: Measures) -> float:
    """How far the instants of the first drops are from CoDel's law, at most."""
    pairs = list(zip(drop_instants_ms(run), law_ms(), strict=False))
    if len(pairs) < SPACINGS:
        return math.nan
    return max(abs(found - said) for found, said in pairs)


def law_ms() -> list[float]:
    """When CoDel drops under overload, from its first drop on: each interval / sqrt(n) later."""
    instants = [0.0]
    for number in range(1, SPACINGS):
        instants.append(instants[-1] + INTERVAL_MS / math.sqrt(number))
    return instants


def drop_instants_ms(run: Measures) -> list[float]:
    """When CoDel dropped its first packets, from the first one on."""
    drops = [drop.time_s for drop in run.series.drops if drop.reason == "AQM"]
    return [1000 * (time_s - drops[0]) for time_s in drops[:SPACINGS]]


def delays(canvas: matplotlib.figure.Figure, runs: Mapping[str, Shown]) -> None:
    """The delays of each run as a distribution."""
    axes = canvas.subplots()
    for run, own in zip(runs.values(), palette.FLOWS, strict=False):
        ordered = sorted(run.measures.delays_ms)
        shown = ordered[:: max(1, len(ordered) // 500)]
        shares = [(place + 1) / len(shown) for place in range(len(shown))]
        axes.plot(shown, shares, color=own, linewidth=1.6, label=run.title)
    axes.set_xscale("log")
    axes.set_xlim(left=0.5)
    axes.set_xlabel("queue delay (ms)")
    axes.set_ylabel("part of the time\nwith at most that")
    axes.set_ylim(0, 1.01)
    drawing.grid(axes)
    drawing.legend(axes)


def spacing(canvas: matplotlib.figure.Figure, runs: Mapping[str, Shown]) -> None:
    """The flood's queue, and the time between its drops."""
    queue, gaps = canvas.subplots(1, 2, width_ratios=(1.2, 1))
    (run,) = (each.measures for each in runs.values())
    queue.plot(
        *drawing.thinned(run.series.time_s, run.all_delays_ms),
        color=drawing.INK,
        linewidth=1,
        label="queue delay",
    )
    drawing.drop_marks(queue, run.series.drops, height=queue.get_ylim()[1])
    queue.set_xlabel("time (s)")
    queue.set_ylabel("delay (ms)")
    found = _gaps(drop_instants_ms(run))
    gaps.plot(*found, color=palette.RED, linestyle="", marker="o", markersize=4, label="drops")
    gaps.plot(*_gaps(law_ms()), color=palette.GREY, linewidth=1.2, label="100 ms / √n")
    gaps.set_ylim(0, 110)
    gaps.set_xlabel("drop number")
    gaps.set_ylabel("time to the next one (ms)")
    for axes in (queue, gaps):
        drawing.grid(axes)
        drawing.legend(axes)


def _gaps(instants: list[float]) -> tuple[list[int], list[float]]:
    found = [after - before for before, after in itertools.pairwise(instants)]
    return list(range(1, len(found) + 1)), found


MEASURES = {"codel_off_ms": codel_off_ms}
FIGURES = {"delays": delays, "spacing": spacing}
