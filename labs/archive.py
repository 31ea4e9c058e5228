"""Where results lie: every run of a lab has a folder of its own, and none is ever written over.

    out/<lab>/<date>-<settings>/     what one run left
    out/<lab>/latest                 a link to the newest run that came to its end

A run that ended early keeps what it had; its `results.json` says why it ended. While a run is under
way it names the process that makes it.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT
from labs.errors import SettingError
from labs.pace import Pace
from labs.run import Run
from labs.settings import Settings
from labs.world import World
from topo.process import Identity

# VITRINE_RESULTS: the tests have a folder of their own.
RESULTS = Path(os.environ.get("VITRINE_RESULTS") or ROOT / "out").resolve()
LATEST = "latest"
# The duration of a run, for the next one's time left.
PACE = "pace.json"
# The settings that make live runs take more or less than their flows: short ones are mostly
# beginnings and ends. In virtual time all settings decide how much there is to compute.
_LIVE_PACE_SETTINGS = ("quick", "toolchain", "world")
_RUN = re.compile(r"\d{4}-\d{2}-\d{2}-\d{4}-.+")


@dataclass(frozen=True)
class Kept:
    """A run that lies in its folder."""

    folder: Path
    # The contents of its results.json; None if the run could not even write that.
    results: Mapping[str, Any] | None

    @property
    def lab(self) -> str:
        """The lab's name."""
        return self.folder.parent.name

    @property
    def name(self) -> str:
        """`bufferbloat/2026-11-22-1541-queue-300`, as commands take it."""
        return f"{self.lab}/{self.folder.name}"

    @property
    def is_complete(self) -> bool:
        """Whether the run came to its end, so that there is a report."""
        return self.results is not None and not self.results["ended_early"]

    @property
    def is_running(self) -> bool:
        """Whether the process that makes it is alive."""
        process = (self.results or {}).get("process")
        return process is not None and Identity(*process).is_alive()

    @property
    def verdict(self) -> str:
        """In a few words what came of it."""
        if self.results is None:
            return "ended early, before it could write why, or its results.json is damaged"
        if self.is_running:
            return "is still running"
        if self.results["ended_early"]:
            return f"ended early: {self.results['ended_early']}"
        verdicts = [band["verdict"] for band in self.results["bands"]]
        words = [f"{verdicts.count('met')} of {len(verdicts)} bands met"]
        if unjudged := verdicts.count("not judged"):
            words.append(f"{unjudged} not judged")
        return ", ".join(words)


def folder_name(settings: Settings) -> str:
    """The preferred name of the folder of a run that begins now."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"{now:%Y-%m-%d-%H%M}-{settings.slug()}"


def claim_folder(lab: str, name: str, results: Path) -> Path:
    """A new folder: of that name, or with a number behind it."""
    for count in itertools.count(1):
        folder = results / lab / (name if count == 1 else f"{name}-{count}")
        # Two runs may want the same name at the same instant: who makes the folder has it.
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("there is always one more number")


def make_latest(folder: Path) -> None:
    """Lets `latest` lead to this run from now on."""
    link = folder.parent / LATEST
    fresh = folder.parent / f".{LATEST}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(folder.name)
    fresh.replace(link)


def earlier_pace(
    lab: str, settings: Settings, runs: Sequence[Run], results: Path = RESULTS
) -> Pace:
    """The duration of the lab's last run here with these settings, however long its flows were.

    Without one, runs of the live world last as long as their flows and what other settings have
    added to that; of virtual time, which passes as fast as the machine computes, nobody knows.
    """
    wanted = settings.document()
    is_virtual = settings.world is World.VIRTUAL
    flows = Pace() if is_virtual else Pace.of_flows(runs)
    near: Pace | None = None
    for kept in reversed([each for each in all_kept(results) if each.lab == lab]):
        if kept.results is None:
            continue
        then = kept.results["settings"]
        differs = {name for name, value in wanted.items() if then.get(name) != value}
        if differs & set(_LIVE_PACE_SETTINGS) or (is_virtual and differs - {"seconds"}):
            continue
        try:
            took = Pace.from_document(json.loads((kept.folder / PACE).read_text()))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if not differs - {"seconds"}:
            return took
        near = near or Pace({**flows.runs, **took.runs})
    return near or flows


def all_kept(results: Path = RESULTS) -> Iterator[Kept]:
    """Every run, lab by lab and the oldest first."""
    for folder in sorted(results.glob("*/*")):
        if folder.is_dir() and not folder.is_symlink() and _RUN.fullmatch(folder.name):
            yield _kept(folder)


def _kept(folder: Path) -> Kept:
    try:
        document = json.loads((folder / "results.json").read_text())
    except (OSError, ValueError, RecursionError):
        return Kept(folder, None)
    return Kept(folder, document if _is_results(document) else None)


def _is_results(document: Any) -> bool:
    """Whether a document has what the list of all runs reads: one that has not must not end it."""
    match document:
        case {"ended_early": str(why), "settings": dict()}:
            bands = document.get("bands", [])
            has_verdicts = isinstance(bands, list) and all(
                isinstance(band, dict) and isinstance(band.get("verdict"), str) for band in bands
            )
            return has_verdicts and (bool(why) or "bands" in document) and _has_process(document)
    return False


def _has_process(document: Mapping[str, Any]) -> bool:
    match document.get("process"):
        case None | [int(), int()]:
            return True
    return False


def find(name: str, results: Path = RESULTS) -> Kept:
    """The run of that name: `bufferbloat/2026-...`, a lab's name for its latest, or a path."""
    tried = (results / name, results / name / LATEST, Path(name), Path(name) / LATEST)
    for folder in tried:
        folder = folder.resolve()
        if folder.is_dir() and _RUN.fullmatch(folder.name):
            return _kept(folder)
    names = [kept.name for kept in all_kept(results)]
    if not names:
        raise SettingError(f"no run {name!r} is kept, nor any other: vitrine run ... makes one.")
    labs = dict.fromkeys(each.partition("/")[0] for each in names)
    near = difflib.get_close_matches(name, [*labs, *names], n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "vitrine results lists them."
    raise SettingError(f"no run {name!r} is kept: {hint}")


def shown(path: Path) -> Path:
    """A path as it is said to the user: from the repository's root, where it lies there."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
