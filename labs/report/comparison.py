"""Kept runs of one lab beside each other: table, figures and bands in one page.

The rows are joined by what they say is measured. Figures of one name are drawn on one scale, so
that what looks larger is larger.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import matplotlib.figure

from controller.toolchain import Toolchain
from labs.archive import Kept
from labs.definition import Assessment, Figure, Lab, Row
from labs.recording import Recording
from labs.report import drawing, html
from labs.text import capitalised

_SWITCHES = {Toolchain.VITRINE: "vitrine-switch", Toolchain.P4LANG: "simple_switch_grpc"}
_SOURCES: Mapping[str, Callable[[Row], str]] = {
    "the original": lambda row: row.original,
    "theory": lambda row: row.theory,
}
_STYLE = """<style>
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
body { max-width: 90rem; } .sides figure { margin: .5rem 0; }
@media print {
  /* Two below each other fit on a sheet, at one scale and large enough to be read. */
  .sides { display: block; } .sides figure .wide img { max-height: 10.5cm; }
}
</style>"""


@dataclass(frozen=True)
class Side:
    """A lab as it was run once."""

    lab: Lab
    kept: Kept
    assessment: Assessment
    recordings: Mapping[str, Recording]


def write(sides: Sequence[Side], folder: Path) -> None:
    """Writes the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.html").write_text(page(sides))


def page(sides: Sequence[Side]) -> str:
    """The whole document, for sides in the order of their columns."""
    lab, names = sides[0].lab, titles(sides)
    title = f"{lab.title}: {' and '.join(names)}"
    parts = [
        _STYLE,
        f"<h1>{escape(title)}</h1>",
        f'<p class="question">{escape(lab.question)}</p>',
        *_runs(sides, names),
        html.table_of(table(sides)),
    ]
    for figures in _joined_figures(sides):
        parts.append('<div class="sides">')
        for name, (figure, svg) in zip(names, figures, strict=True):
            caption = f"{capitalised(name)}. {figure.caption}"
            shown = Figure(f"{figure.name}-{name}", caption, figure.draw)
            parts.append(html.picture(shown, svg))
        parts.append("</div>")
    for side, name in zip(sides, names, strict=True):
        parts += [f"<h2>{escape(capitalised(name))}</h2>", html.bands(side.assessment)]
    return html.document(title, parts)


def titles(sides: Sequence[Side]) -> list[str]:
    """The titles that distinguish the sides: worlds, switches, settings, or else their dates."""
    worlds = [side.lab.settings.world for side in sides]
    if len(set(worlds)) == len(sides):
        return [world.title for world in worlds]
    toolchains = [side.lab.settings.toolchain for side in sides]
    if len(set(toolchains)) == len(sides):
        return [_SWITCHES[toolchain] for toolchain in toolchains]
    settings = [side.lab.settings.words() for side in sides]
    same = set.intersection(*map(set, settings))
    names = [
        " ".join(word for word in each if word not in same) or "the lab's own settings"
        for each in settings
    ]
    return names if len(set(names)) == len(sides) else [side.kept.folder.name for side in sides]


def table(sides: Sequence[Side]) -> list[list[str]]:
    """Head, and each side's measurements, joined by their names.

    What the original and theory say stands once where it is the same for all sides, else beside
    each side's own numbers, and nowhere if they say nothing.
    """
    names = titles(sides)
    found = [{row.what: row for row in side.assessment.rows} for side in sides]
    order = list(dict.fromkeys(what for rows in found for what in rows))
    shared: list[list[str]] = []
    of_sides: list[list[list[str]]] = [[] for _ in sides]
    for source, read in _SOURCES.items():
        told = [{what: read(row) for what, row in rows.items()} for rows in found]
        if all(len({words[what] for words in told if what in words}) == 1 for what in order):
            together = {what: word for words in told for what, word in words.items()}
            shared.append([source, *(together[what] for what in order)])
        else:
            for columns, name, words in zip(of_sides, names, told, strict=True):
                columns.append([f"{source}, {name}", *(words.get(what, "") for what in order)])
    for columns, name, rows in zip(of_sides, names, found, strict=True):
        columns.append([name, *(_measured(rows[what]) if what in rows else "" for what in order)])
    columns = [column for column in (*shared, *itertools.chain(*of_sides)) if any(column[1:])]
    return [list(line) for line in zip(["", *order], *columns, strict=True)]


def _measured(row: Row) -> str:
    return f"{row.measured} (other seeds: {row.other_seeds})" if row.other_seeds else row.measured


def _runs(sides: Sequence[Side], names: Sequence[str]) -> Iterator[str]:
    for side, name in zip(sides, names, strict=True):
        machine = side.kept.results["machine"] if side.kept.results else {}
        words = f"{capitalised(name)}: {side.kept.name}, kit {machine.get('kit', 'unknown')}."
        yield f'<p class="machine">{escape(words)}</p>'
        for remark in (*side.assessment.disturbances, *side.assessment.remarks):
            yield f"<p>{escape(name)}: {escape(remark)}</p>"


def _joined_figures(sides: Sequence[Side]) -> Iterator[list[tuple[Figure, bytes]]]:
    """The figures that all sides have, and those of one name on one scale.

    Where a setting is in a figure's name, its place among the others says what belongs together.
    """
    of_sides = [side.lab.figures(side.recordings) for side in sides]
    for figures in zip(*of_sides, strict=False):
        with contextlib.ExitStack() as stack:
            canvases = [stack.enter_context(drawing.drawn(figure)) for figure in figures]
            _on_one_scale(canvases)
            yield [
                (figure, drawing.svg(canvas))
                for figure, canvas in zip(figures, canvases, strict=True)
            ]


def _on_one_scale(canvases: Sequence[matplotlib.figure.Figure]) -> None:
    """Panels that correspond show the same span of both axes."""
    if len({len(canvas.axes) for canvas in canvases}) != 1:
        return
    for panels in zip(*(canvas.axes for canvas in canvases), strict=True):
        if len({axes.get_ylabel() for axes in panels}) != 1:
            continue
        x = [axes.get_xlim() for axes in panels]
        y = [axes.get_ylim() for axes in panels]
        for axes in panels:
            axes.set_xlim(min(low for low, _ in x), max(high for _, high in x))
            axes.set_ylim(min(low for low, _ in y), max(high for _, high in y))
