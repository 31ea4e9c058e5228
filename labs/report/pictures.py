"""The figures of a report as files: what is seen, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from labs.definition import Figure
from labs.report import drawing
from labs.report.html import Picture


def pictures_in(folder: Path, figures: Iterable[Figure]) -> list[Picture]:
    """Draws each and leaves it in the folder, as SVG and as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for figure in figures:
        with drawing.drawn(figure) as canvas:
            svg = drawing.svg(canvas)
            (folder / f"{figure.name}.csv").write_text(drawing.data(canvas))
        (folder / f"{figure.name}.svg").write_bytes(svg)
        pictures.append((figure, svg))
    return pictures
