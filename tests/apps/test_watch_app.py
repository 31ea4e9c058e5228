"""The watch application: rows of samples and events, in both formats, from a switch that runs."""

import csv
from functools import partial

import pyarrow.parquet as pq
import pytest

from apps import watch
from controller.errors import ControllerError
from controller.queues import PortState, QueueState
from controller.session import Session
from controller.tables import open_table
from controller.watch import (
    Crossed,
    Crossing,
    Drop,
    Link,
    Lost,
    Mark,
    Overrun,
    QueueChange,
    Sample,
    Threshold,
)
from tests.controller import real_switch
from tests.controller.real_switch import RealSwitch

PS_PER_S = 10**12
QUEUE = QueueState(1, 3, 4542, 10, 15_140, {"QUEUE_LIMIT": 2, "AQM": 1})
PORT = PortState(2, 3, 4542, 10, 15_140, {"QUEUE_LIMIT": 2, "AQM": 1}, (QUEUE,), 7, 2, 1)
SAMPLE = Sample(PS_PER_S, 4, {2: PORT}, {}, {})
DROP = Drop(2 * PS_PER_S, "QUEUE_LIMIT", 1, (2, 1), 1514, b"\x00\xff")


class WatchedDouble:
    """Tells what it was made with; the router's clock began at 1000 s of 1970."""

    def __init__(self, *told):
        self._told = told

    def __iter__(self):
        return iter(self._told)

    def epoch_s(self, time_ps):
        return 1000 + time_ps / PS_PER_S


@pytest.mark.parametrize(
    ("event", "row"),
    [
        (
            QueueChange(PS_PER_S, 2, 1, "ENQUEUED", 1514, 3, 4542),
            {"kind": "queue", "port": 2, "class": 1, "what": "ENQUEUED", "held_packets": 3},
        ),
        (
            DROP,
            {"time_s": 1002, "kind": "drop", "what": "QUEUE_LIMIT", "input": 1, "head": "00ff"},
        ),
        (Drop(0, "PARSER", 1, None, 60, b""), {"port": None, "class": None, "what": "PARSER"}),
        (Mark(0, 2, 1, 1514, b""), {"kind": "mark", "port": 2, "length_bytes": 1514}),
        (
            Crossed(0, Threshold(2, 1, packets=5), True, 5, 7570),
            {"kind": "threshold", "what": "above", "held_bytes": 7570},
        ),
        (
            Crossing(0, 1, 2, 0, 1514, PS_PER_S),
            {"kind": "crossing", "input": 1, "port": 2, "until_s": 1001},
        ),
        (Link(0, 2, False), {"kind": "link", "port": 2, "what": "down"}),
        (Overrun(0, 5), {"kind": "overrun", "what": "5 ps"}),
        (Lost(7), {"kind": "lost", "what": "7", "time_s": None}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_event_becomes_a_row_of_all_columns(event, row):
    written = watch.event_row(event, WatchedDouble())
    assert written.keys() == watch.EVENT_COLUMNS.keys()
    assert {key: written[key] for key in row} == row


def test_a_sample_becomes_a_row_for_each_queue():
    (row,) = watch.sample_rows(SAMPLE, WatchedDouble())
    assert row.keys() == watch.SAMPLE_COLUMNS.keys()
    assert (row["time_s"], row["port"], row["class"]) == (1001, 2, 1)
    assert (row["held_packets"], row["dropped_packets"], row["missed_samples"]) == (3, 3, 4)
    cable = row["backlog_packets"], row["arriving_packets"], row["leaving_packets"]
    assert cable == (7, 2, 1)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_are_written_in_the_format_that_the_name_says(tmp_path, ending):
    samples, events = tmp_path / f"deep/samples.{ending}", tmp_path / f"deep/events.{ending}"
    tables = [
        open_table(samples, watch.SAMPLE_COLUMNS),
        open_table(events, watch.EVENT_COLUMNS),
    ]
    assert watch.record(WatchedDouble(SAMPLE, DROP, SAMPLE), *tables) == (2, 1)
    for table in tables:
        table.close()
    if ending == "csv":
        with events.open() as file:
            (row,) = csv.DictReader(file)
        assert (row["time_s"], row["what"], row["until_s"]) == ("1002.000000000", "QUEUE_LIMIT", "")
        assert len(samples.read_text().splitlines()) == 3
    else:
        (row,) = pq.read_table(events).to_pylist()
        assert (row["time_s"], row["what"], row["until_s"]) == (1002.0, "QUEUE_LIMIT", None)
        assert pq.read_table(samples).num_rows == 2


def test_a_name_that_says_no_format_is_refused(tmp_path):
    with pytest.raises(ControllerError, match=r"name the file \.csv or \.parquet"):
        open_table(tmp_path / "out.txt", watch.EVENT_COLUMNS)


@real_switch.needed
def test_a_running_switch_is_recorded_until_the_time_is_over(tmp_path, capsys):
    switch = RealSwitch(tmp_path)
    try:
        samples = tmp_path / "samples.parquet"
        where = ["--router", switch.address, "--samples", str(samples), "--interval", "20"]
        assert watch.main([*where, "--seconds", "0.5"]) == 0
    finally:
        switch.end()
    assert "samples, 0 events" in capsys.readouterr().out
    times = pq.read_table(samples)["time_s"].to_pylist()
    assert times == sorted(times)
    # Half a second holds 25 samples of 20 ms; a busy machine may leave out most of them.
    assert len(set(times)) >= 2


def test_where_no_router_answers_an_earlier_file_stays(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Session, "observe", partial(Session.observe, deadline_s=0.2))
    earlier = tmp_path / "samples.csv"
    earlier.write_text("an hour's work")
    assert watch.main(["--router", "127.0.0.1:9", "--samples", str(earlier)]) == 1
    assert "watch: nothing answers at 127.0.0.1:9" in capsys.readouterr().err
    assert earlier.read_text() == "an hour's work"


def test_who_keeps_nothing_is_asked_what_to_keep(capsys):
    assert watch.main([]) == 1
    assert capsys.readouterr().err.startswith("watch: say what is to be kept: --samples FILE")
