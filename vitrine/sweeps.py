"""A sweep from a notebook: one experiment over parameters and seeds."""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass
from pathlib import Path

from controller.toolchain import ROOT
from labs.sweep import command, plan
from labs.sweep.crew.local import Local
from labs.sweep.journal import Journal
from labs.sweep.plan import Sweep
from labs.sweep.showing import drawing, page
from vitrine.shown import Picture, Table


@dataclass(frozen=True)
class Swept:
    """The results of a sweep."""

    plan: Sweep
    table: Table
    figures: list[Picture]

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def sweep(text: str, *, quick: bool = False) -> Swept:
    """Measures every point of a sweep that is written down as docs/sweeps.md says.

    Files that it names are seen from the kit's folder.
    """
    with tempfile.TemporaryDirectory(prefix="vitrine-") as name:
        folder = Path(name)
        file = folder / "notebook.yaml"
        file.write_text(text.replace("topology: ", f"topology: {ROOT}/"))
        found = plan.read(file, quick=quick)
        with Local() as crew:
            kept = command.conduct(found, crew, io.StringIO(), results=folder)
        with Journal(kept) as journal:
            rows = [(job, journal.rows[job.key]) for job in found.jobs()]
    figures = [
        Picture(drawing.figure(found, each, drawing.chosen(each, rows))) for each in found.figures
    ]
    return Swept(found, Table(page.table(found, rows)), figures)
