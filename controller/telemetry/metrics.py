"""The collector's books for Prometheus, and its live values as JSON, over HTTP.

/metrics                                  Prometheus
/live                                     the books
/series?node=2&queue=0&flow=...&rows=100  the latest rows of a queue, node or flow
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import parse_qs

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controller import http_server
from controller.telemetry.collection import Collection

SERIES_ROWS_MAX = 10_000
# Node ids have 32 bits.
_DIGITS_MAX = 10

Environment = dict[str, Any]
StartResponse = Callable[..., Any]
# The counts of the receiver: what never reached the collection.
Losses = Callable[[], dict[str, int]]


class CollectionMetrics(Collector):
    """Reads the books whenever Prometheus asks."""

    def __init__(self, collection: Collection, losses: Losses) -> None:
        self._collection = collection
        self._losses = losses

    def collect(self) -> Iterator[Metric]:
        """One family a book."""
        books = self._collection.books()
        yield CounterMetricFamily("int_datagrams", "Report datagrams received.", books["datagrams"])
        yield CounterMetricFamily(
            "int_malformed", "Datagrams that are no reports.", books["malformed"]
        )
        for name, count in self._losses().items():
            yield CounterMetricFamily(
                f"int_datagrams_{name}", f"Datagrams {name} before they were read.", count
            )
        yield from _senders(books["senders"])
        yield from _queues(books["queues"], books["units"])


def _senders(senders: list[dict[str, Any]]) -> Iterator[Metric]:
    labels = ["node", "hardware"]
    texts = {
        "received": "Reports received.",
        "lost": "Reports missing in the sequence.",
        "late": "Reports that came after a later one.",
        "repeated": "Reports that came twice in a row.",
    }
    for name, text in texts.items():
        # The number of losses falls when a late report turns up, so it is no counter.
        family = GaugeMetricFamily if name == "lost" else CounterMetricFamily
        metric = family(f"int_reports_{name}", text, labels=labels)
        for sender in senders:
            metric.add_metric([str(sender[label]) for label in labels], sender[name])
        yield metric


def _queues(queues: list[dict[str, Any]], units: dict[str, str]) -> Iterator[Metric]:
    labels = ["node", "queue"]
    occupancy, latency = units["queue_occupancy"], units["hop_latency"]
    families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {
        "rows": CounterMetricFamily("int_queue_rows", "Packets told of.", labels=labels),
        "drops": CounterMetricFamily("int_queue_drops", "Drops reported.", labels=labels),
        "latest_occupancy": GaugeMetricFamily(
            f"int_queue_occupancy_{occupancy}", "The latest occupancy told.", labels=labels
        ),
        "highest_occupancy": GaugeMetricFamily(
            f"int_queue_occupancy_highest_{occupancy}", "The highest told.", labels=labels
        ),
        "highest_latency": GaugeMetricFamily(
            f"int_hop_latency_highest_{latency}", "The highest hop latency told.", labels=labels
        ),
    }
    for name, metric in families.items():
        for queue in queues:
            metric.add_metric([str(queue[label]) for label in labels], queue[name])
        yield metric


class LiveServer:
    """Serves metrics and live values from a thread of its own until it is closed."""

    def __init__(self, address: str, port: int, collection: Collection, losses: Losses) -> None:
        registry = CollectorRegistry()
        registry.register(CollectionMetrics(collection, losses))
        self._metrics = make_wsgi_app(registry)
        self._collection = collection
        self._losses = losses
        self._server = http_server.bind(address, port, self._answer)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops serving and gives the port back."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, environment: Environment, start: StartResponse) -> Iterable[bytes]:
        path = environment["PATH_INFO"]
        if path == "/metrics":
            return self._metrics(environment, start)
        if path == "/live":
            return _json(start, {**self._collection.summary(), **self._losses()})
        if path == "/series":
            return self._series(environment, start)
        return _refuse(start, "404 Not Found", "there are /metrics, /live and /series")

    def _series(self, environment: Environment, start: StartResponse) -> Iterable[bytes]:
        query = {name: values[-1] for name, values in parse_qs(environment["QUERY_STRING"]).items()}
        numbers: dict[str, int | None] = {"node": None, "queue": None, "rows": 100}
        for name in numbers.keys() & query.keys():
            if not query[name].isdecimal() or len(query[name]) > _DIGITS_MAX:
                return _refuse(start, "400 Bad Request", f"{name} must be a number")
            numbers[name] = int(query[name])
        rows_max = min(numbers["rows"] or 1, SERIES_ROWS_MAX)
        found = self._collection.series(
            query.get("flow"), numbers["node"], numbers["queue"], rows_max
        )
        return _json(start, found)


def _json(start: StartResponse, content: Any) -> Iterable[bytes]:
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(content).encode()]


def _refuse(start: StartResponse, status: str, sentence: str) -> Iterable[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [f"{sentence}\n".encode()]
