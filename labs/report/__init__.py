"""What a lab leaves behind in out/<lab>/: the report, its figures, every number, the raw data.

report.html      the report, one file that opens from disk
table.md         its table in Markdown
results.json     every number, the bands and their verdicts, the machine
figures/*.png    the figures of the report
data/<run>/*     what every instrument saw
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labs.definition import Assessment, Lab
from labs.machine import Machine
from labs.recording import Recording
from labs.report import drawing, html, results, table
from labs.report.html import Picture


def write(
    lab: Lab, recordings: Mapping[str, Recording], assessment: Assessment, folder: Path
) -> list[Picture]:
    """Writes everything but the raw data, which is written run by run; returns the figures."""
    machine = Machine.this_one()
    pictures = []
    for figure in lab.figures(recordings):
        path = folder / "figures" / f"{figure.name}.png"
        drawing.save(figure, path)
        pictures.append((figure, path.read_bytes()))
    (folder / "table.md").write_text(table.markdown(assessment.rows) + "\n")
    (folder / "results.json").write_text(results.document(lab, assessment, machine))
    data = sorted(path.relative_to(folder) for path in (folder / "data").rglob("*.*"))
    (folder / "report.html").write_text(html.page(lab, assessment, machine, pictures, data))
    return pictures
