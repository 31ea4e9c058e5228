"""The report of a sweep: its question, its figures, and a table of every point."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from labs import expression
from labs.machine import Machine
from labs.report import drawing as canvases
from labs.report import html
from labs.report.html import Picture
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.measure import Row
from labs.sweep.plan import Sweep
from labs.sweep.showing import drawing
from labs.sweep.showing.outcome import Mean
from labs.world import World

# A page with more rows than that is nothing to read; the Parquet file has them all.
_POINTS_MAX = 300


def write(sweep: Sweep, rows: Sequence[tuple[Job, Row]], machine: Machine, folder: Path) -> None:
    """Writes `report.html`, and each figure as SVG with its numbers as CSV beside it."""
    place = folder / "figures"
    place.mkdir(exist_ok=True)
    pictures = []
    for plan in sweep.figures:
        own = drawing.chosen(plan, rows)
        figure = drawing.figure(sweep, plan, own)
        with canvases.drawn(figure) as canvas:
            svg = canvases.svg(canvas)
        (place / f"{plan.name}.csv").write_text(drawing.data(sweep, plan, own))
        (place / f"{plan.name}.svg").write_bytes(svg)
        pictures.append((figure, svg))
    (folder / "report.html").write_text(_page(sweep, rows, machine, pictures))


def _page(
    sweep: Sweep,
    rows: Sequence[tuple[Job, Row]],
    machine: Machine,
    pictures: Sequence[Picture],
) -> str:
    rows_file = f"{sweep.name}.parquet"
    parts = [
        f"<h1>{escape(sweep.title)}</h1>",
        f'<p class="question">{escape(sweep.question)}</p>',
        f'<p class="machine">{escape(str(machine))}.</p>',
        f'<p class="machine">{escape(World.VIRTUAL.sentence)}</p>',
        f"<p>{escape(_summary(sweep, rows))}</p>",
        *(html.picture(*each) for each in pictures),
        "<h2>Every point</h2>",
        f"<p>Means over seeds, with half of their 95 % confidence interval. Every row, with all "
        f'that made it: <a href="{quote(rows_file)}"><code>{escape(rows_file)}</code></a>.</p>',
        html.table_of(table(sweep, rows)),
        "<h2>The sweep</h2>",
        f"<pre>{escape(sweep.text)}</pre>",
    ]
    return html.document(sweep.title, parts)


def _summary(sweep: Sweep, rows: Sequence[tuple[Job, Row]]) -> str:
    expected = len(sweep.points) * len(sweep.seeds) * sweep.repetitions
    seeds = f"{len(sweep.seeds)} seed{'s' if len(sweep.seeds) > 1 else ''}"
    took_s = sum(row.took_s for _, row in rows)
    words = f"{len(sweep.points)} points with {seeds} each, {took_s / 60:.3g} processor minutes."
    if sweep.repetitions > 1:
        words += f" Each was repeated {sweep.repetitions} times, to the same numbers."
    if len(rows) < expected:
        words += f" {expected - len(rows)} of {expected} rows are missing."
    return words


def table(sweep: Sweep, rows: Sequence[tuple[Job, Row]]) -> list[list[str]]:
    """A line for each point: its parameters, and the mean of each number."""
    by_point: dict[tuple[object, ...], list[tuple[Job, Row]]] = {}
    for job, row in rows:
        if job.repetition == 1:
            by_point.setdefault(tuple(job.values.values()), []).append((job, row))
    parameters = list(sweep.points[0].values)
    numbers = list(dict.fromkeys(name for _, row in rows for name in row.numbers))
    lines = [[*parameters, *numbers]]
    for own in list(by_point.values())[:_POINTS_MAX]:
        values = [expression.word(own[0][0].values[name]) for name in parameters]
        found = [[row.numbers[name] for _, row in own if name in row.numbers] for name in numbers]
        lines.append([*values, *(_shown(each) for each in found)])
    return lines


def _shown(found: Sequence[float]) -> str:
    if not found:
        return ""
    mean = Mean.of(found)
    return f"{mean.value:.4g} ± {mean.half:.2g}" if mean.half else f"{mean.value:.4g}"
