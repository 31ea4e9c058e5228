"""The same lab again with other seeds: what chance has to do with its numbers.

    with Repetitions(lab, keeper) as repetitions:
        ...the lab runs with the first seed...
        assessment = combined(assessment, repetitions.wait())

Each seed runs in a process of its own, as many at a time as there are processors to spare:

    python -m labs.repeat SEED < results.json > seeds/SEED.json
"""

from __future__ import annotations

import io
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs import catalogue, worlds
from labs.definition import Assessment, Band, Lab, Row
from labs.errors import LabError
from labs.keeper import Keeper
from labs.machine import Machine, processors
from labs.narration import Narrator
from labs.pace import until_done_s
from labs.report import results
from labs.settings import Settings
from topo.errors import TopologyError

FIRST_SEED = 1
FOLDER = "seeds"


def _workers() -> int:
    """How many seeds run at a time: one processor is for the first, which the caller runs."""
    return max(1, processors() - 1)


class Repetitions:
    """A lab's other seeds, running for the length of a `with` block."""

    def __init__(
        self, lab: Lab, keeper: Keeper, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lab = lab
        self._clock = clock
        self._keeper = keeper
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._ended = False
        self._pool = ThreadPoolExecutor(_workers(), thread_name_prefix="seed")
        self._futures: list[Future[Assessment]] = []
        # When each that runs was begun, and what those that have ended took.
        self._began_s: dict[int, float] = {}
        self._took_s: list[float] = []

    def __enter__(self) -> Repetitions:
        for seed in range(FIRST_SEED + 1, FIRST_SEED + self._lab.settings.seeds):
            self._futures.append(self._pool.submit(self._assess, seed))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._ended = True
            for process in self._running:
                process.terminate()
        self._pool.shutdown(cancel_futures=True)

    @property
    def unfinished(self) -> int:
        """How many of them have not ended."""
        return sum(not future.done() for future in self._futures)

    def left_s(self) -> float | None:
        """How long the others take if they are like those that have ended; None: none has."""
        with self._lock:
            if not self._took_s:
                return None
            each_s, now_s = statistics.mean(self._took_s), self._clock()
            running = [max(0.0, each_s - (now_s - began)) for began in self._began_s.values()]
            waiting = len(self._futures) - len(running) - len(self._took_s)
            return until_done_s(running, [each_s] * waiting, workers=_workers())

    def wait(self) -> list[Assessment]:
        """The results of each of them, in their order."""
        return [future.result() for future in self._futures]

    def _assess(self, seed: int) -> Assessment:
        with self._lock:
            self._began_s[seed] = self._clock()
        found = self._found(seed)
        with self._lock:
            self._took_s.append(self._clock() - self._began_s.pop(seed))
        return found

    def _found(self, seed: int) -> Assessment:
        head = json.dumps({"lab": self._lab.name, "settings": self._lab.settings.document()})
        with self._lock:
            if self._ended:
                raise LabError(f"seed {seed} was not begun.")
            process = subprocess.Popen(
                [sys.executable, "-m", "labs.repeat", str(seed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                # Ctrl-C at the terminal is ours.
                start_new_session=True,
            )
            self._running.add(process)
        output, said = process.communicate(head)
        with self._lock:
            self._running.discard(process)
        if process.returncode != 0:
            raise LabError(f"seed {seed} ended early: {said.strip() or process.returncode}")
        folder = self._keeper.folder / FOLDER
        folder.mkdir(exist_ok=True)
        (folder / f"{seed}.json").write_text(output)
        return results.assessment_of(json.loads(output))


def kept(folder: Path) -> list[Assessment]:
    """The results of the other seeds of a kept run."""
    files = sorted((folder / FOLDER).glob("*.json"), key=lambda file: int(file.stem))
    return [results.assessment_of(json.loads(file.read_text())) for file in files]


def combined(first: Assessment, others: Sequence[Assessment]) -> Assessment:
    """The first seed's table with the others' measurements beside it; bands are of the median."""
    if not others:
        return first
    rows = [_row(row, others) for row in first.rows]
    bands = [_band(band, others) for band in first.bands]
    count = len(others) + 1
    remark = (
        f"Everything ran {count} times, each time with another seed: figures and table show "
        "the first run, the table also the others' numbers where they differ, and a band judges "
        "the median."
    )
    return replace(first, rows=rows, bands=bands, remarks=[remark, *first.remarks])


def _row(row: Row, others: Sequence[Assessment]) -> Row:
    measured = [
        next((each.measured for each in other.rows if each.what == row.what), "nothing")
        for other in others
    ]
    if set(measured) <= {row.measured}:
        return row
    return replace(row, other_seeds="; ".join(measured))


def _band(band: Band, others: Sequence[Assessment]) -> Band:
    found = [each.measured for other in others for each in other.bands if each.claim == band.claim]
    every = (band.measured, *found)
    return replace(band, measured=statistics.median(every), every_seed=every)


# ---- in the process of a seed --------------------------------------------------------------------


def assessed(lab: Lab, seed: int) -> Assessment:
    """All runs of a lab with one seed, without keeping what was recorded."""
    narrator = Narrator(lab.runs(), io.StringIO())
    logs = ROOT / "build" / "log" / f"{lab.name}-seed-{seed}"
    recordings = {}
    with worlds.bench(lab.settings, logs, narrator, seed=seed) as bench:
        for run in lab.runs():
            narrator.begin(run)
            bench.begin(run.name)
            recordings[run.name] = lab.conduct(run, bench)
    return lab.assess(recordings)


def main(arguments: list[str]) -> int:
    """Returns the exit status."""
    (seed,) = map(int, arguments)
    head = json.load(sys.stdin)
    lab = catalogue.named(head["lab"])(Settings.from_document(head["settings"]))
    try:
        found = assessed(lab, seed)
    except (ControllerError, LabError, TopologyError) as error:
        print(error, file=sys.stderr)
        return 1
    print(results.document(lab, found, Machine.this_one()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
