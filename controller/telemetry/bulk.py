"""Thousands of reports decoded at once.

A node's reports all look alike: the same bitmap, the same headers, as many hops as the path has.
So this decoder sorts a batch by what decides where the values stand (its *shape*), and reads each
value of all reports of a shape with one operation on a column of bytes:

1. reports of version 2 with one individual report a datagram, sorted by report type, bitmap and
   lengths;
2. each of those sorted by the headers of the packet inside and by the shim and INT header;
3. the columns of each, and a row for every hop.

Whatever does not fit that plan (several reports in a datagram, VLAN tags, fragments, ...) goes one
by one through `report` and `packet`, which are the reference: tests give both the same datagrams.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from controller.telemetry.flows import Flows
from controller.telemetry.instructions import PACKET_INSTRUCTIONS, REPORT_INSTRUCTIONS
from controller.telemetry.observation import empty_rows
from controller.telemetry.packet import Marker
from controller.telemetry.report import (
    GROUP_HEADER_BYTES,
    HARDWARE_MASK,
    REPORT_VERSION,
    SEQUENCE_BITS,
    SEQUENCE_MASK,
)
from controller.telemetry.rows import reporter_has_row, rows_of_datagram
from controller.telemetry.shape import Shape, read_number, read_values, shapes
from controller.telemetry.stack import MalformedError


@dataclass(frozen=True)
class Batch:
    """Datagrams side by side: row i of `data` begins with datagram i, `lengths[i]` bytes long.

    Bytes behind a datagram's end may hold anything.
    """

    data: np.ndarray
    lengths: np.ndarray
    received_ns: np.ndarray

    def __len__(self) -> int:
        return len(self.lengths)

    def trimmed(self) -> Batch:
        """Without the bytes behind the longest datagram's end, which would be copied for nothing.

        As wide as a group header at least, so that every row has one to look at.
        """
        width = max(GROUP_HEADER_BYTES, int(self.lengths.max(initial=0)))
        return Batch(self.data[:, :width], self.lengths, self.received_ns)

    def take(self, index: np.ndarray) -> Batch:
        """Some of the datagrams."""
        return Batch(self.data[index], self.lengths[index], self.received_ns[index])


@dataclass(frozen=True)
class Decoded:
    """The contents of a batch; nodes, hardware and sequences are those of the datagrams of version
    2."""

    rows: np.ndarray
    malformed: int
    nodes: np.ndarray
    hardware: np.ndarray
    sequences: np.ndarray


def decode_batch(batch: Batch, flows: Flows, marker: Marker) -> Decoded:
    """Decodes a batch; the rows are in the order of the datagrams."""
    batch = batch.trimmed()
    good = (batch.lengths >= GROUP_HEADER_BYTES) & (batch.data[:, 0] >> 4 == REPORT_VERSION)
    malformed = len(batch) - int(good.sum())
    batch = batch.take(np.flatnonzero(good))
    first_words = read_number(batch.data, 0, 32)
    rows: list[np.ndarray] = []
    origins: list[np.ndarray] = []
    for index, shape in shapes(batch.data, batch.lengths, marker):
        selected = batch.take(index)
        if shape is None:
            shaped, origin, refused = _one_by_one(selected, flows, marker)
            malformed += refused
        else:
            shaped, origin = _all_at_once(selected, shape, flows)
        rows.append(shaped)
        origins.append(index[origin])
    return Decoded(
        rows=_in_order(rows, origins),
        malformed=malformed,
        nodes=read_number(batch.data, 4, 32).astype(np.uint32),
        hardware=(first_words >> np.uint64(SEQUENCE_BITS) & np.uint64(HARDWARE_MASK)).astype(
            np.uint8
        ),
        sequences=(first_words & np.uint64(SEQUENCE_MASK)).astype(np.uint32),
    )


def _all_at_once(batch: Batch, shape: Shape, flows: Flows) -> tuple[np.ndarray, np.ndarray]:
    """The rows of datagrams of one shape, and for each row the datagram it came from."""
    data, count = batch.data, len(batch)
    hops = shape.hop_count + reporter_has_row(shape.bitmap, shape.hop_count)
    rows = empty_rows(count * hops).reshape(count, hops)
    common = {
        "received_ns": batch.received_ns,
        "kind": data[:, GROUP_HEADER_BYTES + 3] >> 4,
        "reporter": read_number(data, 4, 32),
        "sequence": read_number(data, 0, 32) & np.uint64(SEQUENCE_MASK),
        "flow": _flow_numbers(data, shape, flows),
    }
    for column, values in common.items():
        rows[column] = values[:, np.newaxis]
    rows["hop"] = np.arange(hops)
    for hop in range(shape.hop_count):
        # The newest hop stands first in the packet; rows go the way the packet went.
        offset = shape.stack_offset + shape.hop_bytes * (shape.hop_count - 1 - hop)
        read_values(data, offset, shape.hop_bitmap, PACKET_INSTRUCTIONS, rows[:, hop])
    if hops > shape.hop_count:
        read_values(data, shape.metadata_offset, shape.bitmap, REPORT_INSTRUCTIONS, rows[:, -1])
        rows["node_id"][:, -1] = common["reporter"]
    return rows.reshape(-1), np.repeat(np.arange(count), hops)


def _flow_numbers(data: np.ndarray, shape: Shape, flows: Flows) -> np.ndarray:
    """The number of each datagram's flow. Few flows, many datagrams: each is looked up once."""
    if not shape.flow_slices:
        return np.zeros(len(data), dtype=np.uint32)
    keys = np.concatenate([data[:, part] for part in shape.flow_slices], axis=1)
    whole = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1])))[:, 0]
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    # In the order of arrival, so that the numbers do not depend on how the batches were cut.
    numbers = np.zeros(len(first), dtype=np.uint32)
    for distinct in np.argsort(first):
        numbers[distinct] = flows.number(shape.flow_of(data[first[distinct]]))
    return numbers[inverse]


def _one_by_one(batch: Batch, flows: Flows, marker: Marker) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows, the datagram of each, and how many datagrams were malformed."""
    rows, origins, malformed = [empty_rows(0)], [], 0
    for index in range(len(batch)):
        datagram = batch.data[index, : batch.lengths[index]].tobytes()
        try:
            found = rows_of_datagram(datagram, int(batch.received_ns[index]), flows, marker)
        except MalformedError:
            malformed += 1
            continue
        rows.append(found)
        origins.extend([index] * len(found))
    return np.concatenate(rows), np.array(origins, dtype=np.intp), malformed


def _in_order(rows: list[np.ndarray], origins: list[np.ndarray]) -> np.ndarray:
    """The rows of all shapes in the order of their datagrams."""
    if not rows:
        return empty_rows(0)
    if len(rows) == 1:
        # Within a shape they are in order, and most batches have one shape.
        return rows[0]
    return np.concatenate(rows)[np.argsort(np.concatenate(origins), kind="stable")]
