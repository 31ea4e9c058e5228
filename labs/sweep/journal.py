"""The rows that are done, on disk as soon as each of them is: what ends a sweep costs it nothing.

A line of `rows.jsonl` is one row with its job's key. A sweep that is begun again takes the rows
whose jobs it still has, and measures the others. A line that a crash has cut off is passed over.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from labs.errors import LabError
from labs.sweep.measuring.measure import Row

ROWS = "rows.jsonl"


class Journal:
    """One sweep's rows; only one process at a time may have it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / ROWS).open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                raise
            raise LabError(f"another process runs this: {folder / ROWS} is locked.") from error
        self.rows = dict(self._read())

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def keep(self, key: str, row: Row) -> None:
        """From now on this row is there, whatever happens."""
        line = json.dumps({"key": key, **asdict(row)}) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.rows[key] = row

    def _read(self) -> Mapping[str, Row]:
        self._file.seek(0)
        text = self._file.read()
        if text and not text.endswith(b"\n"):
            # Half a line: what follows begins on a line of its own.
            self._file.write(b"\n")
        found = {}
        for line in text.splitlines():
            try:
                document = json.loads(line)
                key = document.pop("key")
                found[key] = Row(**document)
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
        return found
