"""Pictures to project: a figure of the latest kept run of each lab, as PNG.

    vitrine run --all --world virtual --quick
    build/venv/bin/python -m labs.report.projected docs/teaching/pictures [LAB ...]

`FIGURE` says which figure it is where the main one does not say the most.
"""

from __future__ import annotations

import sys
from pathlib import Path

from labs import archive, catalogue
from labs.archive import RESULTS
from labs.command import read_recordings
from labs.definition import Lab
from labs.errors import LabError
from labs.report import drawing
from labs.settings import Settings

# Nine inches wide: enough for a projector, and some ten kilobytes.
DOTS_PER_INCH = 130
FIGURE = {"crossbar-arbiters": "waits", "queue-management": "delays"}


def write(kind: type[Lab], folder: Path, *, results: Path = RESULTS) -> Path:
    """The picture of a lab's latest run."""
    kept = archive.find(kind.name, results)
    if kept.results is None:
        raise LabError(f"{kept.name} has no results: run the lab again.")
    lab = kind(Settings.from_document(kept.results["settings"]))
    figures = {figure.name: figure for figure in lab.figures(read_recordings(lab, kept))}
    figure = figures[FIGURE.get(kind.name, next(iter(figures)))]
    file = folder / f"{kind.name}.png"
    folder.mkdir(parents=True, exist_ok=True)
    with drawing.drawn(figure) as canvas:
        canvas.savefig(file, dpi=DOTS_PER_INCH, metadata={"Software": None})
    return file


def main(arguments: list[str]) -> int:
    """One for each lab that is named, or for all."""
    if not arguments:
        print("say where they go: labs.report.projected FOLDER [LAB ...]", file=sys.stderr)
        return 2
    folder, *names = arguments
    try:
        for kind in [catalogue.named(name) for name in names] or catalogue.LABS:
            print(write(kind, Path(folder)))
    except LabError as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
