"""One Parquet file of all rows, each with everything that made it.

    import pyarrow.parquet as pq
    table = pq.read_table("out/sweeps/who-wins/who-wins.parquet")

A column for each parameter and each number, and: `seed`, `repetition`; `topology` (as YAML,
complete), `flows` and spans, or `lab` and `settings`; `program`, `program_digest`, `code` and
`simulator` (what the row was measured with, by digest), `kit` (the commit of who asked), `machine`,
`took_s`, and `key`. The sweep's own file is in the file's metadata.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from labs.machine import Machine
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.measure import Row
from labs.sweep.measuring.work import NetworkWork, TelemetryWork
from labs.sweep.plan import Sweep

SWEEP_KEY = "vitrine.sweep"


def write(sweep: Sweep, rows: Sequence[tuple[Job, Row]], machine: Machine, folder: Path) -> Path:
    """Writes the file, whole or not at all."""
    records = [_record(job, row, machine) for job, row in rows]
    # A lab's numbers may depend on its settings, so not every row has every column.
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: _column([record.get(name) for record in records]) for name in names}
    table = pa.table(columns).replace_schema_metadata({SWEEP_KEY: sweep.text})
    file = folder / f"{sweep.name}.parquet"
    fresh = file.with_suffix(".parquet.new")
    pq.write_table(table, fresh, compression="zstd")
    fresh.replace(file)
    return file


def _column(values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif str in kinds:
        values = [None if value is None else str(value) for value in values]
    return pa.array(values)


def _record(job: Job, row: Row, machine: Machine) -> dict[str, Any]:
    numbers = {name: float(value) for name, value in row.numbers.items()}
    return {
        **job.values,
        "seed": job.seed,
        "repetition": job.repetition,
        **numbers,
        **_made_from(job),
        **asdict(job.versions),
        "kit": machine.kit,
        "machine": row.machine,
        "took_s": row.took_s,
        "key": job.key,
    }


def _made_from(job: Job) -> dict[str, Any]:
    if isinstance(job.work, NetworkWork):
        flows = [asdict(each) for each in job.work.flows]
        return {
            "topology": job.work.topology,
            "flows_started": json.dumps(flows),
            "measured_port": f"{job.work.switch}:{job.work.port}",
            "after_ns": job.work.after_ns,
            "during_ns": job.work.during_ns,
        }
    if isinstance(job.work, TelemetryWork):
        return asdict(job.work)
    return {"lab": job.work.lab, "settings": json.dumps(dict(job.work.settings))}
