"""Two switches beside each other: the same lab's table, bands and main figures in one page.

The rows are joined by what they say is measured. What one side left out is empty on that side, and
each side's remarks stand above the table: numbers of different switches mean little without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from controller.toolchain import Toolchain
from labs.definition import Assessment, Lab
from labs.machine import Machine
from labs.report import html
from labs.report.html import Picture

_SWITCHES = {Toolchain.VITRINE: "vitrine-switch", Toolchain.P4LANG: "simple_switch_grpc"}


@dataclass(frozen=True)
class Side:
    """A lab as it was conducted with one toolchain."""

    lab: Lab
    assessment: Assessment
    pictures: Sequence[Picture]

    @property
    def switch(self) -> str:
        """The switch that was measured."""
        return _SWITCHES[self.lab.settings.toolchain]


def write(sides: Sequence[Side], folder: Path) -> None:
    """Writes the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.html").write_text(page(sides, Machine.this_one()))


def page(sides: Sequence[Side], machine: Machine) -> str:
    """The whole document, for sides in the order of their columns."""
    lab = sides[0].lab
    head = ["", "document", "theory", *(side.switch for side in sides)]
    parts = [
        f"<h1>{escape(lab.name)}, two switches</h1>",
        f'<p class="question">{escape(lab.question)}</p>',
        f'<p class="machine">{escape(str(machine))}.</p>',
        "<p>The same P4 program, controller, topology and hosts on either side.</p>",
        *_remarks(sides),
        html.rows_of(head, rows(sides)),
    ]
    for side in sides:
        parts.append(f"<h2>{escape(side.switch)}</h2>")
        # The first figure of a lab is its main one; the others are in the side's own report.
        (figure, png), *_ = side.pictures
        parts.append(html.picture(f"{side.switch}. {figure.caption}", png))
        parts.append(html.bands(side.assessment))
    return html.document(f"{lab.name}, two switches", parts)


def rows(sides: Sequence[Side]) -> list[list[str]]:
    """What was measured on each side, joined by what it is."""
    found = [{row.what: row for row in side.assessment.rows} for side in sides]
    order = dict.fromkeys(what for column in found for what in column)
    joined = []
    for what in order:
        either = next(column[what] for column in found if what in column)
        measured = [column[what].measured if what in column else "" for column in found]
        joined.append([what, either.document, either.theory, *measured])
    return joined


def _remarks(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        for remark in side.assessment.remarks:
            yield f"<p>{escape(side.switch)}: {escape(remark)}</p>"
