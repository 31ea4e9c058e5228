"""A sweep from its file to its report: what is there is kept, what is missing is measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from controller import ownership
from labs import archive
from labs.archive import RESULTS
from labs.errors import LabError
from labs.machine import Machine
from labs.sweep.crew import Crew
from labs.sweep.journal import Journal
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.measure import Row
from labs.sweep.plan import Sweep
from labs.sweep.progress import Progress
from labs.sweep.showing import page, parquet

FOLDER = "sweeps"


def conduct(sweep: Sweep, crew: Crew, output: TextIO, *, results: Path = RESULTS) -> Path:
    """Measures what is missing, and writes the report; the folder that all of it is in."""
    folder = results / FOLDER / sweep.name
    jobs = list(sweep.jobs())
    print(f"{sweep.name}: {sweep.question or sweep.title}", file=output, flush=True)
    with Journal(folder) as journal:
        try:
            failed = _measured(jobs, journal, crew, output)
        finally:
            rows = [(job, journal.rows[job.key]) for job in jobs if job.key in journal.rows]
            ownership.give_to_caller(results)
        differing = _differing(rows)
        if rows:
            parquet.write(sweep, rows, Machine.this_one(), folder)
            page.write(sweep, rows, Machine.this_one(), folder)
            ownership.give_to_caller(results)
            place = archive.shown(folder)
            print(f"\nReport: {place}/report.html", file=output)
            print(f"Rows:   {place}/{sweep.name}.parquet", file=output)
    if failed:
        head = next(iter(failed.items()))
        raise LabError(
            f"{len(failed)} of {len(jobs)} rows are missing; of {head[0]}: {head[1]} "
            "The same command tries them again."
        )
    if differing:
        raise LabError(
            f"{differing[0]} gave other numbers when it was repeated; that is a bug of the kit: "
            "please report it."
        )
    return folder


def _measured(jobs: list[Job], journal: Journal, crew: Crew, output: TextIO) -> Mapping[str, str]:
    """Does the jobs that have no row; why those that failed did."""
    ahead = [job for job in jobs if job.key not in journal.rows]
    known = len(jobs) - len(ahead)
    taken = f", {known} of them from before" if known else ""
    print(f"{len(jobs)} rows{taken}; {crew.description}", file=output, flush=True)
    progress = Progress(ahead, known, output, workers=crew.size)
    failed: dict[str, str] = {}
    for done in crew.work(ahead):
        if done.row is not None:
            journal.keep(done.job.key, done.row)
        else:
            failed[str(done.job)] = done.error
        progress.finished(done.job)
    return failed


def _differing(rows: list[tuple[Job, Row]]) -> list[str]:
    """Jobs that were repeated with one seed and found something else."""
    first: dict[tuple[str, int], Mapping[str, float]] = {}
    return [
        str(job)
        for job, row in rows
        if first.setdefault((str(dict(job.values)), job.seed), row.numbers) != row.numbers
    ]
