"""Systems under workloads from several seeds: the rows of the scoreboard, run in parallel."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from labs.errors import SettingError
from labs.machine import processors
from labs.score import mistakes
from labs.score.line import ONE_GIGABIT, Line
from labs.score.numbers import Numbers, numbers
from labs.score.run import Bench
from labs.score.systems import named
from labs.score.workloads import WORKLOADS
from labs.sweep.crew.local import follow_parent
from labs.sweep.showing.outcome import Mean


@dataclass(frozen=True)
class Job:
    """One run."""

    system: str
    workload: str
    seed: int
    # The share of telemetry that is lost.
    lost: float = 0.0
    line: Line = ONE_GIGABIT

    @property
    def name(self) -> str:
        """The system's, without the file that it comes from."""
        return self.system.rpartition(".py:")[2]


@dataclass(frozen=True)
class Row:
    """A system under a workload."""

    system: str
    workload: str
    # Means over the seeds in which a number exists; None: in none of them.
    means: Mapping[str, Mean | None]


def rows(
    systems: Sequence[str],
    workloads: Sequence[str],
    seeds: int,
    *,
    lost: float = 0.0,
    line: Line = ONE_GIGABIT,
) -> Iterator[Row]:
    """Each row as soon as its runs are done, workload by workload."""
    jobs = [
        Job(system, workload, seed, lost, line)
        for workload in workloads
        for system in systems
        for seed in range(1, seeds + 1)
    ]
    # A forked process would share the connections of gRPC.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processors(), context, initializer=_open)
    try:
        found = pool.map(_numbers, jobs)
        for first in range(0, len(jobs), seeds):
            runs = [next(found) for _ in range(seeds)]
            yield Row(jobs[first].name, jobs[first].workload, means(runs))
    except BaseException:
        # Ctrl-C, or a closed pipe: the runs in progress are of no use.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def means(runs: Sequence[Numbers]) -> dict[str, Mean | None]:
    """Over the runs in which a number exists."""
    known = {
        name: [number for run in runs if (number := run[name]) is not None] for name in runs[0]
    }
    return {name: Mean.of(values) if values else None for name, values in known.items()}


# ---- in the processes ----------------------------------------------------------------------------

_stack = contextlib.ExitStack()
_bench: Bench | None = None


def _open() -> None:
    """Starts the process's own network, which ends with it."""
    global _bench
    follow_parent()
    _bench = _stack.enter_context(Bench.temporary())


def _numbers(job: Job) -> dict[str, float | None]:
    try:
        return _scored(job)
    except Exception as error:  # noqa: BLE001 (it is the system's, of any kind)
        # Not every error can travel between processes, and a system's author wants its place.
        where = f"{job.name} under {job.workload}, seed {job.seed}"
        raise SettingError(f"{where}: {mistakes.sentence(error)}") from None


def _scored(job: Job) -> dict[str, float | None]:
    assert _bench is not None, "the pool has called _open"
    workload = WORKLOADS[job.workload]
    return numbers(_bench.run(named(job.system), workload, job.seed, lost=job.lost, line=job.line))
