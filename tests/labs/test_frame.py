"""The frame of all labs: settings, bands, narration, and the command line."""

import io
import math

import pytest

from labs import __main__ as command_line
from labs import catalogue
from labs.bottleneck.lab import BOTTLENECK, Bottleneck
from labs.definition import Band
from labs.errors import SettingError
from labs.narration import Narrator, span
from labs.run import Run
from labs.settings import Settings
from topo.errors import UnitError


def test_settings_come_from_the_environment_with_or_without_their_unit():
    given = {"RATE": "5mbit", "QUEUE": "20", "DURATION": "8 s", "CONGESTION": "cubic", "QUICK": "1"}
    assert Settings.from_environment(environment=given) == Settings(
        5_000_000, 20, 8, "cubic", quick=True
    )
    assert Settings.from_environment(environment={}) == Settings()


def test_a_rate_needs_its_unit():
    with pytest.raises(UnitError, match="'5' is not a rate"):
        Settings.from_environment(environment={"RATE": "5"})


@pytest.mark.parametrize("name", ["QUEUE", "DURATION"])
def test_nothing_of_something_is_refused(name):
    with pytest.raises(UnitError, match=f"{name} is 0, and nothing would get through"):
        Settings.from_environment(environment={name: "0"})


def test_a_part_of_a_second_is_rounded_up():
    assert Settings.from_environment(environment={"DURATION": "1500 ms"}).seconds == 2


def test_a_setting_that_a_lab_does_not_take_is_refused_rather_than_ignored():
    with pytest.raises(SettingError, match="no setting QUEUE; it takes: RATE"):
        Settings.from_environment({"RATE"}, {"QUEUE": "20"})


@pytest.mark.parametrize(
    ("measured", "least", "most", "met"),
    [
        (0.9, 0.9, 1.6, True),
        (1.6, 0.9, 1.6, True),
        (0.89, 0.9, 1.6, False),
        (1.61, 0.9, 1.6, False),
        (400, 400, None, True),
        (399, 400, None, False),
        (41, None, 40, False),
        (math.nan, None, 40, False),
        (math.nan, 40, None, False),
    ],
)
def test_a_band_is_met_inside_and_on_its_edges(measured, least, most, met):
    assert Band("claim", measured, least, most).met is met


def test_a_band_says_what_was_asked():
    assert str(Band("page alone", 1.234, 0.9, 1.6, "s")) == (
        "page alone: 1.234 s, asked 0.9 to 1.6 s"
    )
    assert Band("ping", 500, least=400, unit="ms").asked == "at least 400 ms"
    assert Band("share", 0.5, most=0.6).asked == "at most 0.6"


def test_the_time_left_shrinks_and_learns_from_the_runs_before():
    time_s = 0.0
    output = io.StringIO()
    runs = [Run("a", "First", seconds=10), Run("b", "Second", seconds=20)]
    narrator = Narrator(runs, output, clock=lambda: time_s)
    narrator.begin(runs[0])
    assert narrator.left() == "about 30 s left"
    time_s = 4.0
    assert narrator.left() == "about 26 s left"
    # The first run took 15 s instead of 10, so the second will take about 30 instead of 20.
    time_s = 15.0
    narrator.begin(runs[1])
    assert narrator.left() == "about 30 s left"
    first, second = output.getvalue().splitlines()
    assert first.startswith("[1/2] First ")
    assert second.startswith("[2/2] Second ")


def test_spans_are_written_for_people():
    assert (span(45.4), span(125), span(3600)) == ("45 s", "2 min 05 s", "60 min 00 s")


def test_every_lab_has_a_line_a_question_and_a_handout(capsys):
    assert command_line.main(["list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(catalogue.LABS)
    for lab, line in zip(catalogue.LABS, listed, strict=True):
        assert line.startswith(lab.name)
        assert lab.question.endswith("?")
        assert len({run.name for run in lab(Settings()).runs()}) == len(lab(Settings()).runs())
        # A quick run is a shorter one, not another one.
        quick, full = lab(Settings(quick=True)).runs(), lab(Settings()).runs()
        assert sum(run.seconds for run in quick) < sum(run.seconds for run in full)


def test_a_lab_without_a_name_is_answered_with_the_list(capsys):
    assert command_line.main(["run", ""]) == 1
    out, err = capsys.readouterr()
    assert "bottleneck" in out
    assert "which lab?" in err


def test_a_name_that_is_nearly_right_is_suggested(capsys):
    assert command_line.main(["run", "botleneck"]) == 1
    assert "there is no lab 'botleneck': did you mean bottleneck?" in capsys.readouterr().err


def test_the_settings_change_the_bottleneck_and_nothing_else():
    plain = Bottleneck(Settings()).topology()
    changed = Bottleneck(Settings(rate_bps=5_000_000, queue_packets=20)).topology()
    port = changed.switch("s1").port(BOTTLENECK)
    assert (port.rate_bps, port.queue_packets) == (5_000_000, 20)
    assert changed.switch("s1").port(1) == plain.switch("s1").port(1)
