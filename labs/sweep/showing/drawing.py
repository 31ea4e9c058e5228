"""A sweep's figures: means with their confidence, theory and levels beside them."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib.figure
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from labs import expression, palette
from labs.definition import Figure
from labs.expression import Value
from labs.report import drawing
from labs.sweep.figures import FigurePlan
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.measure import Row
from labs.sweep.plan import Sweep
from labs.sweep.showing.outcome import Mean

Rows = Sequence[tuple[Job, Row]]
_MARKS = "osD^vPX*"
# More values of x than this are not each worth a tick.
_TICKS_MAX = 12
_INTERVAL = "Bars are 95 % confidence intervals over seeds."
_ONE_SEED = "There was one seed, so nothing is known about chance."


def chosen(plan: FigurePlan, rows: Rows) -> Rows:
    """The rows that a figure is about. A repetition says nothing new."""
    return [
        (job, row)
        for job, row in rows
        if job.repetition == 1
        and all(job.values.get(name) == value for name, value in plan.only.items())
    ]


def figure(sweep: Sweep, plan: FigurePlan, rows: Rows) -> Figure:
    """One of the sweep's figures, of its rows."""

    def draw(canvas: matplotlib.figure.Figure) -> None:
        axes = canvas.subplots()
        _draw(axes, sweep, plan, rows)
        for name, level in plan.levels.items():
            drawing.level(axes, level, name)
        _scale(axes, plan, rows)
        drawing.grid(axes)
        drawing.legend(axes, columns=3)

    known = _INTERVAL if len(sweep.seeds) > 1 else _ONE_SEED
    return Figure(plan.name, f"{plan.caption} {known}".strip(), draw, height=5.2)


# ---- what is drawn -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A point of a line, with the interval around it."""

    x: float
    y: float
    low: float
    high: float


def series(sweep: Sweep, plan: FigurePlan, rows: Rows) -> dict[str, list[Point]]:
    """The lines of a figure, by name."""
    if plan.least is not None:
        return {
            f"{plan.y.replace('_', ' ')} of {level:g}": least(plan, plan.least.of, level, rows)
            for level in plan.least.levels
        }
    return {
        name: [Point(x, mean.value, mean.low, mean.high) for x, mean in line(own, plan).items()]
        for name, own in by_line(sweep, plan, rows).items()
    }


def data(sweep: Sweep, plan: FigurePlan, rows: Rows) -> str:
    """A figure as CSV: each point with its interval, and what theory says there."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(["series", plan.x, "mean", "low", "high"])
    for name, points in series(sweep, plan, rows).items():
        for each in points:
            figures = (each.x, each.y, each.low, each.high)
            writer.writerow([name, *map(expression.word, figures)])
    for theory, text in plan.theory.items():
        for name, curve in _theory(sweep, plan, text, rows).items():
            writer.writerows([f"{theory}, {name}".rstrip(", "), x, y, "", ""] for x, y in curve)
    return output.getvalue()


def by_line(sweep: Sweep, plan: FigurePlan, rows: Rows) -> dict[str, list[tuple[Job, Row]]]:
    """The rows of each line, by its name."""
    found: dict[str, list[tuple[Job, Row]]] = defaultdict(list)
    for job, row in rows:
        found[_line_name(sweep, plan, job.values)].append((job, row))
    return dict(found)


def _line_name(sweep: Sweep, plan: FigurePlan, values: Mapping[str, Value]) -> str:
    if plan.label:
        return expression.filled(plan.label, values)
    if plan.by:
        return ", ".join(f"{name} {expression.word(values[name])}" for name in sweep.axes[plan.by])
    return "measured"


def line(rows: Rows, plan: FigurePlan, x: str = "") -> dict[float, Mean]:
    """The mean of y at each x, over seeds and over whatever else differs."""
    found: dict[float, list[float]] = defaultdict(list)
    for job, row in rows:
        numbers = {**job.values, **row.numbers}
        key = x or plan.x
        if key in numbers and plan.y in numbers:
            found[float(numbers[key])].append(float(numbers[plan.y]))
    return {each: Mean.of(found[each]) for each in sorted(found)}


def least(plan: FigurePlan, of: str, level: float, rows: Rows) -> list[Point]:
    """At each x the smallest `of` at which y reaches the level, as far as it was tried."""
    by_x: dict[float, list[tuple[Job, Row]]] = defaultdict(list)
    for job, row in rows:
        by_x[float(job.values[plan.x])].append((job, row))
    points = []
    for x, own in sorted(by_x.items()):
        tried = line(own, plan, of)
        found = reached({each: mean.value for each, mean in tried.items()}, level)
        if found is None:
            continue
        # The upper edge of the interval reaches a level early, the lower one late.
        early = reached({each: mean.high for each, mean in tried.items()}, level)
        late = reached({each: mean.low for each, mean in tried.items()}, level)
        low, high = min(found, early or found), max(found, late or max(tried))
        points.append(Point(x, found, low, high))
    return points


def reached(tried: Mapping[float, float], level: float) -> float | None:
    """Where values first reach a level, between two of them along a straight line in log(x)."""
    before: tuple[float, float] | None = None
    for x, found in tried.items():
        if found >= level:
            if before is None or before[0] <= 0:
                return x
            part = (level - before[1]) / (found - before[1])
            return math.exp(math.log(before[0]) + part * math.log(x / before[0]))
        before = (x, found)
    return None


def _theory(
    sweep: Sweep, plan: FigurePlan, text: str, rows: Rows
) -> dict[str, tuple[tuple[float, float], ...]]:
    """The values of an expression along each line; one, without a name, where all are the same."""
    every = {"": rows} if plan.least else by_line(sweep, plan, rows)
    curves = {}
    for name, own in every.items():
        points = {
            float(job.values[plan.x]): expression.number(text, job.values)
            for job, _ in own
            if plan.x in job.values
        }
        curves[name] = tuple(sorted(points.items()))
    if len(set(curves.values())) == 1:
        return {"": next(iter(curves.values()))}
    return curves


# ---- drawing -------------------------------------------------------------------------------------


def _draw(axes: Axes, sweep: Sweep, plan: FigurePlan, rows: Rows) -> None:
    for index, (name, points) in enumerate(series(sweep, plan, rows).items()):
        axes.errorbar(
            [each.x for each in points],
            [each.y for each in points],
            yerr=[[it.y - it.low for it in points], [it.high - it.y for it in points]],
            label=name,
            color=_colour(index),
            marker=_MARKS[index % len(_MARKS)],
            markersize=4.5,
            linewidth=1.2,
            capsize=2.5,
            elinewidth=0.9,
        )
    for theory, text in plan.theory.items():
        for index, (name, curve) in enumerate(_theory(sweep, plan, text, rows).items()):
            axes.plot(
                [x for x, _ in curve],
                [y for _, y in curve],
                linestyle=":",
                linewidth=1.3,
                color=_colour(index) if name else drawing.INK,
                label=None if index else theory,
            )


def _colour(index: int) -> str:
    return palette.FLOWS[index % len(palette.FLOWS)]


# ---- axes ----------------------------------------------------------------------------------------


def _scale(axes: Axes, plan: FigurePlan, rows: Rows) -> None:
    axes.set_xscale(plan.x_scale)
    axes.set_yscale(plan.y_scale)
    if plan.y_range is not None:
        axes.set_ylim(*plan.y_range)
    axes.set_xlabel(plan.x_label or plan.x.replace("_", " "))
    drawn = plan.least.of if plan.least else plan.y
    axes.set_ylabel(plan.y_label or drawn.replace("_", " "))
    values = sorted({float(job.values[plan.x]) for job, _ in rows if plan.x in job.values})
    if plan.x_scale == "log" and len(values) <= _TICKS_MAX:
        # The values that were tried, rather than powers of ten.
        axes.xaxis.set_major_locator(FixedLocator(values))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        axes.xaxis.set_minor_locator(NullLocator())
