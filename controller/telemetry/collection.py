"""The collector without its socket: batches in, rows, books and files out.

    collection = Collection(marker, semantics, parquet)
    collection.take(batch)      # as often as datagrams arrive
    collection.close()

The live view and the metrics read the books while batches come in, from another thread; the lock
keeps a batch whole.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from controller.telemetry.bulk import Batch, decode_batch
from controller.telemetry.flows import Flows
from controller.telemetry.observation import FLAG_OF_NAME, ROW, VALUE_COLUMNS, unavailable
from controller.telemetry.packet import Marker
from controller.telemetry.parquet import ParquetWriter
from controller.telemetry.semantics import Semantics
from controller.telemetry.sequence import Senders
from controller.telemetry.store import Store

# As plain numbers: a row has four, and there may be 100,000 rows.
_BIT_OF_NAME = {name: int(flag) for name, flag in FLAG_OF_NAME.items()}


class Collection:
    """Everything that reports have said."""

    def __init__(
        self, marker: Marker, semantics: Semantics, parquet: ParquetWriter | None = None
    ) -> None:
        self._marker = marker
        self.semantics = semantics
        self._parquet = parquet
        self._lock = threading.Lock()
        self.flows = Flows()
        self.senders = Senders()
        self.store = Store()
        self.datagrams = 0
        self.malformed = 0

    def take(self, batch: Batch) -> None:
        """Decodes a batch and enters it into the books and the file."""
        with self._lock:
            decoded = decode_batch(batch, self.flows, self._marker)
            self.datagrams += len(batch)
            self.malformed += decoded.malformed
            self.senders.count(decoded.nodes, decoded.hardware, decoded.sequences)
            self.store.add(decoded.rows)
            if self._parquet:
                self._parquet.write(decoded.rows, self.flows)

    def close(self) -> None:
        """Completes the file."""
        with self._lock:
            if self._parquet:
                self._parquet.close(self.flows)
                self._parquet = None

    def summary(self) -> dict[str, Any]:
        """The books and every flow: for the live view and a last line on exit."""
        with self._lock:
            flows = [
                {"flow": str(flow), "rows": self.store.flow_rows.get(number, 0)}
                for number, flow in self.flows.items()
            ]
            return {**self._plain_books(), "flows": flows}

    def books(self) -> dict[str, Any]:
        """The books as plain values, for the metrics: there may be 100,000 flows, which a scrape
        every few seconds must not keep the reports waiting for.
        """
        with self._lock:
            return self._plain_books()

    def series(
        self, flow: str | None, node: int | None, queue: int | None, rows_max: int
    ) -> list[dict[str, Any]]:
        """The latest rows of a flow, node or queue, oldest first; missing values are None."""
        with self._lock:
            number = None
            if flow is not None:
                named = {str(known): index for index, known in self.flows.items()}
                if flow not in named:
                    return []
                number = named[flow]
            rows = self.store.rows(flow=number, node=node, queue=queue, rows_max=rows_max)
            return self._plain(rows)

    def _plain_books(self) -> dict[str, Any]:
        return {
            "datagrams": self.datagrams,
            "malformed": self.malformed,
            "rows": self.store.rows_total,
            "units": dict(self.semantics.units),
            "senders": [
                {
                    "node": node,
                    "hardware": hardware,
                    "received": books.received,
                    "lost": books.lost,
                    "late": books.late,
                    "repeated": books.repeated,
                }
                for (node, hardware), books in self.senders.items()
            ],
            "queues": [
                {"node": node, "queue": queue, **vars(books)}
                for (node, queue), books in sorted(self.store.queues.items())
            ],
        }

    def _plain(self, rows: np.ndarray) -> list[dict[str, Any]]:
        """The rows as plain values, made a column at a time: there may be 100,000."""
        columns: dict[str, list[Any]] = {}
        for name in ROW.names or ():
            columns |= self._plain_column(name, rows[name].tolist())
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _plain_column(self, name: str, values: list[int]) -> dict[str, list[Any]]:
        if name == "kind":
            return {
                known: [bool(value & flag) for value in values]
                for known, flag in _BIT_OF_NAME.items()
            }
        missing = unavailable(name) if name in VALUE_COLUMNS else None
        said = {value: self._said(name, value) for value in set(values)}
        return {name: [None if value == missing else said[value] for value in values]}

    def _said(self, name: str, value: int) -> int | str | None:
        if name == "flow":
            return str(self.flows[value]) if value else None
        if name == "drop_reason":
            return self.semantics.drop_reasons.get(value, str(value))
        return value
