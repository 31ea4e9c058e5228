"""Rows into a file, as CSV or Parquet; the ending of the file's name says which."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from controller.errors import ControllerError

Row = dict[str, float | int | str | None]
# The columns by name, each with the type of its values; a value may also be None.
Columns = Mapping[str, type]

# Rows of a Parquet file are gathered into groups of this many.
_GROUP_ROWS = 50_000


class Table(Protocol):
    """A file that rows go into."""

    def write(self, row: Row) -> None:
        """Appends a row of all columns."""

    def close(self) -> None:
        """Completes the file."""


class CsvTable:
    """Columns of text with a head line."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self._file = path.open("w", newline="")
        self._writer = csv.DictWriter(self._file, list(columns))
        self._writer.writeheader()

    def write(self, row: Row) -> None:
        """Appends a row; times keep their nanoseconds."""
        text = {key: f"{it:.9f}" if isinstance(it, float) else it for key, it in row.items()}
        self._writer.writerow(text)

    def close(self) -> None:
        """Completes the file."""
        self._file.close()


class ParquetTable:
    """Typed columns, compressed; readable only once it is closed."""

    def __init__(self, path: Path, columns: Columns) -> None:
        # Imported late: CSV needs none of it.
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {int: pa.int64(), float: pa.float64(), str: pa.string()}
        self._schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
        self._table = pa.Table
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def write(self, row: Row) -> None:
        """Takes a row; it reaches the file with its group."""
        self._rows.append(row)
        if len(self._rows) >= _GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        """Writes what waits and completes the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


def open_table(path: Path, columns: Columns) -> Table:
    """A file of the format that its name says."""
    makers: dict[str, type[CsvTable] | type[ParquetTable]] = {
        ".csv": CsvTable,
        ".parquet": ParquetTable,
    }
    maker = makers.get(path.suffix)
    if maker is None:
        raise ControllerError(f"{path}: name the file .csv or .parquet, to say how to write it.")
    path.parent.mkdir(parents=True, exist_ok=True)
    return maker(path, columns)
