"""The row of the collector: what one node said of one packet.

A report on a packet that crossed three routers and was reported by the third gives three rows: the
two hops of its stack and the reporting node's own. Rows live in numpy arrays, because there are
hundreds of thousands of them a second.
"""

from __future__ import annotations

from enum import IntFlag

import numpy as np

from controller.telemetry.instructions import PADDING, REPORT_INSTRUCTIONS


class Kind(IntFlag):
    """Why the packet was reported; the bits of the report's flags."""

    DROPPED = 0x8
    CONGESTED = 0x4
    TRACKED = 0x2
    INTERMEDIATE = 0x1


# The columns of booleans that a kind becomes where rows are shown or stored.
FLAG_OF_NAME = {
    "dropped": Kind.DROPPED,
    "congested": Kind.CONGESTED,
    "tracked": Kind.TRACKED,
    "intermediate": Kind.INTERMEDIATE,
}

# The flow of a row whose packet could not be read.
UNKNOWN_FLOW = 0

# A value that a node did not give is all ones, as in the specification; of 24-bit values the 24.
ROW = np.dtype(
    [
        # When the collector received the report, on the clock of its machine.
        ("received_ns", np.uint64),
        ("kind", np.uint8),
        # The node that sent the report, and its sequence number.
        ("reporter", np.uint32),
        ("sequence", np.uint32),
        # The number of the flow in the collector's list of flows.
        ("flow", np.uint32),
        # The place on the way: 0 is the first node that wrote; the reporting node is last.
        ("hop", np.uint8),
        ("node_id", np.uint32),
        ("ingress_port", np.uint16),
        ("egress_port", np.uint16),
        ("ingress_interface", np.uint32),
        ("egress_interface", np.uint32),
        ("hop_latency", np.uint32),
        ("queue_id", np.uint8),
        ("queue_occupancy", np.uint32),
        ("ingress_time", np.uint64),
        ("egress_time", np.uint64),
        ("egress_utilisation", np.uint32),
        ("buffer_id", np.uint8),
        ("buffer_occupancy", np.uint32),
        ("drop_reason", np.uint8),
    ]
)

# The widths of the values as they travel: 24 bits of queue occupancy stand in 32 of the row.
WIDTHS_BITS = {
    field.name: field.width_bits
    for instruction in REPORT_INSTRUCTIONS.values()
    for field in instruction.fields
    if field.name != PADDING
} | {"node_id": 32}

# A report names the queue of a drop in a field of its own; in a row it is the queue.
COLUMN_OF = {"drop_queue_id": "queue_id"}

VALUE_COLUMNS = tuple(
    name for name in ROW.names or () if name in WIDTHS_BITS or name in COLUMN_OF.values()
)


def unavailable(column: str) -> int:
    """The number that marks a missing value."""
    return (1 << WIDTHS_BITS[column]) - 1


def empty_rows(count: int) -> np.ndarray:
    """Rows in which no value is known yet."""
    rows = np.zeros(count, dtype=ROW)
    for column in VALUE_COLUMNS:
        rows[column] = unavailable(column)
    return rows


def known(rows: np.ndarray, column: str) -> np.ndarray:
    """A mask of the rows that have a value in a column."""
    return rows[column] != unavailable(column)
