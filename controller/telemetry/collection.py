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

from controller.telemetry.bulk import Batch, decode_batch
from controller.telemetry.flows import Flows
from controller.telemetry.observation import FLAG_OF_NAME, ROW, VALUE_COLUMNS, unavailable
from controller.telemetry.packet import Marker
from controller.telemetry.parquet import ParquetWriter
from controller.telemetry.semantics import Semantics
from controller.telemetry.sequence import Senders
from controller.telemetry.store import Store


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
            return [self._plain(row) for row in rows]

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

    def _plain(self, row: Any) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name in ROW.names or ():
            value = int(row[name])
            if name in VALUE_COLUMNS and value == unavailable(name):
                plain[name] = None
            elif name == "flow":
                plain[name] = str(self.flows[value]) if value else None
            elif name == "kind":
                plain |= {known: bool(value & flag) for known, flag in FLAG_OF_NAME.items()}
            elif name == "drop_reason":
                plain[name] = self.semantics.drop_reasons.get(value, str(value))
            else:
                plain[name] = value
        return plain
