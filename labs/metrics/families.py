"""A router's description, as Prometheus's metrics.

    for family in families({"s1": queues.describe(), "s2": None}): ...

Every number that counts from the start of the switch is a counter, so that `rate()` works; what is
at this instant is a gauge. Waiting times are histograms whose edges never change, whatever the
router has seen: the percentiles of the last minutes are `histogram_quantile` of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric
from vitrine.v1 import router_pb2

from controller.queues import lost_outside
from controller.reasons import reason_name

PS_PER_S = 1_000_000_000_000
# 1, 2 and 5 of every power of ten from a microsecond to ten seconds.
EDGES_PS = [
    digit * 10**power
    for power in range(6, 14)
    for digit in (1, 2, 5)
    if digit * 10**power <= 10**13
]
_QUANTILES = {"0.5": "p50_ps", "0.9": "p90_ps", "0.99": "p99_ps", "0.999": "p999_ps"}


class _Families:
    """The families being filled, by name."""

    def __init__(self) -> None:
        self._made: dict[str, Metric] = {}

    def counter(self, name: str, about: str, labels: dict[str, str], number: float) -> None:
        family = self._made.setdefault(name, CounterMetricFamily(name, about, labels=list(labels)))
        assert isinstance(family, CounterMetricFamily)
        family.add_metric(list(labels.values()), number)

    def gauge(self, name: str, about: str, labels: dict[str, str], number: float) -> None:
        family = self._made.setdefault(name, GaugeMetricFamily(name, about, labels=list(labels)))
        assert isinstance(family, GaugeMetricFamily)
        family.add_metric(list(labels.values()), number)

    def histogram(
        self, name: str, about: str, labels: dict[str, str], spans: router_pb2.Histogram
    ) -> None:
        family = self._made.setdefault(
            name, HistogramMetricFamily(name, about, labels=list(labels))
        )
        assert isinstance(family, HistogramMetricFamily)
        total_s = spans.mean_ps * spans.count / PS_PER_S
        family.add_metric(list(labels.values()), cumulative(spans.buckets), total_s)

    def tally(self, name: str, about: str, labels: dict[str, str], tally: router_pb2.Tally) -> None:
        """Packets and bytes, as two counters."""
        self.counter(f"{name}_packets", f"Packets {about}.", labels, tally.packets)
        self.counter(f"{name}_bytes", f"Bytes {about}.", labels, tally.bytes)

    def held(self, name: str, about: str, labels: dict[str, str], tally: router_pb2.Tally) -> None:
        """Packets and bytes at this instant, as two gauges."""
        self.gauge(f"{name}_packets", f"Packets {about}.", labels, tally.packets)
        self.gauge(f"{name}_bytes", f"Bytes {about}.", labels, tally.bytes)

    def all(self) -> Iterator[Metric]:
        yield from self._made.values()


def cumulative(buckets: Sequence[router_pb2.Bucket]) -> list[tuple[str, float]]:
    """Counts at or below each edge, the last without one.

    The router's buckets are narrower than the edges' steps; one that reaches across an edge counts
    for the next, so a percentile is never told too short.
    """
    counts = [0] * (len(EDGES_PS) + 1)
    for bucket in buckets:
        counts[bisect_left(EDGES_PS, bucket.up_to_ps)] += bucket.count
    edges = [f"{edge / PS_PER_S:g}" for edge in EDGES_PS] + ["+Inf"]
    below = 0
    told = []
    for edge, count in zip(edges, counts, strict=True):
        below += count
        told.append((edge, float(below)))
    return told


def families(routers: Mapping[str, router_pb2.DescribeResponse | None]) -> Iterator[Metric]:
    """All metrics of these routers; `None` stands for one that does not answer."""
    made = _Families()
    for router, answer in routers.items():
        labels = {"router": router}
        made.gauge("vitrine_up", "Whether the router answers.", labels, answer is not None)
        if answer is None:
            continue
        _router(made, labels, answer)
        for port in answer.ports:
            _port(made, labels | {"port": str(port.port)}, port)
        for books in answer.books.ports:
            _books(made, labels | {"port": str(books.port)}, books)
        for inputs in answer.inputs:
            _input(made, labels | {"port": str(inputs.port)}, inputs)
    yield from made.all()


def _router(made: _Families, labels: dict[str, str], answer: router_pb2.DescribeResponse) -> None:
    """The metrics of the whole router."""
    about = "How late the model was when the machine held it up for more than a millisecond."
    made.histogram("vitrine_lag_seconds", about, labels, answer.lags)
    about = "Whether every packet is accounted for."
    made.gauge("vitrine_books_balanced", about, labels, answer.books.balanced)
    about = "Packet-ins, digests and other reports that no controller got to see."
    made.counter("vitrine_lost_reports", about, labels, answer.lost_reports)


def _port(made: _Families, labels: dict[str, str], port: router_pb2.Port) -> None:
    """The metrics of an output port and its queues."""
    counters = port.counters
    made.gauge("vitrine_port_up", "Whether the port takes and sends.", labels, counters.up)
    about = "The share of the line that was busy of late."
    share = counters.utilisation_permille / 1000
    made.gauge("vitrine_port_utilisation_ratio", about, labels, share)
    for reason, number in lost_outside(port.netdev).items():
        about = "Frames lost between the network device and the router."
        made.counter("vitrine_netdev_lost_packets", about, labels | {"reason": reason}, number)
    if port.HasField("netdev"):
        for direction, held in (("receive", "waiting_bytes"), ("transmit", "sending_bytes")):
            about = "Bytes of the kernel's buffers between the network device and the router."
            of_side = labels | {"direction": direction}
            made.gauge("vitrine_netdev_held_bytes", about, of_side, getattr(port.netdev, held))
    for direction in ("receive", "transmit"):
        line = getattr(counters, f"{direction}_line")
        if line.ByteSize():
            of_line = labels | {"direction": direction}
            made.tally("vitrine_line_lost", "lost on the cable", of_line, line.lost)
            about = "refused by the neighbour's network card"
            made.tally("vitrine_line_refused", about, of_line, line.refused)
            about = "that wait in the neighbour's network card"
            made.held("vitrine_line_backlog", about, of_line, line.backlog)
            made.held("vitrine_line_under_way", "that are on the cable", of_line, line.under_way)
    for queue in counters.queues:
        _queue(made, labels | {"class": str(getattr(queue, "class"))}, queue)


def _queue(made: _Families, labels: dict[str, str], queue: router_pb2.QueueCounters) -> None:
    """The metrics of one queue."""
    counted = queue.counters
    made.held("vitrine_queue_held", "that wait in the queue", labels, queue.held)
    made.tally("vitrine_queue_offered", "handed to the queue", labels, counted.offered)
    made.tally("vitrine_queue_departed", "that left the queue", labels, counted.departed)
    made.tally("vitrine_queue_marked", "marked with ECN", labels, counted.marked)
    _drops(made, "vitrine_queue_dropped", labels, counted.dropped)
    if queue.HasField("residence"):
        about = "How long packets waited in the queue."
        made.histogram("vitrine_queue_residence_seconds", about, labels, queue.residence)
        about = "Percentiles of the waiting times since the start of the switch."
        for quantile, field in _QUANTILES.items():
            span_s = getattr(queue.residence, field) / PS_PER_S
            of_quantile = labels | {"quantile": quantile}
            made.gauge("vitrine_queue_residence_quantile_seconds", about, of_quantile, span_s)


def _books(made: _Families, labels: dict[str, str], books: router_pb2.PortBooks) -> None:
    """The fates of the frames that came in by a port."""
    made.tally("vitrine_port_received", "that came in by the port", labels, books.received)
    made.tally("vitrine_port_transmitted", "that left by the port", labels, books.transmitted)
    _drops(made, "vitrine_dropped", labels, books.dropped)


def _input(made: _Families, labels: dict[str, str], inputs: router_pb2.InputCounters) -> None:
    """The queues before the fabric."""
    made.held("vitrine_input_held", "that wait for the fabric", labels, inputs.held)
    _drops(made, "vitrine_input_dropped", labels, inputs.counters.dropped)
    if inputs.HasField("residence"):
        about = "How long packets waited for the fabric."
        made.histogram("vitrine_input_residence_seconds", about, labels, inputs.residence)


def _drops(
    made: _Families, name: str, labels: dict[str, str], drops: Iterable[router_pb2.Drop]
) -> None:
    """A counter for each reason that occurred."""
    for drop in drops:
        reason = labels | {"reason": reason_name(drop.reason).lower()}
        made.tally(name, "dropped, by reason", reason, drop.tally)
