"""Conducting a lab from start to end: narrate, record, assess, report."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TextIO

from labs import ownership, report
from labs.bench import Bench
from labs.definition import Assessment, Lab
from labs.narration import Narrator
from labs.network import ROOT
from labs.recording import Recording
from labs.report import table

LOGS = ROOT / "build" / "log"
RESULTS = ROOT / "out"


def conduct(lab: Lab, output: TextIO, *, results: Path = RESULTS) -> Assessment:
    """All runs of a lab, and its report in `results`/<lab>; what was there before is replaced."""
    folder, logs = results / lab.name, LOGS / lab.name
    runs = lab.runs()
    narrator = Narrator(runs, output)
    print(f"{lab.name}: {lab.question}", file=output)
    shutil.rmtree(folder, ignore_errors=True)
    recordings: dict[str, Recording] = {}
    try:
        with Bench(logs, narrator) as bench:
            for run in runs:
                narrator.begin(run)
                recordings[run.name] = lab.conduct(run, bench)
                # At once, so that an interrupted lab leaves what it has seen.
                recordings[run.name].write(folder / "data" / run.name)
        assessment = lab.assess(recordings)
        report.write(lab, recordings, assessment, folder)
    finally:
        ownership.give_back(logs)
        ownership.give_back(results)
    _tell(assessment, folder, output)
    return assessment


def _tell(assessment: Assessment, folder: Path, output: TextIO) -> None:
    print(f"\n{table.markdown(assessment.rows)}\n", file=output)
    for band in assessment.bands:
        print(f"{'met    ' if band.met else 'NOT MET'} {band}", file=output)
    place = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
    print(f"\nReport: {place}/report.html, all numbers: {place}/results.json", file=output)
