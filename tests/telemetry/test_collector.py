"""The collector keeps reports, notes the missing ones, and survives garbage."""

from __future__ import annotations

import json
import os
import socket
import threading
import urllib.error
import urllib.request

import numpy as np
import pyarrow.parquet as pq
import pytest

from apps.collector import Service, main
from controller.telemetry.collection import Collection
from controller.telemetry.flows import Flows
from controller.telemetry.metrics import LiveServer
from controller.telemetry.observation import empty_rows
from controller.telemetry.packet import Flow, Marker
from controller.telemetry.parquet import ParquetWriter
from controller.telemetry.receive import Receiver
from controller.telemetry.semantics import SemanticsError, load_semantics
from controller.telemetry.store import Store

from .golden import DROPPED, IPV4_TCP_MARKED, TRACKED, TWO_HOPS
from .test_bulk import batch_of

FLOW = "tcp 10.0.0.1:5001 > 10.0.0.2:80"


def group(sequence):
    """The group header of node 3 with a sequence number."""
    return bytes.fromhex("2040") + sequence.to_bytes(2, "big") + bytes.fromhex("00000003")


def tracked(sequence):
    return group(sequence) + bytes([TRACKED[0], 0xFF]) + TRACKED[2:] + IPV4_TCP_MARKED + TWO_HOPS


def dropped(sequence):
    return group(sequence) + DROPPED + IPV4_TCP_MARKED


def test_every_row_reaches_the_file_with_units_and_words(tmp_path):
    path = tmp_path / "reports.parquet"
    collection = Collection(Marker(), load_semantics(), ParquetWriter(path, load_semantics()))
    collection.take(batch_of([tracked(1), tracked(2)]))
    collection.take(batch_of([dropped(4)]))
    collection.close()

    table = pq.read_table(path)
    rows = table.to_pylist()
    # Two packets of three rows and one drop.
    assert [row["node_id"] for row in rows] == [1, 2, 3, 1, 2, 3, 3]
    assert [row["queue_occupancy"] for row in rows] == [7, 25, 25, 7, 25, 25, None]
    assert {row["flow"] for row in rows} == {FLOW}
    assert [row["dropped"] for row in rows] == [False] * 6 + [True]
    # 71 is no reason of ours, so the number stands for itself.
    assert rows[-1]["drop_reason"] == "71"
    assert table.schema.field("queue_occupancy").metadata == {b"unit": b"bytes"}


def test_the_books_say_what_is_missing():
    collection = Collection(Marker(), load_semantics())
    collection.take(batch_of([tracked(1), tracked(2), b"garbage", dropped(6)]))
    summary = collection.summary()

    assert (summary["datagrams"], summary["malformed"]) == (4, 1)
    # 3, 4 and 5 never came.
    assert summary["senders"] == [
        {"node": 3, "hardware": 1, "received": 3, "lost": 3, "late": 0, "repeated": 0}
    ]
    assert summary["flows"] == [{"flow": FLOW, "rows": 7}]
    (queue_of_reporter,) = [queue for queue in summary["queues"] if queue["node"] == 3]
    assert (queue_of_reporter["rows"], queue_of_reporter["drops"]) == (3, 1)


def test_the_live_view_answers_while_reports_come_in():
    collection = Collection(Marker(), load_semantics())
    collection.take(batch_of([tracked(1), tracked(2)]))
    live = LiveServer("127.0.0.1", 0, collection, lambda: {"dropped": 7, "oversized": 0})
    try:
        metrics = _get(live, "/metrics").decode()
        assert "int_datagrams_total 2.0" in metrics
        assert "int_datagrams_dropped_total 7.0" in metrics
        assert 'int_queue_occupancy_bytes{node="1",queue="3"} 7.0' in metrics
        assert json.loads(_get(live, "/live"))["rows"] == 6
        series = json.loads(_get(live, "/series?node=2&queue=0"))
        assert [row["queue_occupancy"] for row in series] == [25, 25]
        assert [row["hop_latency"] for row in series] == [None, None]
        with pytest.raises(urllib.error.HTTPError, match="400"):
            _get(live, "/series?node=two")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            _get(live, "/")
    finally:
        live.close()


def test_reports_over_udp_are_counted_one_by_one():
    receiver = Receiver("127.0.0.1", 0)
    service = Service(receiver, Collection(Marker(), load_semantics()))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(receiver.socket.getsockname())
    for sequence in range(1000):
        sender.send(tracked(sequence))
    for _ in range(100):
        sender.send(os.urandom(64))
    worker = threading.Thread(target=service.run)
    worker.start()
    service.end.set()
    worker.join(timeout=60)
    assert not worker.is_alive()
    receiver.close()
    sender.close()

    summary = service.collection.summary()
    assert summary["datagrams"] + receiver.dropped == 1100
    assert summary["rows"] >= 3000 - 3 * receiver.dropped


def test_a_port_that_is_taken_is_said_in_one_line(capsys):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        assert main(["--port", str(taken.getsockname()[1])]) == 1
    assert "collector: [Errno 98] Address already in use" in capsys.readouterr().err


def test_memory_is_bounded_in_rows_and_flows():
    store = Store(rows_max=100)
    for _ in range(50):
        store.add(empty_rows(10))
    # The oldest go in whole batches: never fewer rows than promised are kept.
    assert len(store.rows()) == 100
    assert store.rows_total == 500
    flows = Flows(limit=2)
    numbers = [flows.number(Flow(6, "10.0.0.1", port, "10.0.0.2", 80)) for port in (1, 2, 3, 1)]
    assert numbers == [1, 2, 0, 1]


def test_series_of_a_flow_is_what_arrived_of_it():
    store = Store()
    rows = empty_rows(4)
    rows["flow"] = [1, 2, 1, 2]
    rows["sequence"] = [10, 11, 12, 13]
    store.add(rows)
    assert store.rows(flow=2)["sequence"].tolist() == [11, 13]
    assert np.array_equal(store.rows(), rows)


def test_the_latest_rows_of_a_series_come_in_the_order_of_arrival():
    store = Store()
    for batch in range(3):
        rows = empty_rows(4)
        rows["flow"] = [1, 2, 1, 2]
        rows["sequence"] = range(4 * batch, 4 * batch + 4)
        store.add(rows)
    # Flow 2 has the odd numbers: two in each batch.
    assert store.rows(flow=2, rows_max=3)["sequence"].tolist() == [7, 9, 11]
    assert store.rows(flow=2, rows_max=100)["sequence"].tolist() == [1, 3, 5, 7, 9, 11]


ALIAS_BOMB = (
    "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    + "hop_latency: *a9\n"
)
MERGE_BOMB = "a0: &a0 {x: y}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hop_latency: s", "hop_latency is 's'; it must be one of: ns, us, ms"),
        ("[1, 2]", "a list of 'value: unit' lines was expected"),
        ("hop_latency: [", "cannot be read"),
        ("hop_latency: 2001-99-99", "cannot be read"),
        # PyYAML alone reads 2,500 open brackets in 6 s, and 5,000 in 18 s.
        (f"hop_latency: {'[' * 60_000}", "nested more than 50 deep in line 1"),
        (f"hop_latency:\n{'- ' * 30_000}x", "nested more than 50 deep in line 2"),
        (f"hop_latency: {'n' * 100_000}", "larger than 64 KiB"),
        # Nine lines whose aliases stand for ten thousand million values.
        (ALIAS_BOMB, "has aliases"),
        # Nine lines whose merges stand for a hundred million values.
        (MERGE_BOMB, "has aliases"),
    ],
)
def test_a_wrong_file_of_units_is_refused_with_its_place(tmp_path, text, sentence):
    path = tmp_path / "units.yaml"
    path.write_text(text)
    with pytest.raises(SemanticsError, match=sentence) as refused:
        load_semantics(path)
    assert str(path) in str(refused.value)


def _get(live, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{live.port}{path}", timeout=60) as answer:
        return answer.read()
