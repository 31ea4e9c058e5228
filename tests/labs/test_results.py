"""What a lab computes from its readings and leaves in out/."""

import csv
from dataclasses import replace

import pytest

from controller.queues import PortState
from labs import report
from labs.bottleneck import lab
from labs.sampling import Reading, busy, throughput_bps, write_csv
from tests.labs.saw import SUBJECT, saw
from topo.errors import ProcessError, UnitError

MEASUREMENT = lab.Measurement(
    subject=SUBJECT,
    settings=lab.Settings(),
    readings=saw(10.0),
    received_bps=9.57e6,
    retransmits=5,
    ping_idle_ms=0.2,
    ping_loaded_ms=45.0,
)


def test_throughput_is_what_left_between_the_first_and_the_last_reading():
    # 1,250,000 bytes a second are 10 Mb/s, whichever part of the run is looked at.
    assert throughput_bps(saw(10.0)) == pytest.approx(10e6)
    assert throughput_bps(saw(10.0)[100:150]) == pytest.approx(10e6)
    assert throughput_bps(saw(10.0)[:1]) == 0


def test_a_line_is_busy_from_the_first_to_the_last_waiting_packet():
    idle = [Reading(time_s, 0, 0, 0, 0, 0) for time_s in (0.0, 0.1)]
    waiting = [replace(reading, depth_packets=depth) for reading in idle for depth in (3, 0, 1)]
    assert busy([*idle, *waiting, *idle]) == waiting
    assert busy(idle) == []


def test_a_reading_counts_from_the_first_state_and_adds_up_all_drops():
    first = PortState(2, 0, 0, 100, 9_000, {"QUEUE_LIMIT": 3})
    later = PortState(2, 7, 10_598, 150, 84_700, {"QUEUE_LIMIT": 5, "PORT_LIMIT": 1})
    assert Reading.of(later, first, 1.5) == Reading(1.5, 7, 10_598, 75_700, 50, 3)


def test_the_windows_of_a_busy_line_show_its_rate():
    times, rates = report.windowed_mbps(saw(2.0))
    # Ten windows of 0.2 s, the first in the middle of 0 and 0.2 s.
    assert len(times) == pytest.approx(10, abs=1)
    assert times[0] == pytest.approx(0.1)
    assert rates == pytest.approx([10.0] * len(rates))


def test_the_table_says_what_a_full_queue_costs():
    rows = dict(lab.rows(MEASUREMENT))
    # 50 frames of 1514 bytes are 605,600 bits, which take 60.56 ms at 10 Mb/s.
    assert rows["a full queue delays by"] == "60.6 ms"
    assert rows["queue, highest"] == "49 packets"
    assert rows["packets the router dropped"] == "5"
    assert rows["h2 received (iperf3, payload)"] == "9.57 Mb/s"


def test_the_table_is_markdown_with_aligned_columns():
    lines = report.table([("queue", "50 packets"), ("a longer name", "1")]).splitlines()
    assert lines[0].startswith("|")
    assert lines[1].replace("-", "") == "|||"
    assert len({len(line) for line in lines}) == 1


def test_table_picture_and_readings_lie_in_the_folder(tmp_path):
    table = lab.report(MEASUREMENT, tmp_path / "out")
    assert table in (tmp_path / "out" / "table.md").read_text()
    assert (tmp_path / "out" / "queue.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "out" / "queue.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(MEASUREMENT.readings)
    assert float(rows[-1]["time_s"]) == pytest.approx(10.0)


def test_the_picture_of_a_run_without_drops_can_be_drawn(tmp_path):
    calm = [replace(reading, dropped_packets=0) for reading in saw(3.0)]
    report.draw_queue(SUBJECT, calm, tmp_path / "calm.png")
    assert (tmp_path / "calm.png").stat().st_size > 10_000


def test_readings_are_written_with_units_in_their_columns(tmp_path):
    write_csv(saw(0.1), tmp_path / "queue.csv")
    header = (tmp_path / "queue.csv").read_text().splitlines()[0]
    assert header == (
        "time_s,depth_packets,depth_bytes,departed_bytes,departed_packets,dropped_packets"
    )


def test_settings_come_from_the_environment_with_or_without_their_unit():
    settings = lab.Settings.from_environment(
        {"RATE": "5mbit", "QUEUE": "20", "DURATION": "8 s", "CONGESTION": "cubic"}
    )
    assert settings == lab.Settings(5_000_000, 20, 8, "cubic")
    assert lab.Settings.from_environment({}) == lab.Settings()
    assert lab.Settings.from_environment({"QUICK": "1"}).duration_s == 4


def test_a_rate_needs_its_unit():
    with pytest.raises(UnitError, match="'5' is not a rate"):
        lab.Settings.from_environment({"RATE": "5"})


@pytest.mark.parametrize("name", ["QUEUE", "DURATION"])
def test_nothing_of_something_is_refused(name):
    with pytest.raises(UnitError, match=f"{name} is 0, and nothing would get through"):
        lab.Settings.from_environment({name: "0"})


def test_a_part_of_a_second_is_rounded_up():
    assert lab.Settings.from_environment({"DURATION": "1500 ms"}).duration_s == 2


def test_the_settings_change_the_bottleneck_and_nothing_else():
    plain, changed = lab.topology(lab.Settings()), lab.topology(lab.Settings(5_000_000, 20))
    port = changed.switch("s1").port(lab.BOTTLENECK)
    assert (port.rate_bps, port.queue_packets) == (5_000_000, 20)
    assert changed.switch("s1").port(1) == plain.switch("s1").port(1)


def test_the_mean_of_a_ping_is_read():
    output = "5 packets transmitted\nrtt min/avg/max/mdev = 0.045/0.061/0.080/0.012 ms\n"
    assert lab.mean_ping_ms(output) == 0.061
    with pytest.raises(ProcessError, match="does not forward between h1 and h2"):
        lab.mean_ping_ms("5 packets transmitted, 0 received, 100% packet loss\n")
