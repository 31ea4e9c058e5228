"""Keeps what a run of a lab has found, as it is found: whatever ends it, this much is there."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from labs import archive, recording_files, report
from labs.definition import Assessment, Lab
from labs.files import Reserve, replace_text
from labs.machine import Machine
from labs.recording import Recording
from labs.report import results
from labs.report.html import Picture
from labs.run import Run
from topo.process import Identity

# The page with the routers' events in a run, in the folder of its data.
INSIDE = "inside.html"
# The longest early results.json is that of a lab with many runs: a few kilobytes.
RESERVE_BYTES = 32_768


class Keeper:
    """One run of a lab on disk. Its folder is made with the first thing that is kept."""

    def __init__(self, lab: Lab, results: Path) -> None:
        self._lab = lab
        self._results = results
        self._name = archive.folder_name(lab.settings)
        self._folder: Path | None = None
        self._kept: dict[str, Run] = {}
        self._reserve: Reserve | None = None
        # Other seeds are kept from threads of their own.
        self._lock = threading.Lock()

    @property
    def folder(self) -> Path:
        """The run's own folder, made now if it is not there yet; no other run writes into it."""
        with self._lock:
            if self._folder is None:
                self._folder = archive.claim_folder(self._lab.name, self._name, self._results)
                self._begin(self._folder)
            return self._folder

    def keep(self, run: Run, recording: Recording) -> None:
        """The recording of a run; the one that it had before is kept beside it, as disturbed."""
        place = self.folder / "data" / run.name
        if place.exists():
            place.rename(place.with_name(f"{run.name}-disturbed"))
        recording_files.write(recording, place)
        if recording.tape is not None and not recording.tape.is_empty:
            recording.tape.write(place / INSIDE)
        self._kept[run.name] = run

    def _begin(self, folder: Path) -> None:
        """Says that the run is under way, and takes the room for why it ended."""
        file = folder / "results.json"
        self._reserve = Reserve(file, RESERVE_BYTES)
        process = Identity.of(os.getpid())
        assert process is not None, "this process is alive"
        replace_text(file, results.running_document(self._lab, Machine.this_one(), process))

    def keep_disturbed(self, run: Run, recording: Recording) -> None:
        """A recording that does not count, because another one was disturbed less."""
        recording_files.write(recording, self.folder / "data" / f"{run.name}-disturbed")

    def complete(
        self, recordings: Mapping[str, Recording], assessment: Assessment
    ) -> list[Picture]:
        """Writes the report; from now on this is the lab's latest run."""
        pictures = report.write(self._lab, recordings, assessment, self.folder, Machine.this_one())
        archive.make_latest(self.folder)
        if self._reserve is not None:
            self._reserve.give_up()
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
        if self._folder is None:
            return "Nothing was measured yet; earlier results are as they were."
        with contextlib.suppress(OSError):
            text = results.early_document(
                self._lab, Machine.this_one(), list(self._kept.values()), in_words(why)
            )
            if self._reserve is not None:
                self._reserve.become(text)
            else:
                replace_text(self.folder / "results.json", text)
        return (
            f"Kept in {archive.shown(self.folder)}: {' and '.join(parts)}.\n"
            f"vitrine report {self._lab.name}/{self.folder.name} draws what there is."
        )


def in_words(why: BaseException) -> str:
    """The reason for the end of a run, for people."""
    if isinstance(why, KeyboardInterrupt):
        return "it was interrupted"
    if isinstance(why, SystemExit):
        return "its process received a signal to end"
    if isinstance(why, OSError) and why.errno == errno.ENOSPC:
        return "the disk is full"
    return str(why) or type(why).__name__
