"""Labs that are files: what a file means, and what is wrong with one that cannot be."""

import dataclasses
import inspect
import io
import re

import pytest

from controller.toolchain import ROOT
from labs import asked, catalogue
from labs.command import conduct
from labs.declared import document, figures, new, steps
from labs.declared.from_file import lab_of
from labs.declared.measures import MEASURES
from labs.declared.names import CONSTANTS, FORMULAS
from labs.definition import Verdict
from labs.errors import SettingError
from labs.expression import FUNCTIONS
from labs.recording import Recording
from labs.report import drawing
from labs.settings import Settings
from labs.world import World
from topo.errors import ModelError
from topo.units import format_rate

VIRTUAL = {"world": World.VIRTUAL}


@pytest.fixture
def write(tmp_path):
    """A clone's labs/ with a new lab, whose files may be changed; the class that it is."""

    def written(*changes, file="lab.yaml"):
        (tmp_path / "Makefile").touch()
        folder = tmp_path / "labs" / "two_queues"
        if not folder.exists():
            folder.parent.mkdir(exist_ok=True)
            new.write("two-queues", folder.parent)
        text = (folder / file).read_text()
        for before, after in changes:
            assert before in text
            text = text.replace(before, after, 1)
        (folder / file).write_text(text)
        return lab_of(folder)

    return written


def test_every_file_of_the_kit_is_a_lab():
    assert catalogue.BROKEN == {}


def test_a_new_lab_runs_and_its_bands_are_met(write, tmp_path):
    lab = write()(Settings(quick=True, **VIRTUAL))
    told = io.StringIO()
    found = conduct(lab, told, results=tmp_path / "out")
    assert {band.verdict for band in found.bands} == {Verdict.MET}, told.getvalue()
    assert set(found.numbers) == {
        *("short_line_share", "short_ping_ms", "long_line_share", "long_ping_ms"),
    }
    report = (tmp_path / "out" / "two-queues" / "latest" / "report.html").read_text()
    assert "A queue of 100 packets" in report


def test_settings_come_from_the_file_then_from_quick_then_from_the_user(write):
    kind = write()
    assert kind.takes == {"rate", "duration", "congestion"}
    assert kind(Settings()).names.values["duration"] == 20
    quick = kind(Settings(quick=True, rate_bps=5_000_000))
    assert (quick.names.values["duration"], quick.names.values["rate"]) == (12, 5_000_000)
    assert quick.place.topology.switch("s1").port(2).rate_bps == 5_000_000


def test_each_run_has_its_own_values_and_its_own_network(write):
    lab = write()(Settings())
    assert [(run.name, run.title, dict(run.parameters)) for run in lab.runs()] == [
        ("short", "A queue of 10 packets", {"queue": 10}),
        ("long", "A queue of 100 packets", {"queue": 100}),
    ]
    ports = [lab.topology(run.name).switch("s1").port(2) for run in lab.runs()]
    assert [port.queue_packets for port in ports] == [10, 100]


def test_a_run_whose_tcp_this_world_lacks_is_left_out(write, monkeypatch):
    monkeypatch.setattr("labs.settings.algorithms", lambda world: ["reno"])
    kind = write(("    values: {queue: 100}", "    values: {queue: 100, tcp: congestion}"))
    assert kind(Settings()).left_out == []
    kind = write(
        (
            "  long:\n",
            "  long:\n    steps: [{flow: download, from: h1, to: h2, congestion: prague}, "
            "{ping: ping, from: h1, to: h2}]\n",
        ),
    )
    lab = kind(Settings())
    assert [run.name for run in lab.runs()] == ["short"]
    assert lab.left_out == [
        "A queue of 100 packets: this machine's kernel lacks prague; --world virtual has it."
    ]


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ("question:", "qestion:", 2, "lacks 'question'"),
        ("look_for:", "looks: now\nlook_for:", 5, "Did you mean look_for?"),
        ("port: s1:2 ", "port: h1 ", 14, "must be a router's port, such as s1:2"),
        ("port: s1:2 ", "port: s1:7 ", 2, "port"),
        ("{measured: line_share, least", "{measured: line_share(), least", 45, "no function"),
        ("rate: 10 Mb/s", "rate: 10", 10, "write a number and a unit"),
        ("duration: 20 s", "duration: 1.5 s", 10, "must be whole seconds"),
        ("congestion: reno}", "congestion: rneo}", 10, "must be one of reno, cubic"),
        ("line_share: line_share()", "line_share: lin_share()", 24, "did you mean line_share?"),
        ('ping_ms("ping")', 'ping_ms("pong")', 25, "the ping 'pong', which this run does not"),
        ('ping_ms("ping")', "ping_ms()", 25, "must say ping_ms(ping)"),
        ('ping_ms("ping")', "ping_ms.__class__", 25, "only numbers, parameters"),
        ("{line_share:.1%}", "{line_share:.1q}", 27, "is no way to write a number"),
        ("{line_share:.1%}", "{use:.1%}", 27, "there is no parameter use"),
        ("from: h1, to: h2}", "from: h9, to: h2}", 21, "no host 'h9'"),
        ("- {flow: download,", "- {folw: download,", 21, "must have one of the keys ping, flow"),
        ("every: 100 ms", "every: 100", 22, "must be a length of time"),
        (
            "- {flow: download,",
            "- {datagrams: b, every: 1 s, at_once: 50, from: h1, to: h2}\n    - {flow: download,",
            21,
            "sends 50 datagrams with 73,600 bytes at once; a live host",
        ),
        ("panels: [queue, pings]", "panels: [queue, ping]", 53, "must be one of queue"),
        ("panels: [queue, pings]", "height: 4", 53, "either 'panels' or 'draw'"),
        ("{measured: line_share, least: 0.98", "{measured: line_share", 45, "needs 'least'"),
        ("    values: {queue: 10}", "    values: {rate: 10}", 40, "something else already"),
        ("queue: 10}", "queue: 1 / 0}", 40, "cannot be computed"),
        ("{queue} packets", "{queue / 3} packets", 16, "not a queue limit"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_line_before_anything_starts(
    write, before, after, line, words
):
    with pytest.raises(ModelError) as refused:
        write((before, after))(Settings())
    text = str(refused.value)
    assert words in text
    assert f"lab.yaml:{line}:" in text, text


def test_a_port_without_a_rate_is_refused(write):
    write(("port: s1:2 ", "port: s1:1 "))
    with pytest.raises(ModelError, match="port s1:1 has no rate: give it one in the topology"):
        write((", rate: 100 Mb/s", ""), file="topology.yaml")(Settings())


def test_what_the_file_says_of_a_number_is_how_it_is_written(write):
    lab = write()(Settings())
    assert lab.names.filled("{rate:rate}, {queue_delay_s(10, rate) * 1000:.1f} ms") == (
        f"{format_rate(10_000_000)}, 12.1 ms"
    )
    assert lab.names.filled("{1:packets}, {12:packets}") == "1 packet, 12 packets"


@pytest.mark.parametrize("name", ["Two", "two queues", "two_queues", "-x", "a" * 41, "../x"])
def test_a_name_that_no_lab_can_have_is_refused(write, tmp_path, name):
    write()
    with pytest.raises(SettingError, match="is no name of a lab: use at most 40 lower-case"):
        new.write(name, tmp_path / "labs")


def test_a_name_that_is_taken_is_refused_and_nothing_changes(write, tmp_path):
    write()
    with pytest.raises(SettingError, match=r"two_queues exists: choose another name"):
        new.write("two-queues", tmp_path / "labs")
    with pytest.raises(SettingError, match="there is a lab bufferbloat already"):
        new.write("bufferbloat", tmp_path / "labs")
    assert [each.name for each in (tmp_path / "labs").iterdir()] == ["two_queues"]


def test_a_new_lab_needs_a_clone(tmp_path):
    (tmp_path / "labs").mkdir()
    with pytest.raises(SettingError, match="is not in a clone"):
        new.write("two-queues", tmp_path / "labs")


def test_every_measure_and_panel_says_what_it_is():
    assert all(found.__doc__ for found in MEASURES.values())
    assert all(panel.draw.__doc__ for panel in figures.PANELS.values())


def test_a_file_with_a_mistake_takes_away_its_own_lab_only(monkeypatch, capsys):
    monkeypatch.setattr(catalogue, "BROKEN", {"mine": "mine/lab.yaml:3: lacks 'title'"})
    with pytest.raises(SettingError, match=r"mine/lab\.yaml:3: lacks 'title'"):
        catalogue.named("mine")
    assert catalogue.named("bottleneck").name == "bottleneck"
    asked.show_labs()
    assert "mine cannot be run: mine/lab.yaml:3: lacks 'title'" in capsys.readouterr().err


def is_own_function(name):
    found = getattr(drawing, name)
    return inspect.isfunction(found) and found.__module__ == drawing.__name__ and name[0] != "_"


PAGE = (ROOT / "docs" / "lab-files.md").read_text()


@pytest.mark.parametrize(
    "names",
    [
        document.REQUIRED | document.OPTIONAL,
        document.OF_RUNS | document.OF_SINGLE_RUNS | {"title", "steps"},
        *(step.KEYS | {kind} for kind, step in steps.KINDS.items()),
        set(MEASURES),
        {*document.SETTINGS, *document.CLASSES},
        set(figures.PANELS),
        set(CONSTANTS) | (set(FORMULAS) - set(FUNCTIONS)),
        {field.name for field in dataclasses.fields(Recording)},
        {name for name in vars(drawing) if is_own_function(name)},
    ],
)
def test_the_page_on_lab_files_names_everything(names):
    for name in names:
        assert re.search(rf"[`{{ ]{name}[`(:]", PAGE), name


def test_a_caption_of_one_run_measures_and_its_mistakes_are_found_before(write):
    one = ("    panels: [queue, pings]", "    runs: [long]\n    panels: [queue, pings]")
    measured = ("The queue and the pings", '{ping_ms("ping"):.0f}')
    assert write(one, measured)(Settings()).description.figures[0].runs == ("long",)
    with pytest.raises(ModelError, match="measures the ping 'pong', which this run does not have"):
        write(('"ping"):.0f', '"pong"):.0f'))(Settings())


def test_a_run_may_stand_alone_and_need_a_setting(write, tmp_path):
    kind = write(
        ("congestion: reno}", "congestion: reno, aqm: a class}"),
        ("  long:\n", LONELY + "  long:\n"),
    )
    assert [run.name for run in kind(Settings()).runs()] == ["short", "flood", "long"]
    (tmp_path / "mine.py").write_text("class Mine: pass")
    lab = kind(Settings(aqm=f"{tmp_path}/mine.py:Mine", **VIRTUAL))
    assert [run.title for run in lab.runs()][1:3] == ["Mine of mine.py", "A flood"]
    assert lab.flows("flood") == []
    with pytest.raises(ModelError, match="needs the setting aqm, which this lab does not take"):
        write(("congestion: reno, aqm: a class}", "congestion: reno}"))


LONELY = """  own:
    only_with: aqm
    values: {queue: 100}
    title: "{aqm_words}"
    change: {switches: {s1: {ports: {2: {aqm: "{aqm}"}}}}}
  flood:
    alone: yes
    title: A flood
    change: {switches: {s1: {ports: {2: {queue: 20 packets}}}}}
    values: {queue: 20}
    steps: [{datagrams: flood, from: h1, to: h2, every: 1 ms}]
    numbers: {lost: loss_share()}
"""


def test_python_beside_the_file_must_be_there(write):
    with pytest.raises(ModelError, match="must be a Python file beside this one"):
        write(("port: s1:2 ", "python: special.py\nport: s1:2 "))
