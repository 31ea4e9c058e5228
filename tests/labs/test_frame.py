"""The frame of all labs: settings, bands, narration, and the command line."""

import io
import math

import pytest

from labs import __main__ as command_line
from labs import catalogue, prompt, trace
from labs.bottleneck.lab import BOTTLENECK, Bottleneck
from labs.definition import Band, Verdict
from labs.errors import SettingError
from labs.narration import Narrator, span
from labs.run import Run
from labs.settings import Settings
from labs.top import __main__ as top
from labs.worlds.live import capacity
from topo import record
from topo.process import Identity


@pytest.mark.parametrize(
    ("carried_bps", "chosen_bps"),
    [(9e9, 10**9), (3e9, 10**9), (2.9e9, 10**8), (1e8, 10**8)],
)
def test_a_lab_takes_a_third_of_what_the_machine_carries_and_not_less_than_its_slowest(
    carried_bps, chosen_bps
):
    assert capacity.choose((10**9, 10**8), carried_bps) == chosen_bps


def test_settings_come_from_the_environment_with_or_without_their_unit():
    given = {"RATE": "5mbit", "QUEUE": "20", "DURATION": "8 s", "CONGESTION": "cubic", "QUICK": "1"}
    assert Settings.from_environment(environment=given) == Settings(
        5_000_000, 20, 8, "cubic", quick=True
    )
    assert Settings.from_environment(environment={"PROGRAM": "my.p4"}).program == "my.p4"
    assert Settings.from_environment(environment={"PROGRAM": ""}) == Settings()
    assert Settings.from_environment(environment={}) == Settings()


def test_a_rate_needs_its_unit():
    with pytest.raises(SettingError, match="RATE=5: '5' is not a rate"):
        Settings.from_environment(environment={"RATE": "5"})


@pytest.mark.parametrize("name", ["QUEUE", "DURATION"])
def test_nothing_of_something_is_refused(name):
    with pytest.raises(SettingError, match=f"{name} is 0, and nothing would get through"):
        Settings.from_environment(environment={name: "0"})


def test_a_part_of_a_second_is_rounded_up():
    assert Settings.from_environment(environment={"DURATION": "1500 ms"}).seconds == 2


def test_a_setting_that_a_lab_does_not_take_is_refused_rather_than_ignored():
    with pytest.raises(SettingError, match="no setting QUEUE; it takes: RATE"):
        Settings.from_environment({"RATE"}, {"QUEUE": "20"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        # As make hands over what stands behind its target, and as the shell does.
        ({"MAKEFLAGS": " -- LAB=bufferbloat QUEU=30"}, "no setting QUEU: did you mean QUEUE?"),
        ({"MAKEFLAGS": "w --jobserver-auth=3,4 -- COLOUR=3"}, "no setting COLOUR: there are: RATE"),
        ({"DURATON": "30"}, "no setting DURATON: did you mean DURATION?"),
        ({"CONGESTION": "cubik"}, "CONGESTION=cubik: .* did you mean cubic?"),
        ({"QUEUE": "20 MB"}, "QUEUE=20 MB: '20 MB' is not a queue limit"),
        ({"QUEUE": "200000"}, "QUEUE=200000: a queue of the kit holds at most 100,000 packets"),
    ],
)
def test_what_is_misspelt_is_refused_with_what_was_meant(given, said):
    with pytest.raises(SettingError, match=said):
        Settings.from_environment(environment=given)


def test_what_the_environment_holds_besides_is_nobodys_setting():
    given = {
        "MAKEFLAGS": "w -- LAB=x RATE=1.5\\ Mb/s",
        "RATE": "1.5 Mb/s",
        "PATH": "/bin",
        "Q": "1",
    }
    assert Settings.from_environment(environment=given).rate_bps == 1_500_000


@pytest.mark.parametrize(
    ("lab", "settings", "said"),
    [
        ("bufferbloat", Settings(rate_bps=2_000), "RATE=2kbit: bufferbloat runs on lines from 100"),
        ("bufferbloat", Settings(seconds=5), "DURATION=5: bufferbloat needs at least 20 s until"),
        # 1000 packets are 8.1 s at 1.5 Mb/s; the download must fill them and a page must pass.
        (
            "bufferbloat",
            Settings(seconds=60, queue_packets=1000),
            "needs at least 125 s until the download has filled a queue of 1000 packets",
        ),
        ("link-sharing", Settings(seconds=3), "needs at least 9 s for a pause of h2"),
    ],
)
def test_a_value_that_shows_nothing_is_refused_before_anything_starts(lab, settings, said):
    with pytest.raises(SettingError, match=said):
        catalogue.named(lab)(settings)


@pytest.mark.parametrize(
    ("settings", "slug"),
    [
        (Settings(), "default"),
        (Settings(rate_bps=1_500_000, queue_packets=50), "rate-1.5mbit-queue-50"),
        (Settings(quick=True, congestion="bbr"), "congestion-bbr-quick"),
        (Settings(program="../mine/My.p4"), "program-my"),
    ],
)
def test_settings_name_the_folder_of_a_run_and_are_read_again(settings, slug):
    assert settings.slug() == slug
    assert Settings.from_document(settings.document()) == settings


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
    verdict = Verdict.MET if met else Verdict.NOT_MET
    assert Band("claim", measured, least, most).verdict is verdict
    unjudged = Band("claim", measured, least, most, unjudged="the setting is out of its reach")
    assert unjudged.verdict is Verdict.NOT_JUDGED


def test_a_band_says_what_was_asked():
    assert str(Band("page alone", 1.234, 0.9, 1.6, "s")) == (
        "page alone: 1.234 s, required 0.9 to 1.6 s"
    )
    assert Band("ping", 500, least=400, unit="ms").required == "at least 400 ms"
    assert Band("share", 0.5, most=0.6).required == "at most 0.6"


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
    narrator.finished()
    narrator.begin(runs[1])
    assert narrator.left() == "about 30 s left"
    first, second = output.getvalue().splitlines()
    assert first.startswith("[1/2] First ")
    assert second.startswith("[2/2] Second ")


def test_a_run_that_is_late_may_end_at_any_moment():
    time_s = 0.0
    runs = [Run("a", "First", seconds=10), Run("b", "Second", seconds=20)]
    narrator = Narrator(runs, io.StringIO(), clock=lambda: time_s)
    narrator.begin(runs[0])
    time_s = 12.0
    assert narrator.left() == "about 20 s left"


def test_a_run_that_computes_tells_nothing_about_those_that_last_as_long_as_their_flows():
    time_s = 0.0
    runs = [Run("a", "First", seconds=10, is_computed=True), Run("b", "Second", seconds=20)]
    narrator = Narrator(runs, io.StringIO(), clock=lambda: time_s)
    narrator.begin(runs[0])
    time_s = 40.0
    narrator.finished()
    narrator.begin(runs[1])
    assert narrator.left() == "about 20 s left"


# What the runs of the shortened labs took on two cores with other work (load 9 to 12), 2026-11-22,
# 20:44 to 21:10 UTC.
TOOK_S = {
    "bottleneck": (5.8,),
    "bufferbloat": (32.4, 31.3, 30.0),
    "bdp-tcp-windows": (8.6, 9.0),
    "sizing-router-buffers": (9.8, 10.0, 10.0, 10.1, 9.8, 9.8, 9.7),
    "router-buffer-size": (15.7, 16.7, 16.6, 20.0, 19.8, 18.4, 19.0, 19.7, 19.2),
    "link-sharing": (13.0, 11.8, 13.0, 12.8, 12.8),
    "hol-blocking": (5.9, 10.5, 11.0),
    "int-microburst": (20.4,),
    "where-was-it-dropped": (14.9,),
}


@pytest.mark.parametrize("lab", TOOK_S)
def test_the_time_left_is_right_within_a_fifth(lab):
    time_s = 0.0
    runs = catalogue.named(lab)(Settings(quick=True)).runs()
    narrator = Narrator(runs, io.StringIO(), clock=lambda: time_s)
    for run, took_s in zip(runs, TOOK_S[lab], strict=True):
        narrator.begin(run)
        for _ in range(4):
            left_s = sum(TOOK_S[lab]) - time_s
            # Of the last seconds nobody needs to know more than that.
            assert narrator.left_s() == pytest.approx(left_s, rel=0.2, abs=2.5)
            time_s += took_s / 4
        narrator.finished()


def test_repetitions_are_counted_from_when_the_machine_is_calm():
    time_s = 0.0
    output = io.StringIO()
    runs = [Run("a", "First", seconds=10), Run("b", "Second", seconds=20)]
    narrator = Narrator(runs, output, clock=lambda: time_s)
    for run in runs:
        narrator.begin(run)
        time_s += run.seconds
        narrator.finished()
    narrator.repeat(runs)
    narrator.wait_for_calm()
    time_s += 50
    narrator.begin_again()
    assert narrator.left() == "about 30 s left"
    time_s += 10
    narrator.finished()
    narrator.wait_for_calm()
    narrator.begin_again()
    assert narrator.left() == "about 20 s left"
    # Waiting for a calm machine says nothing about how long runs take.
    assert narrator.pace == 1
    first, second = output.getvalue().splitlines()[2:]
    assert first.startswith("[again 1/2] First, as soon")
    assert second.startswith("[again 2/2] Second, as soon")


def test_the_time_left_begins_with_what_such_runs_took_before():
    narrator = Narrator([Run("a", "First", 10)], io.StringIO(), clock=lambda: 0.0, pace=1.5)
    narrator.begin(Run("a", "First", 10))
    assert narrator.left() == "about 15 s left"


def test_in_virtual_time_nothing_is_said_until_the_first_run_has_told_how_fast_it_passes():
    time_s = 0.0
    output = io.StringIO()
    runs = [Run("a", "First", seconds=20), Run("b", "Second", seconds=40)]
    # Two other seeds, one after the other, beside the first.
    narrator = Narrator(runs, output, clock=lambda: time_s, pace=None, beside=2)
    narrator.begin(runs[0])
    assert output.getvalue().strip() == "[1/2] First"
    # Ten times slower than the time of the hosts: 600 s for each seed, 1200 s for the two others.
    told = []
    for _ in range(20):
        time_s += 5.0
        told.append(narrator.advanced(0.5))
        assert narrator.left_s() in (None, pytest.approx(1200 - time_s))
    # Said once, as soon as it is known.
    assert told == [False, False, False, True, *[False] * 16]
    time_s += 100.0
    narrator.advanced(10.0)
    narrator.finished()
    narrator.begin(runs[1])
    assert narrator.left_s() == pytest.approx(1000)
    time_s += 400.0
    narrator.advanced(40.0)
    narrator.finished()
    narrator.wait_for_others(1)
    assert "[seeds] All of it once more, with other seeds" in output.getvalue()
    assert output.getvalue().endswith("about 10 min 00 s left\n")
    # Later than expected: better nothing than "0 s".
    time_s += 700.0
    narrator.wait_for_others(1)
    assert output.getvalue().endswith("with other seeds\n")


def test_of_a_run_in_virtual_time_counts_how_far_it_is_rather_than_what_it_took():
    time_s = 0.0
    run = Run("a", "First", seconds=20)
    narrator = Narrator([run], io.StringIO(), clock=lambda: time_s, pace=0.05)
    narrator.begin(run)
    assert narrator.left() == "about 1 s left"
    time_s = 30.0
    narrator.advanced(5.0)
    # Not "0 s", although it takes longer than runs did before.
    assert narrator.left() == "about 1 min 30 s left"


def test_keeping_what_a_run_recorded_takes_time_too():
    time_s = 0.0
    runs = [Run(name, name, seconds=10) for name in "abc"]
    narrator = Narrator(runs, io.StringIO(), clock=lambda: time_s)
    narrator.begin(runs[0])
    time_s = 10.0
    narrator.finished()
    time_s = 15.0
    narrator.begin(runs[1])
    assert narrator.left() == "about 30 s left"


def test_spans_are_written_for_people():
    assert (span(45.4), span(125), span(3600)) == ("45 s", "2 min 05 s", "60 min 00 s")


def test_every_lab_has_a_line_a_question_and_a_handout(capsys):
    assert command_line.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    listed = [line for line in lines if not line.startswith(" ")]
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


# ---- settings of other commands ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20", 20), ("0.5", 1), ("2.5", 3), ("10 min", 600), ("10min", 600), ("1500 ms", 2)],
)
def test_a_duration_is_seconds_or_has_its_unit(text, seconds):
    assert Settings.from_environment(environment={"DURATION": text}).seconds == seconds


@pytest.mark.parametrize("text", ["-3", "10m", "long"])
def test_a_duration_that_cannot_be_read_is_told_what_can(text):
    with pytest.raises(SettingError, match=f"DURATION={text}: write seconds, such as 20, or"):
        Settings.from_environment(environment={"DURATION": text})


def test_each_command_lists_the_settings_that_are_its_own(monkeypatch, capsys):
    def said(command, written):
        monkeypatch.setenv("MAKEFLAGS", f" -- {written}")
        assert command() == 1
        return capsys.readouterr().err

    assert "did you mean TOPO?" in said(prompt.main, "TOP0=hid.yaml")
    assert "there are: RATE, QUEUE, TOPO, PROGRAM, DOMAIN" in said(prompt.main, "DURATION=20")
    assert "did you mean ROUTER?" in said(top.main, "ROUTR=s1")
    assert "there are: ROUTER, FLOW, COUNT" in said(trace.main, "LAB=x")
    assert "there are: A, B" in said(lambda: command_line.main(["compare", "", ""]), "LAB=x")
    assert "it takes none" in said(lambda: command_line.main(["list"]), "LAB=x")
    assert "there is no lab 'x'" in said(_results_of_x, "LAB=x")
    run = said(lambda: command_line.main(["run", "bottleneck"]), "COLOUR=3")
    for name in (*Bottleneck.takes, "QUICK", "PROGRAM", "WORLD", "SEEDS", "TOOLCHAIN"):
        assert name in run


def _results_of_x():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB", "x")
        return command_line.main(["results"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"WORLD": "virtal"}, "there is no world 'virtal': did you mean virtual?"),
        ({"WORLD": "moon"}, "there is no world 'moon': there are: live, virtual, both."),
        ({"TOOLCHAIN": "gcc"}, "no toolchain 'gcc': there are: vitrine, p4lang, both."),
        ({"LAB": "bottleneck"}, "make run runs bufferbloat: say make lab LAB=bottleneck."),
        ({"WORLD": "virtual", "PROGRAM": "nope.p4"}, "nope.p4"),
    ],
)
def test_a_run_that_cannot_be_is_refused_before_anything_is_said(monkeypatch, capsys, given, said):
    for name, word in given.items():
        monkeypatch.setenv(name, word)
    assert command_line.main(["run", "bufferbloat"]) == 1
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""


def test_a_run_is_refused_at_once_while_a_network_is_up(monkeypatch, capsys):
    monkeypatch.setenv("WORLD", "live")
    monkeypatch.setattr(record, "owner", lambda: Identity(4711, 1))
    assert command_line.main(["run", "bufferbloat"]) == 1
    out, err = capsys.readouterr()
    assert "a network is up already, made by process 4711" in err
    assert out == ""
