"""Rows to a Parquet file: one column a value, empty where no node gave it, units in the schema.

    writer = ParquetWriter(path, semantics)
    writer.write(rows, flows)
    writer.close()          # A Parquet file is complete, and readable, only when it is closed.

The flow of a row is written in words, `tcp 10.0.0.1:5001 > 10.0.0.2:80`, as a dictionary column:
each flow's words stand in a row group once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from controller.telemetry.flows import Flows
from controller.telemetry.observation import (
    FLAG_OF_NAME,
    ROW,
    UNKNOWN_FLOW,
    VALUE_COLUMNS,
    known,
)
from controller.telemetry.semantics import Semantics

# Rows are gathered into groups of this many; readers skip by group.
GROUP_ROWS = 250_000


class ParquetWriter:
    """Writes rows into one file."""

    def __init__(self, path: Path, semantics: Semantics) -> None:
        self._semantics = semantics
        self._schema = _schema(semantics)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting: list[np.ndarray] = []
        self._waiting_rows = 0

    def write(self, rows: np.ndarray, flows: Flows) -> None:
        """Takes rows; they reach the file when a group is full or the writer is closed."""
        self._waiting.append(rows)
        self._waiting_rows += len(rows)
        if self._waiting_rows >= GROUP_ROWS:
            self.flush(flows)

    def flush(self, flows: Flows) -> None:
        """Writes what waits as a group of its own."""
        if self._waiting_rows:
            rows = np.concatenate(self._waiting)
            self._writer.write_table(_table(rows, flows, self._schema, self._semantics))
        self._waiting, self._waiting_rows = [], 0

    def close(self, flows: Flows) -> None:
        """Writes what waits and completes the file."""
        try:
            self.flush(flows)
        finally:
            self._writer.close()


def _schema(semantics: Semantics) -> pa.Schema:
    words = pa.dictionary(pa.int32(), pa.string())
    kinds = {"flow": words, "drop_reason": words}
    flags = [pa.field(name, pa.bool_(), nullable=False) for name in FLAG_OF_NAME]
    columns = []
    for name in ROW.names or ():
        if name == "kind":
            columns.extend(flags)
            continue
        unit = semantics.units.get(name)
        columns.append(
            pa.field(
                name,
                kinds.get(name) or pa.from_numpy_dtype(ROW[name]),
                nullable=name in VALUE_COLUMNS or name == "flow",
                metadata={"unit": unit} if unit else None,
            )
        )
    return pa.schema(columns)


def _table(rows: np.ndarray, flows: Flows, schema: pa.Schema, semantics: Semantics) -> pa.Table:
    columns: dict[str, pa.Array] = {
        name: pa.array(rows["kind"] & flag != 0) for name, flag in FLAG_OF_NAME.items()
    }
    for name in ROW.names or ():
        if name == "flow":
            numbers = rows["flow"]
            names = {number: str(flows[number]) for number in np.unique(numbers) if number}
            columns[name] = _words(numbers, numbers == UNKNOWN_FLOW, names)
        elif name == "drop_reason":
            columns[name] = _words(rows[name], ~known(rows, name), semantics.drop_reasons)
        elif name != "kind":
            missing = ~known(rows, name) if name in VALUE_COLUMNS else None
            columns[name] = pa.array(np.ascontiguousarray(rows[name]), mask=missing)
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _words(numbers: np.ndarray, missing: np.ndarray, names: Mapping[int, str]) -> pa.Array:
    """A column of names for a column of numbers; a number that has no name is written as itself."""
    distinct, index = np.unique(numbers, return_inverse=True)
    words = [names.get(int(number), str(number)) for number in distinct]
    return pa.DictionaryArray.from_arrays(
        pa.array(index.astype(np.int32), mask=missing), pa.array(words, type=pa.string())
    )
