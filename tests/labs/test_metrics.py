"""Prometheus's data of a router, and that the dashboard uses nothing else."""

import json
import re
import socket
import urllib.request
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from vitrine.v1 import router_pb2

from controller.errors import ControllerError
from labs.metrics.__main__ import listening, serve
from labs.metrics.families import cumulative, families

DASHBOARD = Path(__file__).parents[2] / "labs/metrics/grafana.json"
MS = 10**9


def router():
    """A router with something in every part that metrics are made of."""
    answer = router_pb2.DescribeResponse(lost_reports=3)
    answer.books.balanced = True
    answer.lags.count, answer.lags.mean_ps = 2, 4 * MS
    answer.lags.buckets.add(up_to_ps=4 * MS, count=2)
    port = answer.ports.add(port=2)
    port.netdev.received, port.netdev.overrun = 10, 4
    port.counters.up, port.counters.utilisation_permille = True, 950
    port.netdev.waiting_bytes = 143_360
    port.counters.transmit_line.lost.packets = 6
    port.counters.receive_line.backlog.packets = 9
    port.counters.receive_line.under_way.bytes = 3028
    port.counters.receive_line.refused.packets = 8
    queue = port.counters.queues.add(**{"class": 1})
    queue.held.packets, queue.held.bytes = 5, 7570
    queue.counters.departed.packets, queue.counters.marked.packets = 100, 7
    drop = queue.counters.dropped.add(reason=router_pb2.QUEUE_LIMIT)
    drop.tally.packets, drop.tally.bytes = 12, 12 * 1514
    queue.residence.count, queue.residence.mean_ps, queue.residence.p99_ps = 3, 2 * MS, 6 * MS
    for up_to_ps, count in ((MS, 1), (3 * MS, 2)):
        queue.residence.buckets.add(up_to_ps=up_to_ps, count=count)
    books = answer.books.ports.add(port=1)
    books.received.packets, books.transmitted.bytes = 112, 1514
    books.dropped.add(reason=router_pb2.INGRESS_PROGRAM).tally.packets = 9
    inputs = answer.inputs.add(port=1)
    inputs.held.bytes = 64
    inputs.residence.count = 1
    inputs.residence.buckets.add(up_to_ps=MS, count=1)
    inputs.counters.dropped.add(reason=router_pb2.VOQ_LIMIT).tally.packets = 1
    return answer


class Told(Collector):
    """Two routers, one of which does not answer."""

    def describe(self):
        return ()

    def collect(self):
        return families({"s1": router(), "s2": None})


@pytest.fixture
def registry():
    made = CollectorRegistry(auto_describe=False)
    made.register(Told())
    return made


def value(registry, name, **labels):
    """The value of one series; labels that are not given must not be there."""
    return registry.get_sample_value(name, {key.rstrip("_"): text for key, text in labels.items()})


def test_what_a_router_counts_is_told_where_it_was_counted(registry):
    queue = {"router": "s1", "port": "2", "class_": "1"}
    assert value(registry, "vitrine_queue_held_bytes", **queue) == 7570
    assert value(registry, "vitrine_queue_departed_packets_total", **queue) == 100
    assert value(registry, "vitrine_queue_marked_packets_total", **queue) == 7
    of_reason = queue | {"reason": "queue_limit"}
    assert value(registry, "vitrine_queue_dropped_packets_total", **of_reason) == 12
    port = {"router": "s1", "port": "1"}
    assert value(registry, "vitrine_port_received_packets_total", **port) == 112
    dropped = value(registry, "vitrine_dropped_packets_total", **port, reason="ingress_program")
    assert dropped == 9
    port = {"router": "s1", "port": "2"}
    assert value(registry, "vitrine_port_utilisation_ratio", **port) == 0.95
    assert value(registry, "vitrine_netdev_lost_packets_total", **port, reason="overrun") == 4
    # Waiting bytes are not lost.
    lost = value(registry, "vitrine_netdev_lost_packets_total", **port, reason="waiting_bytes")
    assert lost is None
    receive = port | {"direction": "receive"}
    assert value(registry, "vitrine_netdev_held_bytes", **receive) == 143_360
    assert value(registry, "vitrine_line_backlog_packets", **receive) == 9
    assert value(registry, "vitrine_line_under_way_bytes", **receive) == 3028
    assert value(registry, "vitrine_line_refused_packets_total", **receive) == 8
    lost = value(registry, "vitrine_line_lost_packets_total", **port, direction="transmit")
    assert lost == 6


def test_waiting_times_are_a_histogram_and_percentiles(registry):
    queue = {"router": "s1", "port": "2", "class_": "1"}
    name = "vitrine_queue_residence_seconds"
    assert value(registry, f"{name}_bucket", **queue, le="0.0005") == 0
    assert value(registry, f"{name}_bucket", **queue, le="0.001") == 1
    # 3 ms is beyond the edge at 2 ms: it counts at the next, 5 ms.
    assert value(registry, f"{name}_bucket", **queue, le="0.002") == 1
    assert value(registry, f"{name}_bucket", **queue, le="0.005") == 3
    assert value(registry, f"{name}_count", **queue) == 3
    assert value(registry, f"{name}_sum", **queue) == pytest.approx(0.006)
    quantile = "vitrine_queue_residence_quantile_seconds"
    assert value(registry, quantile, **queue, quantile="0.99") == 0.006


def test_the_edges_are_the_same_whatever_was_seen():
    empty = [edge for edge, _ in cumulative([])]
    long = cumulative([router_pb2.Bucket(up_to_ps=10**15, count=2)])
    assert [edge for edge, _ in long] == empty
    assert (empty[0], empty[-2:], long[-2:]) == (
        "1e-06",
        ["10", "+Inf"],
        [("10", 0.0), ("+Inf", 2.0)],
    )


def test_a_router_that_does_not_answer_is_told_as_down(registry):
    assert value(registry, "vitrine_up", router="s1") == 1
    assert value(registry, "vitrine_up", router="s2") == 0
    assert value(registry, "vitrine_books_balanced", router="s2") is None


def test_the_server_speaks_what_prometheus_reads(registry):
    server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    told = {family.name for family in text_string_to_metric_families(text)}
    assert {"vitrine_up", "vitrine_lag_seconds", "vitrine_queue_held_packets"} <= told


def test_the_dashboard_asks_for_metrics_that_there_are(registry):
    series = set()
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        series |= {sample.name for sample in family.samples}
    dashboard = json.loads(DASHBOARD.read_text())
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\bvitrine_\w+", target["expr"])
    }
    assert asked
    assert asked <= series
    numbers = [panel["id"] for panel in dashboard["panels"]]
    assert len(numbers) == len(set(numbers))


def test_without_a_host_only_this_machine_is_served():
    assert listening(":9464") == ("127.0.0.1", 9464)
    assert listening("0.0.0.0:80") == ("0.0.0.0", 80)
    for wrong in ("9464", ":99999", "s1:http"):
        with pytest.raises(ControllerError, match=f"--listen {wrong}: say host:port"):
            listening(wrong)


def test_a_place_that_is_taken_is_told_in_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ControllerError, match=f"cannot listen at {place}: Address already in"):
            serve("", place)
