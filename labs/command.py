"""Running a lab from start to end: narrate, record, keep, assess, report."""

from __future__ import annotations

import contextlib
import csv
import errno
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from controller import ownership
from controller.addresses import Way
from controller.toolchain import ROOT
from labs import archive, recording_files, repeat, report, worlds
from labs.archive import RESULTS, Kept
from labs.bench import Bench
from labs.definition import Assessment, Band, Lab
from labs.errors import LabError
from labs.keeper import Keeper, in_words
from labs.machine import Machine
from labs.narration import Narrator
from labs.recording import Recording
from labs.repeat import Repetitions
from labs.report import comparison, early, table
from labs.report.comparison import Side
from labs.run import Run
from labs.settings import Settings
from labs.text import plain
from topo import wait

LOGS = ROOT / "build" / "log"
# The errors of a disk that takes no more.
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
# How long a lab waits for a calm machine before it gives up a disturbed run.
CALM_DEADLINE_S = 60.0
# So much of an error stands in a sentence.
_SAID_MAX = 200


def conduct(
    lab: Lab, output: TextIO, *, results: Path = RESULTS, way: Way = Way.SOCKET
) -> Assessment:
    """All runs of a lab, and its report in a folder of its own in `results`/<lab>."""
    return _conduct(lab, output, results, way)[2]


def _conduct(lab: Lab, output: TextIO, results: Path, way: Way) -> tuple[Lab, Path, Assessment]:
    logs = LOGS / lab.name
    print(f"{lab.name}: {lab.question}", file=output, flush=True)
    for sentence in lab.left_out:
        print(f"      left out: {sentence}", file=output)
    narrator = Narrator(lab.runs(), output)
    bench = worlds.bench(lab.settings, logs, narrator, announced=True, way=way)
    keeper = Keeper(lab, results)
    try:
        with bench:
            lab, chosen = _suited(lab, bench)
            keeper = Keeper(lab, results)
            pace = archive.earlier_pace(lab.name, lab.settings, lab.runs(), results)
            has_seeds = lab.settings.seeds > 1
            bench.narrator = Narrator(lab.runs(), output, earlier=pace, has_seeds=has_seeds)
            with Repetitions(lab, keeper) as repetitions:
                recordings = _recorded(lab, bench, keeper)
                if unfinished := repetitions.unfinished:
                    bench.narrator.wait_for_others(unfinished, repetitions.left_s())
                others = repetitions.wait()
        for recording in recordings.values():
            recording.remarks += chosen
        assessment = repeat.combined(assess(lab, recordings), others)
        keeper.complete(recordings, assessment)
        took = json.dumps(bench.narrator.pace().document())
        (keeper.folder / archive.PACE).write_text(f"{took}\n")
    except BaseException as error:
        print(f"\n{keeper.end_early(error, bench.unfinished)}", file=output, flush=True)
        if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
            raise LabError(f"{lab.name} ended early: {in_words(error)}.") from error
        raise
    finally:
        ownership.give_to_caller(logs)
        ownership.give_to_caller(results)
    _tell(assessment, keeper.folder, output)
    return lab, keeper.folder, assessment


def _suited(lab: Lab, bench: Bench) -> tuple[Lab, list[str]]:
    """The lab at a rate that this machine can carry, where the user has named none; and why."""
    settings = lab.settings
    if settings.rate_bps is not None or settings.quick or not lab.choices_bps:
        return lab, []
    chosen_bps, sentence = bench.best_rate(lab.choices_bps)
    for line in textwrap.wrap(sentence, 72):
        bench.narrator.note(line)
    said = [sentence] if sentence else []
    if chosen_bps == lab.choices_bps[0]:
        return lab, said
    return type(lab)(replace(settings, rate_bps=chosen_bps)), said


def conduct_both(
    kind: type[Lab],
    both: Sequence[Settings],
    output: TextIO,
    *,
    results: Path = RESULTS,
    way: Way = Way.SOCKET,
) -> Assessment:
    """The lab with either settings, and a report that shows them side by side.

    The assessment is the first one's; the other one's bands are in its own report.
    """
    # Both are made before either starts: a lab that needs our switch says so at once.
    first, second = (kind(settings) for settings in both)
    first, its_folder, assessment = _conduct(first, output, results, way)
    if kind.choices_bps:
        # The rate that the first one chose, so that both are of one line.
        second = kind(replace(second.settings, rate_bps=first.settings.rate_bps))
    second, folder, _ = _conduct(second, output, results, way)
    sides = [
        side_of(lab, archive.find(str(place)))
        for lab, place in ((first, its_folder), (second, folder))
    ]
    _compare(sides, output, results)
    return assessment


# ---- kept runs -----------------------------------------------------------------------------------


def compare(sides: Sequence[Side], output: TextIO, *, results: Path = RESULTS) -> None:
    """A report of kept runs beside each other."""
    _compare(sides, output, results)


def _compare(sides: Sequence[Side], output: TextIO, results: Path) -> None:
    names = "--".join(side.kept.folder.name for side in sides)
    folder = results / sides[0].lab.name / f"compared-{names}"
    comparison.write(sides, folder)
    ownership.give_to_caller(results)
    print(f"\nSide by side: {archive.shown(folder)}/report.html", file=output)


def side_of(lab: Lab, kept: Kept) -> Side:
    """A kept run, read again from its files."""
    if kept.is_running:
        raise LabError(f"{kept.name} is still running: wait until it has ended.")
    if kept.results is None or not kept.is_complete:
        raise LabError(
            f"{kept.name} {kept.verdict.rstrip('.')}. So it has no table to be set beside another; "
            f"vitrine report {kept.name} draws what there is of it."
        )
    with reading(kept):
        recordings = read_recordings(lab, kept)
        found = repeat.combined(assess(lab, recordings), repeat.kept(kept.folder))
        return Side(lab, kept, found, recordings)


@contextlib.contextmanager
def reading(kept: Kept) -> Iterator[None]:
    """Refuses the files of a kept run in a sentence if they have another form than a run leaves.

    They may be somebody else's, so nothing in them is taken for granted.
    """
    try:
        yield
    except (
        *(ArithmeticError, AttributeError, IndexError, KeyError, OSError, RecursionError),
        *(TypeError, ValueError, csv.Error),
    ) as error:
        said = f"{type(error).__name__}: {error}"[:_SAID_MAX]
        raise LabError(plain(f"the files of {kept.name} are damaged ({said}).")) from error


def read_recordings(lab: Lab, kept: Kept) -> dict[str, Recording]:
    """The recordings of a kept lab's runs."""
    assert kept.results is not None
    folders = {run.name: kept.folder / "data" / run.name for run in lab.runs()}
    missing = [name for name, folder in folders.items() if not folder.exists()]
    if missing:
        raise LabError(
            f"{kept.name} has no run {missing[0]}, which the lab has now: it was measured with "
            f"kit {kept.results['machine']['kit']}, which can draw it."
        )
    return {name: recording_files.read(folder) for name, folder in folders.items()}


def redraw(lab: Lab, kept: Kept, output: TextIO) -> None:
    """Writes a kept run's report anew, from its files."""
    if not kept.is_complete and not kept.is_running:
        _redraw_early(lab, kept, output)
        return
    side = side_of(lab, kept)
    assert kept.results is not None
    with reading(kept):
        machine = Machine.from_document(kept.results["machine"])
        report.write(lab, side.recordings, side.assessment, kept.folder, machine)
    ownership.give_to_caller(kept.folder)
    print(f"Report: {archive.shown(kept.folder)}/report.html", file=output)


def _redraw_early(lab: Lab, kept: Kept, output: TextIO) -> None:
    """The rest of a run that ended early; its results.json goes on saying so."""
    assert kept.results is not None
    folders = early.readable(kept.folder)
    if not folders:
        raise LabError(f"{kept.name} {kept.verdict.rstrip('.')}: nothing in it can be read back.")
    with reading(kept):
        recordings = {folder.name: recording_files.read(folder) for folder in folders}
        early.write(lab, kept, recordings, Machine.from_document(kept.results["machine"]))
    ownership.give_to_caller(kept.folder)
    print(plain(f"It {kept.verdict.rstrip('.')}."), file=output)
    print(f"Report of the data so far: {archive.shown(kept.folder)}/report.html", file=output)


# ---- recording -----------------------------------------------------------------------------------


def _recorded(lab: Lab, bench: Bench, keeper: Keeper) -> dict[str, Recording]:
    """Every run once, and then again those that the machine has disturbed."""
    recordings: dict[str, Recording] = {}
    disturbed: list[Run] = []
    for run in lab.runs():
        bench.narrator.begin(run)
        recordings[run.name] = recorded = _conduct_run(lab, run, bench)
        # At once, so that a lab that ends early leaves what it has seen.
        keeper.keep(run, recorded)
        if recorded.hold_ups.disturb:
            bench.narrator.note(str(recorded.hold_ups))
            disturbed.append(run)
    # A machine that is known to be slow would disturb the repetition, too.
    if wait.patience() > 1:
        return recordings
    bench.narrator.repeat(disturbed)
    for run in disturbed:
        bench.narrator.wait_for_calm()
        if not bench.becomes_calm(CALM_DEADLINE_S):
            bench.narrator.note(
                f"this machine did not become calm within {CALM_DEADLINE_S:g} s: disturbed runs "
                "stay as they are"
            )
            break
        bench.narrator.begin_again()
        again = _conduct_run(lab, run, bench)
        if again.hold_ups.disturb:
            bench.narrator.note(str(again.hold_ups))
        if again.hold_ups.share < recordings[run.name].hold_ups.share:
            recordings[run.name] = again
            keeper.keep(run, again)
        else:
            keeper.keep_disturbed(run, again)
    return recordings


def _conduct_run(lab: Lab, run: Run, bench: Bench) -> Recording:
    bench.begin(run.name)
    with bench.taped(f"{lab.title}: {run.title}") as told:
        recording = lab.conduct(run, bench)
    recording.tape = told
    bench.has_finished()
    bench.narrator.finished()
    return recording


def assess(lab: Lab, recordings: Mapping[str, Recording]) -> Assessment:
    """A lab's result; the bands of a disturbed run are not judged."""
    found = lab.assess(recordings)
    disturbed = {
        name: str(recording.hold_ups)
        for name, recording in recordings.items()
        if recording.hold_ups.disturb
    }
    return replace(
        found,
        bands=[_judged(band, disturbed) for band in found.bands],
        remarks=[*found.remarks, *_remarks(lab, recordings)],
        disturbances=[f"{name}: {sentence}" for name, sentence in disturbed.items()],
    )


def _judged(band: Band, disturbed: Mapping[str, str]) -> Band:
    concerned = [name for name in disturbed if not band.runs or name in band.runs]
    if band.unjudged or not concerned:
        return band
    return replace(band, unjudged=f"in {concerned[0]} {disturbed[concerned[0]]}")


def _remarks(lab: Lab, recordings: Mapping[str, Recording]) -> list[str]:
    """Each once, in the order of the runs."""
    said = [f"Left out: {sentence}" for sentence in lab.left_out]
    said += [remark for recording in recordings.values() for remark in recording.remarks]
    return list(dict.fromkeys(said))


def _tell(assessment: Assessment, folder: Path, output: TextIO) -> None:
    def said(head: str, text: str) -> None:
        indent = " " * 12
        line = textwrap.fill(f"{head:<11} {text}", 79, subsequent_indent=indent)
        print(line, file=output)

    print(f"\n{table.text(assessment.rows)}\n", file=output)
    for band in assessment.bands:
        said(band.verdict.value.upper(), str(band))
        if band.unjudged:
            said("", f"because {band.unjudged}")
    for disturbance in assessment.disturbances:
        said("disturbed", disturbance)
    for remark in assessment.remarks:
        said("", remark)
    place = archive.shown(folder)
    print(f"\nReport:      {place}/report.html", file=output)
    print(f"All numbers: {place}/results.json", file=output)
