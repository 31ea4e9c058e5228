"""The reports of a telemetry domain, as they come to a host in virtual time.

What the collector does with datagrams of a socket it does here with those that the world tells of.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from vitrine.v1 import world_pb2

from apps.collector import REPORT_PORT
from apps.domain import Domain
from controller.telemetry.bulk import Batch
from controller.telemetry.collection import Collection
from controller.telemetry.packet import DSCP_INT, Marker
from controller.telemetry.receive import DATAGRAM_BYTES_MAX
from controller.telemetry.semantics import KIT_SEMANTICS, load_semantics
from controller.world import PS_PER_NS, PS_PER_S
from labs.errors import MeasurementError
from labs.measure.reports import HopReport, hop_report

_BATCH = 4096


def sink() -> world_pb2.App:
    """What runs in the collector's host."""
    return world_pb2.App(
        datagram_sink=world_pb2.DatagramSink(port=REPORT_PORT, told_bytes=DATAGRAM_BYTES_MAX)
    )


def reports(
    datagrams: Sequence[tuple[int, bytes]], domain: Domain, zero_ps: int
) -> list[HopReport]:
    """The rows of all reports, in the order of their arrival."""
    collection = Collection(Marker(dscp=DSCP_INT), load_semantics(KIT_SEMANTICS))
    for first in range(0, len(datagrams), _BATCH):
        collection.take(_batch(datagrams[first : first + _BATCH]))
    lost = sum(books.lost for _, books in collection.senders.items())
    if lost or collection.malformed:
        raise MeasurementError(
            f"of the reports to {domain.collector} {lost} are missing in sequence and "
            f"{collection.malformed} are malformed."
        )
    nodes = {node: name for name, node in domain.nodes.items()}
    zeros = dict.fromkeys(domain.nodes, -zero_ps / PS_PER_S)
    return [
        hop_report(row, nodes, zeros)
        for row in collection.series(None, None, None, rows_max=collection.store.rows_total)
    ]


def _batch(datagrams: Sequence[tuple[int, bytes]]) -> Batch:
    lengths = np.array([len(payload) for _, payload in datagrams], dtype=np.int64)
    data = np.zeros((len(datagrams), int(lengths.max())), dtype=np.uint8)
    for row, (_, payload) in zip(data, datagrams, strict=True):
        row[: len(payload)] = np.frombuffer(payload, dtype=np.uint8)
    received_ns = np.array([time_ps // PS_PER_NS for time_ps, _ in datagrams], dtype=np.uint64)
    return Batch(data, lengths, received_ns)
