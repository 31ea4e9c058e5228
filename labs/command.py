"""Conducting a lab from start to end: narrate, record, assess, report."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from controller.toolchain import Toolchain
from labs import ownership, report
from labs.bench import Bench
from labs.definition import Assessment, Lab
from labs.narration import Narrator
from labs.network import ROOT
from labs.recording import Recording
from labs.report import comparison, table
from labs.report.comparison import Side
from labs.run import Run
from labs.settings import Settings
from topo import wait

LOGS = ROOT / "build" / "log"
RESULTS = ROOT / "out"
# How often a run is conducted at most, until the machine leaves it alone.
ATTEMPTS = 2


def conduct(lab: Lab, output: TextIO, *, results: Path = RESULTS) -> Assessment:
    """All runs of a lab, and its report in `results`/<lab>; what was there before is replaced."""
    return _conduct(lab, output, results).assessment


def _conduct(lab: Lab, output: TextIO, results: Path) -> Side:
    folder, logs = folder_of(lab, results), LOGS / lab.name
    runs = lab.runs()
    narrator = Narrator(runs, output)
    print(f"{lab.name}: {lab.question}", file=output)
    for sentence in lab.left_out:
        print(f"      left out: {sentence}", file=output)
    shutil.rmtree(folder, ignore_errors=True)
    recordings: dict[str, Recording] = {}
    try:
        with Bench(logs, narrator, lab.settings.toolchain) as bench:
            for run in runs:
                narrator.begin(run)
                recordings[run.name] = conduct_undisturbed(lab, run, bench)
                # At once, so that an interrupted lab leaves what it has seen.
                recordings[run.name].write(folder / "data" / run.name)
        assessment = replace(
            lab.assess(recordings),
            remarks=_remarks(lab, recordings),
            disturbances=_disturbances(recordings),
        )
        pictures = report.write(lab, recordings, assessment, folder)
    finally:
        ownership.give_back(logs)
        ownership.give_back(results)
    _tell(assessment, folder, output)
    return Side(lab, assessment, pictures)


def conduct_both(
    kind: type[Lab], settings: Settings, output: TextIO, *, results: Path = RESULTS
) -> Assessment:
    """The lab with either toolchain, and a report that shows them side by side.

    The assessment is that of our switch; the other one's bands are in its own report.
    """
    # Both are made before either starts: a lab that needs our switch says so at once.
    labs = [kind(replace(settings, toolchain=toolchain)) for toolchain in Toolchain]
    sides = [_conduct(lab, output, results) for lab in labs]
    folder = results / f"{kind.name}-both"
    comparison.write(sides, folder)
    ownership.give_back(results)
    print(f"\nSide by side: {_shown(folder)}/report.html", file=output)
    return sides[0].assessment


def folder_of(lab: Lab, results: Path = RESULTS) -> Path:
    """Where a lab's report lies; with another toolchain it has a folder of its own."""
    toolchain = lab.settings.toolchain
    return results / (
        lab.name if toolchain is Toolchain.VITRINE else f"{lab.name}-{toolchain.value}"
    )


def _remarks(lab: Lab, recordings: Mapping[str, Recording]) -> list[str]:
    """Each once, in the order of the runs."""
    said = [f"Left out: {sentence}" for sentence in lab.left_out]
    said += [remark for recording in recordings.values() for remark in recording.remarks]
    return list(dict.fromkeys(said))


def conduct_undisturbed(lab: Lab, run: Run, bench: Bench) -> Recording:
    """Repeats a run that the machine disturbed; if it disturbs again, the calmer one counts."""
    recordings: list[Recording] = []
    for attempts_left in reversed(range(_attempts())):
        recordings.append(lab.conduct(run, bench))
        hold_ups = recordings[-1].hold_ups
        if not hold_ups.disturb:
            return recordings[-1]
        bench.narrator.note(f"{hold_ups}{': once more' if attempts_left else ''}")
    return min(recordings, key=lambda recording: recording.hold_ups.share)


def _attempts() -> int:
    """A machine that is known to be slow would disturb the repetition, too."""
    return 1 if wait.patience() > 1 else ATTEMPTS


def _disturbances(recordings: Mapping[str, Recording]) -> list[str]:
    return [
        f"{name}: {recording.hold_ups}"
        for name, recording in recordings.items()
        if recording.hold_ups.disturb
    ]


def _tell(assessment: Assessment, folder: Path, output: TextIO) -> None:
    print(f"\n{table.markdown(assessment.rows)}\n", file=output)
    for band in assessment.bands:
        print(f"{'met    ' if band.met else 'NOT MET'} {band}", file=output)
    for disturbance in assessment.disturbances:
        print(f"disturbed {disturbance}", file=output)
    for remark in assessment.remarks:
        print(remark, file=output)
    place = _shown(folder)
    print(f"\nReport: {place}/report.html, all numbers: {place}/results.json", file=output)


def _shown(folder: Path) -> Path:
    return folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
