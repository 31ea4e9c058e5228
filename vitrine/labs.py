"""A lab of the kit in virtual time, its numbers and figures; or one that was kept, drawn again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from labs import archive, catalogue, command
from labs.archive import RESULTS
from labs.definition import Assessment
from labs.definition import Lab as Definition
from labs.errors import LabError
from labs.report import table
from labs.settings import Settings
from labs.world import World as Which
from vitrine.shown import Glass, Picture, Table


class Lab:
    """A lab by its name; settings as `labs.settings.Settings` has them.

        lab = Lab("bufferbloat", quick=True, queue_packets=20).run()
        lab.table
        lab.figures[0]

    Without `run` it is the lab's last run in the results folder, read back.
    """

    def __init__(self, name: str, *, results: Path | None = None, **settings: Any) -> None:
        self._settings = Settings(world=Which.VIRTUAL, **settings)
        self._results = results or RESULTS
        self._definition: Definition = catalogue.named(name)(self._settings)
        self._assessment: Assessment | None = None

    @property
    def question(self) -> str:
        """Its question."""
        return self._definition.question

    def run(self) -> Lab:
        """Conducts all runs of the lab, and keeps them as `vitrine run` does."""
        self._assessment = command.conduct(self._definition, io.StringIO(), results=self._results)
        return self

    # ---- what came of it -------------------------------------------------------------------------

    @property
    def kept(self) -> Path:
        """The folder of the last run: its report, its data, its pages."""
        return archive.find(self._definition.name, self._results).folder

    @property
    def assessment(self) -> Assessment:
        """Rows, bands and numbers."""
        if self._assessment is None:
            kept = archive.find(self._definition.name, self._results)
            if kept.results is None:
                raise LabError(f"{kept.name} ended early, and has nothing to be read back.")
            settings = Settings.from_document(kept.results["settings"])
            self._definition = type(self._definition)(settings)
            self._assessment = command.side_of(self._definition, kept).assessment
        return self._assessment

    @property
    def numbers(self) -> dict[str, float]:
        """Every number behind the table, by a name that ends in its unit."""
        return dict(self.assessment.numbers)

    @property
    def table(self) -> Table:
        """The table: original, theory, measurement."""
        return Table(table.columns(self.assessment.rows))

    @property
    def bands(self) -> Table:
        """The bands, and whether they are met."""
        lines = [["claim", "found", "required", ""]]
        lines += [
            [band.claim, band.found, band.required, band.verdict.value]
            for band in self.assessment.bands
        ]
        return Table(lines)

    @property
    def figures(self) -> list[Picture]:
        """The figures of the report, drawn from the data of the run."""
        _ = self.assessment
        kept = archive.find(self._definition.name, self._results)
        recordings = command.read_recordings(self._definition, kept)
        return [Picture(figure) for figure in self._definition.figures(recordings)]

    def glass(self) -> Glass:
        """The insides of the routers in the last of the runs."""
        name = list(self._definition.runs())[-1].name
        return Glass((self.kept / "data" / name / "inside.html").read_text())
