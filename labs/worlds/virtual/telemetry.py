"""The reports of a telemetry domain, as they come to a host in virtual time.

What the collector does with datagrams of a socket it does here with those that the world tells of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from vitrine.v1 import world_pb2

from apps.collector import told
from apps.domain import REPORT_PORT, Domain
from controller.telemetry.bulk import Batch
from controller.telemetry.collection import Collection
from controller.telemetry.packet import DSCP_INT, Marker
from controller.telemetry.receive import DATAGRAM_BYTES_MAX
from controller.telemetry.semantics import KIT_SEMANTICS, load_semantics
from controller.world import PS_PER_NS, PS_PER_S, World
from labs.errors import MeasurementError
from labs.measure.reports import NS_PER_US, HopReport, hop_report
from labs.worlds.virtual.told import Watch, datagrams

_BATCH = 4096
# How many rows a look shows.
_LATEST = 10


def sink() -> world_pb2.App:
    """The program of the collector's host."""
    return world_pb2.App(
        datagram_sink=world_pb2.DatagramSink(port=REPORT_PORT, told_bytes=DATAGRAM_BYTES_MAX)
    )


def reports(came: Sequence[tuple[int, bytes]], domain: Domain, zero_ps: int) -> list[HopReport]:
    """The rows of all reports, in the order of their arrival."""
    collection = collected(came)
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


def collected(came: Sequence[tuple[int, bytes]]) -> Collection:
    """A collection of all datagrams."""
    collection = _collection()
    for first in range(0, len(came), _BATCH):
        collection.take(_batch(came[first : first + _BATCH]))
    return collection


class ReportWatch(Watch):
    """The reports that come to a domain's collector, taken as they come."""

    def __init__(self, world: World, domain: Domain) -> None:
        world.start(domain.collector, sink())
        super().__init__(world.watch_hosts(hosts=[domain.collector], events=True))
        self.collection = _collection()
        self._names = {node: name for name, node in domain.nodes.items()}

    def _take(self, message: world_pb2.WatchHostsResponse) -> None:
        if came := datagrams(message):
            self.collection.take(_batch(came))

    def lines(self) -> Iterator[str]:
        """The latest rows, oldest first, and the books."""
        for row in self.collection.series(None, None, None, rows_max=_LATEST):
            yield f"{row['flow']}: {', '.join(self._words(row))}"
        yield told(self.collection, dropped=0)

    def _words(self, row: Mapping[str, object]) -> Iterator[str]:
        """The values of a row; a domain does not request all of them."""
        node = row["node_id"]
        yield self._names.get(node, f"node {node}") if isinstance(node, int) else "a router"
        if row["egress_port"] is not None:
            yield f"port {row['ingress_port']} to {row['egress_port']}"
        if isinstance(latency_ns := row["hop_latency"], int):
            yield f"{latency_ns / NS_PER_US:.1f} us"
        if row["queue_occupancy"] is not None:
            yield f"queue {row['queue_id']} with {row['queue_occupancy']} B"
        if row["drop_reason"] is not None:
            yield f"dropped: {row['drop_reason']}"


def _collection() -> Collection:
    return Collection(Marker(dscp=DSCP_INT), load_semantics(KIT_SEMANTICS))


def _batch(came: Sequence[tuple[int, bytes]]) -> Batch:
    lengths = np.array([len(payload) for _, payload in came], dtype=np.int64)
    data = np.zeros((len(came), int(lengths.max())), dtype=np.uint8)
    for row, (_, payload) in zip(data, came, strict=True):
        row[: len(payload)] = np.frombuffer(payload, dtype=np.uint8)
    received_ns = np.array([time_ps // PS_PER_NS for time_ps, _ in came], dtype=np.uint64)
    return Batch(data, lengths, received_ns)
