"""Reports to rows, one report at a time: the reference for `bulk`, and its way out.

Whatever the bulk decoder has no plan for comes here.
"""

from __future__ import annotations

import numpy as np

from controller.telemetry.flows import Flows
from controller.telemetry.observation import COLUMN_OF, Kind, empty_rows
from controller.telemetry.packet import InnerPacket, Marker, decode_packet
from controller.telemetry.report import Report, decode_reports


def rows_of_datagram(datagram: bytes, received_ns: int, flows: Flows, marker: Marker) -> np.ndarray:
    """The rows of all reports in a datagram; `MalformedError` says what does not fit."""
    parts = []
    # All of it is read before the first flow gets a number: garbage leaves no trace.
    decoded = [
        (report, decode_packet(report.inner_type, report.inner, marker))
        for report in decode_reports(datagram)
    ]
    for report, packet in decoded:
        rows = _rows_of_report(report, packet)
        rows["received_ns"] = received_ns
        rows["flow"] = flows.number(packet.flow)
        parts.append(rows)
    return np.concatenate(parts) if parts else empty_rows(0)


def _rows_of_report(report: Report, packet: InnerPacket) -> np.ndarray:
    # The newest hop stands first in the packet; rows go the way the packet went.
    hops = list(reversed(packet.stack.hops)) if packet.stack else []
    if reporter_has_row(report.bitmap, len(hops)):
        hops.append({**report.values, "node_id": report.node_id})
    rows = empty_rows(len(hops))
    rows["kind"] = kind_of(report)
    rows["reporter"] = report.node_id
    rows["sequence"] = report.sequence
    rows["hop"] = range(len(hops))
    for row, values in zip(rows, hops, strict=True):
        for name, value in values.items():
            column = COLUMN_OF.get(name, name)
            if value is not None and column in row.dtype.names:
                row[column] = value
    return rows


def reporter_has_row(bitmap: int, hop_count: int) -> bool:
    """Whether the reporting node gets a row of its own.

    A node that put its metadata into the stack, as a hop like any other, reports no other values.
    """
    return bitmap != 0 or hop_count == 0


def kind_of(report: Report) -> Kind:
    """The flags of a report."""
    return Kind(
        Kind.DROPPED * report.dropped
        | Kind.CONGESTED * report.congested
        | Kind.TRACKED * report.tracked
        | Kind.INTERMEDIATE * report.intermediate
    )
