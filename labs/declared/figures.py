"""The figures of lab files: panels by name, above each other, over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import matplotlib.figure
from matplotlib.axes import Axes

from labs import palette
from labs.declared.measures import Measures
from labs.report import drawing


@dataclass(frozen=True)
class Shown:
    """A run as the panels draw it."""

    title: str
    measures: Measures
    limit_packets: int | None
    # Of several flows of one kind the first.
    flows: Sequence[str]
    # Horizontal lines in the panels of the queue, by label.
    levels: Mapping[str, float]
    # Names of the port's classes, where it has several.
    classes: Mapping[int, str]


Canvas: TypeAlias = matplotlib.figure.Figure
# How a lab's own Python draws: with the runs that it is about, by name.
Drawing: TypeAlias = Callable[[Canvas, Mapping[str, Shown]], None]


def draw(canvas: Canvas, title: str, runs: Sequence[Shown], panels: Sequence[str]) -> None:
    """Every panel of each run; where there are several runs, each begins with its title."""
    rows = [(run, panel) for run in runs for panel in panels]
    stacked = drawing.stack(canvas, [PANELS[panel].height for _, panel in rows], title=title)
    for axes, (run, panel) in zip(stacked, rows, strict=True):
        PANELS[panel].draw(axes, run)
        if len(runs) > 1 and panel == panels[0]:
            axes.set_title(run.title, fontsize=10.5, loc="left")


@dataclass(frozen=True)
class Panel:
    """One kind of panel, and how high it is beside the others."""

    draw: Callable[[Axes, Shown], None]
    height: float = 1.0


def _queue(axes: Axes, run: Shown) -> None:
    """Packets in the queue, its limit and its drops."""
    drawing.queue_depth(axes, run.measures.series, limit_packets=run.limit_packets)
    _levels(axes, run)


def _settled_queue(axes: Axes, run: Shown) -> None:
    """The same on the scale that the queue has once flows are settled; each class on its own."""
    series = run.measures.series
    shown = {name: series.queues[class_].packets for class_, name in run.classes.items()}
    for (name, packets), own in zip(
        (shown or {"packets that wait": series.packets}).items(),
        (drawing.INK, *palette.FLOWS[::-1]),
        strict=False,
    ):
        times, depths = drawing.thinned(series.time_s, packets)
        axes.plot(times, depths, color=own, linewidth=0.9, label=name)
    _levels(axes, run)
    _scaled(axes, run, series.packets[run.measures.rows], "queue\n(packets)")


def _delay(axes: Axes, run: Shown) -> None:
    """The delay of the queue, on the same scale."""
    times, waits = drawing.thinned(run.measures.series.time_s, run.measures.all_delays_ms)
    axes.plot(times, waits, color=drawing.INK, linewidth=0.9, label="queue delay")
    _levels(axes, run)
    _scaled(axes, run, run.measures.delays_ms, "delay (ms)")


def _levels(axes: Axes, run: Shown) -> None:
    for words, value in run.levels.items():
        drawing.level(axes, value, words)


def _scaled(axes: Axes, run: Shown, settled: Sequence[float], label: str) -> None:
    # Slow start goes beyond the picture.
    top = 1.25 * max([1.0, *settled, *run.levels.values()])
    drawing.drop_marks(axes, run.measures.series.drops, height=top)
    axes.set_ylim(0, top * 1.1)
    axes.set_ylabel(label)
    drawing.legend(axes)


def _windows(axes: Axes, run: Shown) -> None:
    """The congestion windows."""
    flows = {name: run.measures.flow(name).samples for name in run.flows}
    drawing.congestion_window(axes, flows, thresholds=len(flows) == 1)


def _rate(axes: Axes, run: Shown) -> None:
    """The rate on the line."""
    sent = {"sent on the line": drawing.port_rate(run.measures.series, 0.2)}
    drawing.throughput(axes, sent, line_rate_bps=run.measures.rate_bps)


def _flow_rates(axes: Axes, run: Shown) -> None:
    """The payload rate of each flow."""
    flows = run.measures.recording.flows
    rates = {name: flow.rates(0.5) for name, flow in flows.items()}
    drawing.throughput(axes, rates, line_rate_bps=run.measures.rate_bps)


def _pings(axes: Axes, run: Shown) -> None:
    """Every answer of the pings."""
    found = run.measures.recording.pings
    drawing.round_trips(
        axes,
        {
            name if name.startswith("ping") else f"ping, {name}": pings.echoes
            for name, pings in found.items()
        },
    )


PANELS: Mapping[str, Panel] = {
    "queue": Panel(_queue, 2.0),
    "settled queue": Panel(_settled_queue, 1.3),
    "delay": Panel(_delay, 1.3),
    "windows": Panel(_windows, 1.3),
    "rate": Panel(_rate),
    "flow rates": Panel(_flow_rates),
    "pings": Panel(_pings),
}


def height(panels: Sequence[str], runs: Sequence[str]) -> float:
    """In inches, where the file does not say."""
    return 1.0 + 1.4 * len(runs) * sum(PANELS[panel].height for panel in panels)
