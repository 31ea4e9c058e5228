"""The collector's memory: the latest rows, and the counts over all of them.

Rows are kept in the order of arrival up to a number, then the oldest are forgotten; whoever wants
all of them writes them to a file. The books are small: one line for every queue and one for every
flow, whatever number of rows went by.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from controller.telemetry.observation import Kind, empty_rows, known

# A million rows take about 80 MB.
ROWS_MAX = 1_000_000
# Node and queue ids come from the network, so their number must not go beyond a bound.
QUEUES_MAX = 65_536


@dataclass
class QueueBooks:
    """One queue of one node, since the collector was started."""

    rows: int = 0
    latest_occupancy: int = 0
    highest_occupancy: int = 0
    highest_latency: int = 0
    drops: int = 0


class Store:
    """Rows and counts. One thread writes; readers get copies of immutable data."""

    def __init__(self, rows_max: int = ROWS_MAX) -> None:
        self._rows_max = rows_max
        self._chunks: deque[np.ndarray] = deque()
        self._held = 0
        self.rows_total = 0
        self.queues: dict[tuple[int, int], QueueBooks] = {}
        self.flow_rows: dict[int, int] = {}

    def add(self, rows: np.ndarray) -> None:
        """Takes the rows of a batch."""
        if not len(rows):
            return
        self._chunks.append(rows)
        self._held += len(rows)
        self.rows_total += len(rows)
        while self._held - len(self._chunks[0]) >= self._rows_max:
            self._held -= len(self._chunks.popleft())
        self._count_queues(rows)
        flows, counts = np.unique(rows["flow"], return_counts=True)
        for flow, count in zip(flows.tolist(), counts.tolist(), strict=True):
            self.flow_rows[flow] = self.flow_rows.get(flow, 0) + count

    def rows(
        self,
        *,
        flow: int | None = None,
        node: int | None = None,
        queue: int | None = None,
        rows_max: int = ROWS_MAX,
    ) -> np.ndarray:
        """The time series of a flow, a node or a queue: its latest rows in the order of arrival."""
        parts: list[np.ndarray] = []
        left = rows_max
        # From the latest on, so that a few rows do not cost a copy of a million.
        for chunk in reversed(self._chunks):
            if left <= 0:
                break
            wanted = np.ones(len(chunk), dtype=bool)
            for column, value in (("flow", flow), ("node_id", node), ("queue_id", queue)):
                if value is not None:
                    wanted &= chunk[column] == value
            parts.append(chunk[wanted][-left:])
            left -= len(parts[-1])
        return np.concatenate(parts[::-1]) if parts else empty_rows(0)

    def _count_queues(self, rows: np.ndarray) -> None:
        rows = rows[known(rows, "queue_id") & known(rows, "node_id")]
        keys = rows["node_id"].astype(np.uint64) << np.uint64(8) | rows["queue_id"]
        for key in np.unique(keys):
            name = (int(key) >> 8, int(key) & 0xFF)
            books = self.queues.get(name)
            if books is None:
                if len(self.queues) >= QUEUES_MAX:
                    continue
                books = self.queues[name] = QueueBooks()
            _count(books, rows[keys == key])


def _count(books: QueueBooks, rows: np.ndarray) -> None:
    books.rows += len(rows)
    books.drops += int((rows["kind"] & Kind.DROPPED != 0).sum())
    occupancy = rows["queue_occupancy"][known(rows, "queue_occupancy")]
    if len(occupancy):
        books.latest_occupancy = int(occupancy[-1])
        books.highest_occupancy = max(books.highest_occupancy, int(occupancy.max()))
    latency = rows["hop_latency"][known(rows, "hop_latency")]
    if len(latency):
        books.highest_latency = max(books.highest_latency, int(latency.max()))
