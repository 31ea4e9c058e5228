"""A lab's files in out/: report, table, numbers, figures, raw data."""

import csv
import html.parser
import io
import itertools
import json
import re
from dataclasses import replace

import pytest
from matplotlib.text import Annotation, Text

from controller.toolchain import ROOT
from labs import palette, recording_files, report
from labs.definition import Figure, Row
from labs.hol_blocking.lab import HolBlocking
from labs.link_sharing.lab import LinkSharing
from labs.machine import Machine
from labs.measure.router import Drop, PortSeries
from labs.report import drawing, network, table
from labs.report import html as html_report
from labs.settings import Settings
from tests.first_lab import Bottleneck
from tests.labs.saw import add, recording, saw, socket_sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    lab = Bottleneck(Settings(seconds=10))
    recordings = {"flow": recording()}
    recording_files.write(recordings["flow"], folder / "data" / "flow")
    report.write(lab, recordings, lab.assess(recordings), folder, Machine.this_one())
    return folder


class References(html.parser.HTMLParser):
    """Everything that the page loads or links to."""

    def __init__(self, text):
        super().__init__()
        self.sources, self.links, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.sources += [named["src"]] if "src" in named else []
        self.links += [named["href"]] if "href" in named else []


def test_the_report_needs_nothing_outside_of_itself(folder):
    page = References((folder / "report.html").read_text())
    assert page.sources
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    # Its linked files are beside it.
    assert "results.json" in page.links
    assert all((folder / link).exists() for link in page.links if not link.endswith("/README.md"))


def test_what_waited_in_front_of_a_port_is_said_where_anything_did(folder, tmp_path):
    assert "In front of the router" not in (folder / "report.html").read_text()
    lab, waited = Bottleneck(Settings(seconds=10)), recording()
    waited.ports["s1-eth2"].backlog_packets[7] = 12
    recordings = {"flow": waited}
    report.write(lab, recordings, lab.assess(recordings), tmp_path, Machine.this_one())
    text = (tmp_path / "report.html").read_text()
    assert "In front of the router" in text
    assert "<td>flow</td><td>s1-eth2</td><td>12 packets</td>" in text


def test_what_to_look_for_is_said_for_the_settings_that_it_is_about():
    def said(settings):
        return html_report._look_for(LinkSharing(settings))

    # Quick or long, in either world, and at either rate that the lab chooses by itself.
    for own in (Settings(), Settings(quick=True, seconds=30), Settings(rate_bps=100_000_000)):
        assert "own settings" not in said(own)
    other = said(Settings(rate_bps=50_000_000, congestion="bbr"))
    assert "Here it was run with <code>--rate 50mbit --congestion bbr</code>" in other


def test_the_report_holds_the_table_and_the_verdicts(folder):
    text = (folder / "report.html").read_text()
    # This lab has no original, so there is no column of one.
    assert '<th scope="col">theory</th><th scope="col">measured</th>' in text
    assert "the original" not in text
    assert "2 of 2 bands are met" in text
    assert Bottleneck.question in text


def test_results_hold_every_number_with_its_unit_and_each_band_with_its_verdict(folder):
    results = json.loads((folder / "results.json").read_text())
    assert [band["verdict"] for band in results["bands"]] == ["met", "met"]
    # The pings are 44 and 46 ms, 0.2 and 0.4 ms; the saw drops a packet every two seconds.
    numbers = results["numbers"]
    assert numbers["ping_loaded_ms"] == pytest.approx(45.0)
    assert numbers["ping_alone_ms"] == pytest.approx(0.3)
    assert numbers["dropped_packets"] == 5
    assert numbers["line_carried_bps"] == pytest.approx(10e6)
    assert all(re.search(r"_(bps|ms|packets|s|share|bytes)$|^retransmits$", n) for n in numbers)
    assert results["machine"]["kernel"].startswith("Linux")
    assert re.fullmatch(r"[0-9a-f]{12}(-dirty)?|unknown", results["machine"]["kit"])
    assert results["ended_early"] == ""


def test_the_table_says_what_a_full_queue_costs(folder):
    # 50 frames of 1514 bytes are 605,600 bits, which take 60.56 ms at 10 Mb/s.
    assert "up to 60.6 ms more" in (folder / "table.md").read_text()


def test_the_raw_data_are_tables_whose_columns_carry_their_units(folder):
    data = folder / "data" / "flow"
    assert sorted(path.name for path in data.iterdir()) == [
        "drops-s1-eth2.csv",
        "ping-alone.csv",
        "ping-during-the-flow.csv",
        "queues-s1-eth2.csv",
        "recording.json",
        "sockets-h1.csv",
    ]
    with (data / "queues-s1-eth2.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(saw(10.0).time_s)
    assert float(rows[-1]["time_s"]) == pytest.approx(10.0)
    assert rows[-1]["departed_bytes"] == rows[-1]["queue0_departed_bytes"] == "12500000"


def test_figures_are_vector_graphics_with_their_data_beside_them(folder):
    pictures = sorted((folder / "figures").glob("*.svg"))
    assert [path.stem for path in pictures] == ["network", "queue"]
    for path in pictures:
        assert "<svg" in path.read_text()[:1000]
    with (folder / "figures" / "queue.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["panel"] for row in rows} == {
        "queue (packets)",
        "window (segments)",
        "rate (Mb/s)",
        "round trip (ms)",
    }
    # A level has no x; the limit of this lab's queue is 50 packets.
    (limit,) = [row for row in rows if row["series"] == "limit: 50 packets"]
    assert (limit["x"], float(limit["y"])) == ("", 50.0)
    pings = [float(row["y"]) for row in rows if row["series"] == "ping, during the flow"]
    assert pings == [44.0, 46.0]


def test_a_recording_that_was_written_is_read_again_as_it_was(folder):
    again, before = recording_files.read(folder / "data" / "flow"), recording()
    assert (again.flows, again.pings, again.pages) == (before.flows, before.pings, before.pages)
    assert again.sockets == before.sockets
    assert again.ports["s1-eth2"] == before.ports["s1-eth2"]
    lab = Bottleneck(Settings(seconds=10))
    assert lab.assess({"flow": again}) == lab.assess({"flow": before})


def test_the_caption_is_about_the_time_of_the_flow():
    idle_s, flow_s = 10.0, 10.0
    # The same flow, with an idle line before it and behind it.
    series = PortSeries()
    for index in range(round((flow_s + 2 * idle_s) / 0.02) + 1):
        time_s = round(index * 0.02, 6)
        is_flow = idle_s <= time_s <= idle_s + flow_s
        add(series, time_s, 25 if is_flow else 0, departed_bytes=0)
    series.drops.append(Drop(idle_s + 1, 0, "QUEUE_LIMIT", 56))
    samples = [socket_sample(idle_s + index / 20) for index in range(round(flow_s * 20) + 1)]
    shifted = replace(recording(), ports={"s1-eth2": series})
    shifted.flows["flow"] = replace(shifted.flows["flow"], samples=samples)
    (figure,) = Bottleneck(Settings(seconds=10)).figures({"flow": shifted})
    assert "dropped 56 packets, and the queue was empty for 0% of the time" in figure.caption


def test_a_matrix_has_one_legend_and_names_its_panels_in_the_data():
    def draw(canvas):
        def panel(axes, row, column):
            rates = {"h1": ([0.0, 1.0], [1e6 * row, 1e6 * column])}
            drawing.throughput(axes, rates, line_rate_bps=1e7)

        drawing.matrix(canvas, ["Reno", "BBR"], ["tiny buffer", "one BDP"], panel, title="both")

    with drawing.drawn(Figure("matrix", "", draw)) as canvas:
        drawing.svg(canvas)
        (legend,) = canvas.legends
        assert [text.get_text() for text in legend.get_texts()] == ["h1", "line: 10 Mb/s"]
        assert legend.get_title().get_text() == "both"
        assert not any(axes.get_legend() for axes in canvas.axes)
        panels = [axes.get_tightbbox() for axes in canvas.axes]
        assert not any(a.overlaps(b) for a, b in itertools.combinations(panels, 2))
        rows = list(csv.DictReader(io.StringIO(drawing.data(canvas))))
    assert {row["panel"] for row in rows} == {
        f"{buffer}, {tcp}" for buffer in ("tiny buffer", "one BDP") for tcp in ("Reno", "BBR")
    }


def test_the_network_s_picture_leaves_the_number_of_the_measured_port_readable():
    lab = HolBlocking(Settings())
    with drawing.drawn(network.figure(lab.place)) as canvas:
        drawing.svg(canvas)
        (axes,) = canvas.axes
        texts = [text for text in axes.texts if isinstance(text, Annotation)]
        marks = [text for text in texts if text.get_text() == "measured here"]
        numbers = []
        for mark in marks:
            (number,) = [text for text in texts if text.xy == mark.xy and text is not mark]
            numbers.append(number.get_text())
            line = mark.arrow_patch.get_window_extent()
            assert not line.overlaps(Text.get_window_extent(number))
        # The input that all share, and the congested output.
        assert sorted(numbers) == ["1", "2"]
    assert "the input of port 1" in network.figure(lab.place).caption


def test_a_long_series_is_drawn_with_its_extremes():
    times = [index / 1000 for index in range(60_000)]
    values = [0] * 60_000
    # A spike of one sample must be seen, wherever it is.
    values[31_415] = 99
    shown_times, shown = drawing.thinned(times, values)
    assert len(shown) < 4000
    assert shown_times[shown.index(99)] == times[31_415]
    assert (shown_times[0], shown_times[-1]) == (times[0], times[-1])
    assert list(shown_times) == sorted(shown_times)


def test_a_flow_has_one_colour_whatever_is_said_of_it():
    assert palette.of_name("h1, BBR") == palette.of_name("h1") == palette.of_name("h1", 3)
    # The line that carries a flow is not drawn as the flow.
    assert palette.of_name("the line") != palette.of_name("download, payload")
    assert palette.of_name("h2 again") == palette.of_name("h2") != palette.of_name("h1")


def test_reports_have_the_colours_of_the_page():
    page = (ROOT / "glass/js/draw/palette.js").read_text()
    light = re.search(r"light: {\s*flows: (\[.*?\])", page, re.DOTALL)
    assert light is not None
    assert tuple(json.loads(light.group(1))) == palette.FLOWS


def test_the_table_is_markdown_with_aligned_columns():
    lines = table.markdown([Row("queue", "50", "", "50 packets"), Row("a", "", "1", "")])
    assert len({len(line) for line in lines.splitlines()}) == 1
    assert lines.splitlines()[1].replace("-", "") == "|||||"


def test_quantities_of_several_subjects_are_one_matrix():
    rows = [
        Row(f"buffer {size}: {what}", "", "10", f"{size}")
        for size in (72, 36, 18)
        for what in ("throughput", "loss")
    ]
    matrix, single = table.tables([*rows, Row("line full after", "", "40 ms", "41 ms")])
    assert matrix[0] == ["", "", "throughput", "loss"]
    assert matrix[1:3] == [["buffer 72", "measured", "72", "72"], ["", "theory", "10", "10"]]
    assert single == [["", "theory", "measured"], ["line full after", "40 ms", "41 ms"]]


@pytest.mark.parametrize("width", [60, 79, 120])
def test_the_table_in_the_terminal_fits_it(width):
    rows = [Row("a row with a long name " * 3, "10 Mb/s", "10 Mb/s", "a long answer " * 5)]
    text = table.text(rows, width)
    assert max(map(len, text.splitlines())) <= width
    assert "answer" in text


def test_the_windows_of_a_busy_line_show_its_rate():
    times, rates = drawing.port_rate(saw(2.0), 0.2)
    # Ten windows of 0.2 s, the first in the middle of 0 and 0.2 s.
    assert len(times) == pytest.approx(10, abs=1)
    assert times[0] == pytest.approx(0.1)
    assert rates == pytest.approx([10e6] * len(rates))


def test_a_flow_s_rate_is_what_was_acknowledged_on_the_line_between_two_samples():
    flow = recording().flows["flow"]
    # 1,195,000 bytes a second; 1.02 s lies between two samples.
    assert flow.throughput_bps(1.02, 4.37) == pytest.approx(9.56e6)
    times, rates = flow.rates(0.5)
    assert len(times) == 20
    assert rates == pytest.approx([9.56e6] * 20)
