"""Keeps what a run of a lab has found, as it is found: whatever ends it, this much is there."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping
from pathlib import Path

from labs import archive, recording_files, report
from labs.definition import Assessment, Lab
from labs.machine import Machine
from labs.recording import Recording
from labs.report import results
from labs.report.html import Picture
from labs.run import Run

# The page with what the routers told in a run, in the folder of its data.
INSIDE = "inside.html"


class Keeper:
    """One run of a lab on disk. Its folder is made with the first thing that is kept."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self._lab = lab
        self.folder = folder
        self._kept: dict[str, Run] = {}

    def keep(self, run: Run, recording: Recording) -> None:
        """The recording of a run. One that was there before stays beside it, as disturbed."""
        place = self.folder / "data" / run.name
        if place.exists():
            place.rename(place.with_name(f"{run.name}-disturbed"))
        recording_files.write(recording, place)
        if recording.tape is not None and not recording.tape.is_empty:
            recording.tape.write(place / INSIDE)
        self._kept[run.name] = run

    def keep_disturbed(self, run: Run, recording: Recording) -> None:
        """A recording that does not count, because another one was disturbed less."""
        recording_files.write(recording, self.folder / "data" / f"{run.name}-disturbed")

    def complete(
        self, recordings: Mapping[str, Recording], assessment: Assessment
    ) -> list[Picture]:
        """Writes the report; from now on this is the lab's latest run."""
        pictures = report.write(self._lab, recordings, assessment, self.folder, Machine.this_one())
        archive.make_latest(self.folder)
        return pictures

    def end_early(self, why: BaseException, unfinished: tuple[str, Recording] | None) -> str:
        """Keeps what there is of a run that something has ended, and says so in a sentence."""
        parts = [f"{len(self._kept)} of {len(self._lab.runs())} runs"]
        # The disk may be the reason, so each of these may fail too.
        with contextlib.suppress(OSError):
            if unfinished is not None:
                name, recording = unfinished
                recording_files.write(recording, self.folder / "data" / f"{name}-unfinished")
                parts.append(f"what there is of {name}")
        if not self.folder.exists():
            return "Nothing was measured yet; earlier results are as they were."
        with contextlib.suppress(OSError):
            text = results.early_document(
                self._lab, Machine.this_one(), list(self._kept.values()), in_words(why)
            )
            (self.folder / "results.json").write_text(text)
        return f"Kept in {archive.shown(self.folder)}: {' and '.join(parts)}."


def in_words(why: BaseException) -> str:
    """What ended a run, for people."""
    if isinstance(why, KeyboardInterrupt):
        return "it was interrupted"
    if isinstance(why, SystemExit):
        return "its process was asked to end"
    if isinstance(why, OSError) and why.errno == errno.ENOSPC:
        return "the disk is full"
    return str(why) or type(why).__name__
