"""What a lab leaves in out/: report, table, numbers, figures, raw data."""

import csv
import html.parser
import json
import re

import pytest

from labs import report
from labs.bottleneck.lab import Bottleneck
from labs.definition import Row
from labs.report import drawing, table
from labs.settings import Settings
from tests.labs.saw import recording, saw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    lab = Bottleneck(Settings(seconds=10))
    recordings = {"flow": recording()}
    recordings["flow"].write(folder / "data" / "flow")
    report.write(lab, recordings, lab.assess(recordings), folder)
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
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    # What it links to lies beside it.
    assert "results.json" in page.links
    assert all((folder / link).exists() for link in page.links)


def test_the_report_holds_the_table_and_the_verdicts(folder):
    text = (folder / "report.html").read_text()
    assert "<th>document</th><th>theory</th><th>measured</th>" in text
    assert "2 of 2 bands are met" in text
    assert Bottleneck.question in text


def test_results_hold_every_number_with_its_unit_and_each_band_with_its_verdict(folder):
    results = json.loads((folder / "results.json").read_text())
    assert results["bands_met"] is True
    assert [band["met"] for band in results["bands"]] == [True, True]
    # The pings are 44 and 46 ms, 0.2 and 0.4 ms; the saw drops a packet every two seconds.
    numbers = results["numbers"]
    assert numbers["ping_loaded_ms"] == pytest.approx(45.0)
    assert numbers["ping_alone_ms"] == pytest.approx(0.3)
    assert numbers["dropped_packets"] == 5
    assert numbers["line_carried_bps"] == pytest.approx(10e6)
    assert all(re.search(r"_(bps|ms|packets|s|share|bytes)$|^retransmits$", n) for n in numbers)
    assert results["machine"]["kernel"].startswith("Linux")


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
        "sockets-h1.csv",
    ]
    with (data / "queues-s1-eth2.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(saw(10.0).time_s)
    assert float(rows[-1]["time_s"]) == pytest.approx(10.0)
    assert rows[-1]["departed_bytes"] == rows[-1]["queue0_departed_bytes"] == "12500000"


def test_figures_are_pictures(folder):
    for path in (folder / "figures").iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 20_000


def test_the_table_is_markdown_with_aligned_columns():
    lines = table.markdown([Row("queue", "50", "", "50 packets"), Row("a", "", "1", "")])
    assert len({len(line) for line in lines.splitlines()}) == 1
    assert lines.splitlines()[1].replace("-", "") == "|||||"


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
