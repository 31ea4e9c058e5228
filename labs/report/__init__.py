"""A lab's files in its folder: the report, its figures, every number, the raw data.

report.html      the report, one file that opens from disk
table.md         its table in Markdown
results.json     every number, the bands and their verdicts, the machine, the kit's commit
figures/*.svg    the figures of the report
figures/*.csv    what each of them shows
data/<run>/*     what every instrument saw
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labs.definition import Assessment, Lab
from labs.files import replace_text
from labs.machine import Machine
from labs.recording import Recording
from labs.report import html, network, results, table
from labs.report.html import Picture
from labs.report.pictures import pictures_in
from topo.units import counted


def write(
    lab: Lab,
    recordings: Mapping[str, Recording],
    assessment: Assessment,
    folder: Path,
    machine: Machine,
) -> list[Picture]:
    """Writes everything but the raw data, which is written run by run; returns the figures."""
    figures = folder / "figures"
    pictures = pictures_in(figures, (network.figure(lab.place), *lab.figures(recordings)))
    (folder / "table.md").write_text(table.markdown(assessment.rows) + "\n")
    replace_text(folder / "results.json", results.document(lab, assessment, machine))
    files = [*(folder / "data").rglob("*.*"), *figures.glob("*.csv")]
    names = sorted(path.relative_to(folder) for path in files)
    waited = in_front(recordings)
    page = html.page(lab, assessment, machine, pictures, names, waited)
    (folder / "report.html").write_text(page)
    return pictures


def in_front(recordings: Mapping[str, Recording]) -> list[list[str]]:
    """By run and port, the most packets that ever waited in the neighbour's network card."""
    most = (
        (name, port, max(series.backlog_packets, default=0))
        for name, recording in recordings.items()
        for port, series in recording.ports.items()
    )
    return [[name, port, counted(packets, "packet")] for name, port, packets in most if packets]
