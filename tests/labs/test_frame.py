"""The frame of all labs: settings, bands, narration, and the command line."""

import io
import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from controller.reader import UNREAD
from controller.toolchain import ROOT
from labs import catalogue
from labs.definition import Band, Verdict
from labs.errors import SettingError
from labs.narration import Narrator, span
from labs.pace import Pace, Took
from labs.run import Run
from labs.settings import KNOWN, Settings
from labs.worlds.live import capacity
from tests.first_lab import BOTTLENECK, Bottleneck
from topo import record
from topo.process import Identity
from vitrine.command import parser
from vitrine.command import run as command


@pytest.mark.parametrize(
    ("carried_bps", "chosen_bps"),
    [(9e9, 10**9), (3e9, 10**9), (2.9e9, 10**8), (1e8, 10**8)],
)
def test_a_lab_takes_a_third_of_what_the_machine_carries_and_not_less_than_its_slowest(
    carried_bps, chosen_bps
):
    assert capacity.choose((10**9, 10**8), carried_bps) == chosen_bps


def chosen(**given):
    return Settings.chosen(given, KNOWN)


def test_options_have_their_units_or_need_none():
    given = {"rate": "5mbit", "queue": "20", "duration": "8 s", "congestion": "cubic"}
    assert chosen(**given, quick=True) == Settings(5_000_000, 20, 8, "cubic", quick=True)
    assert chosen(program="my.p4").program == "my.p4"
    assert chosen(program="") == Settings()
    assert chosen() == Settings()
    assert chosen(rate="1.5 Mb/s").rate_bps == 1_500_000


def test_a_rate_needs_its_unit():
    with pytest.raises(SettingError, match="--rate 5: '5' is not a rate"):
        chosen(rate="5")


@pytest.mark.parametrize("name", ["queue", "duration"])
def test_nothing_of_something_is_refused(name):
    with pytest.raises(SettingError, match=f"--{name} is 0, and nothing would get through"):
        chosen(**{name: "0"})


def test_a_part_of_a_second_is_rounded_up():
    assert chosen(duration="1500 ms").seconds == 2


def test_a_setting_that_a_lab_does_not_take_is_refused_rather_than_ignored():
    with pytest.raises(
        SettingError, match="--queue: this lab has no such option; it takes: --rate"
    ):
        Settings.chosen({"queue": "20"}, {"rate"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"congestion": "cubik"}, "--congestion cubik: .* did you mean cubic?"),
        ({"queue": "20 MB"}, "--queue 20 MB: '20 MB' is not a queue limit"),
        ({"queue": "200000"}, "--queue 200000: a queue holds at most 100,000 packets"),
    ],
)
def test_what_is_misspelt_is_refused_with_what_was_meant(given, said):
    with pytest.raises(SettingError, match=said):
        chosen(**given)


@pytest.mark.parametrize(
    ("lab", "settings", "said"),
    [
        (
            "bufferbloat",
            Settings(rate_bps=2_000),
            "--rate 2kbit: bufferbloat runs on lines from 100",
        ),
        ("bufferbloat", Settings(seconds=5), "--duration 5: bufferbloat needs at least 20 s until"),
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
    assert Band("late", 117_601, least=1, unit="cells").found == "117,601 cells"
    assert Band("away", 0.000036721, most=0.005).found == "0.00003672"


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.s = 0.0

    def __call__(self):
        return self.s


def narrated(runs, *, earlier=None, has_seeds=False):
    """A narrator of live runs, unless an earlier pace is given; its clock, and what it has said."""
    clock, output = Clock(), io.StringIO()
    earlier = Pace.of_flows(runs) if earlier is None else earlier
    narrator = Narrator(runs, output, clock, earlier=earlier, has_seeds=has_seeds)
    return narrator, clock, output


def test_the_time_left_shrinks_and_learns_from_the_runs_before():
    runs = [Run("a", "First", seconds=10), Run("b", "Second", seconds=20)]
    narrator, clock, output = narrated(runs)
    narrator.begin(runs[0])
    assert narrator.left() == "about 30 s left"
    clock.s = 4.0
    assert narrator.left() == "about 26 s left"
    # The first run took 15 s instead of 10. A tenth of all is believed to take what was expected,
    # so the second will take (15 + 3) / (10 + 3) times as long as expected.
    clock.s = 15.0
    narrator.finished()
    narrator.begin(runs[1])
    assert narrator.left_s() == pytest.approx(20 * 18 / 13)
    first, second = output.getvalue().splitlines()
    assert first.startswith("[1/2] First ")
    assert second.startswith("[2/2] Second ")


def test_a_run_that_is_late_may_end_at_any_moment():
    runs = [Run("a", "First", seconds=10), Run("b", "Second", seconds=20)]
    narrator, clock, _ = narrated(runs)
    narrator.begin(runs[0])
    clock.s = 12.0
    assert narrator.left() == "about 20 s left"
    narrator.finished()
    narrator.begin(runs[1])
    clock.s = 37.0
    # Better nothing than "0 s".
    assert narrator.left() == ""


def test_nothing_is_said_while_what_is_computed_is_ahead_for_the_first_time():
    runs = [Run("a", "First", seconds=10, is_computed=True), Run("b", "Second", seconds=20)]
    narrator, clock, output = narrated(runs)
    narrator.begin(runs[0])
    assert output.getvalue() == "[1/2] First\n"
    clock.s = 40.0
    narrator.finished()
    narrator.begin(runs[1])
    # It tells nothing about those that last as long as their flows.
    assert narrator.left() == "about 20 s left"
    clock.s = 60.0
    narrator.finished()
    # The next time it is known, and how much longer all of it takes than the runs.
    clock.s = 63.0
    assert narrator.pace() == Pace({"a": Took(4.0), "b": Took(23 / 20)}, 63 / 30)
    again, _, _ = narrated(runs, earlier=narrator.pace())
    again.begin(runs[0])
    assert again.left_s() == pytest.approx(63)


# The durations of the shortened labs' runs on two cores with other work (load 9 to 12), 2026-11-22,
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
    runs = catalogue.named(lab)(Settings(quick=True)).runs()
    narrator, clock, _ = narrated(runs)
    for run, took_s in zip(runs, TOOK_S[lab], strict=True):
        narrator.begin(run)
        for _ in range(4):
            left_s = sum(TOOK_S[lab]) - clock.s
            # A computed one has not run here before; the last seconds need no more precision than
            # that.
            if not any(each.is_computed for each in runs[runs.index(run) :]):
                assert narrator.left_s() == pytest.approx(left_s, rel=0.2, abs=2.5)
            clock.s += took_s / 4
        narrator.finished()


def test_repetitions_are_counted_from_when_the_machine_is_calm():
    runs = [Run("a", "First", seconds=10), Run("b", "Second", seconds=20)]
    narrator, clock, output = narrated(runs)
    for run in runs:
        narrator.begin(run)
        clock.s += run.seconds
        narrator.finished()
    narrator.repeat(runs)
    narrator.wait_for_calm()
    clock.s += 50
    narrator.begin_again()
    assert narrator.left() == "about 30 s left"
    clock.s += 10
    narrator.finished()
    narrator.wait_for_calm()
    clock.s += 30
    narrator.begin_again()
    assert narrator.left() == "about 20 s left"
    first, second = output.getvalue().splitlines()[2:]
    assert first.startswith("[again 1/2] First, as soon")
    assert second.startswith("[again 2/2] Second, as soon")
    clock.s += 20
    narrator.finished()
    # Waiting for a calm machine says nothing about how long runs take.
    assert narrator.pace() == Pace({"a": Took(1.0), "b": Took(1.0)}, 1.0)


def test_in_virtual_time_nothing_is_said_of_settings_that_are_new():
    runs = [Run("a", "First", seconds=20), Run("b", "Second", seconds=40)]
    narrator, clock, output = narrated(runs, earlier=Pace(), has_seeds=True)
    for run in runs:
        narrator.begin(run)
        for _ in range(4):
            clock.s += 1.0
            narrator.advanced(run.seconds / 4)
            assert narrator.left() == ""
        narrator.finished()
    # But the others may have told how long they take.
    narrator.wait_for_others(2, None)
    narrator.wait_for_others(1, 10.0)
    said = output.getvalue().splitlines()
    assert said[:2] == ["[1/2] First", "[2/2] Second"]
    assert said[2] == "[seeds] All of it 2 times more, with other seeds"
    assert said[3].startswith("[seeds] All of it once more, with other seeds ")
    assert said[3].endswith(" about 10 s left")


def computed(runs, earlier, *, slower=1.0):
    """Two runs in virtual time, of which the second has ten times as many packets.

    Two seconds of bringing up; then steps of 0.5 s, 20 and 200 ms each; other seeds for 30 s after
    them. Yields the time left that is said, and the one that there is.
    """
    narrator, clock, _ = narrated(runs, earlier=earlier, has_seeds=True)
    ends_s = slower * sum(2 + 100 * step_s for step_s in (0.02, 0.2)) + slower * 30
    for run, step_s in zip(runs, (0.02, 0.2), strict=True):
        narrator.begin(run)
        clock.s += 2 * slower
        for _ in range(100):
            yield narrator.left_s(), ends_s - clock.s
            clock.s += step_s * slower
            narrator.advanced(0.5)
        narrator.finished()
    narrator.wait_for_others(1)
    yield narrator.left_s(), ends_s - clock.s
    clock.s += slower * 30
    return narrator.pace()


def finished(telling):
    """The messages of such runs, and their pace in the end."""
    told = []
    while True:
        try:
            told.append(next(telling))
        except StopIteration as end:
            return told, end.value


def test_in_virtual_time_the_time_left_is_that_of_the_last_time():
    runs = [Run("a", "First", seconds=50), Run("b", "Second", seconds=50)]
    told, pace = finished(computed(runs, Pace()))
    assert {said_s for said_s, _ in told} == {None}
    pace = Pace.from_document(json.loads(json.dumps(pace.document())))
    for said_s, left_s in finished(computed(runs, pace))[0]:
        assert said_s == pytest.approx(left_s)


def test_in_virtual_time_the_first_tenth_of_a_run_tells_that_it_goes_slower_this_time():
    runs = [Run("a", "First", seconds=50), Run("b", "Second", seconds=50)]
    _, pace = finished(computed(runs, Pace()))
    told, _ = finished(computed(runs, pace, slower=3.0))
    # All of it as it is foreseen, 56 s the last time, and how much longer that is.
    drifts = [(said_s + told[0][1] - left_s + 6) / 56 for said_s, left_s in told]
    # Bringing up counts neither as fast nor as slow, nor does the step that only begins.
    assert drifts[:11] == pytest.approx([1.0] * 11)
    # A tenth of the first run took 0.6 s instead of 0.2; a tenth of both is 2.6 s.
    assert drifts[11] == pytest.approx((0.6 + 2.6) / (0.2 + 2.6))
    # Each tenth that passes tells more, and so does each run that ends.
    assert drifts == pytest.approx(sorted(drifts))
    assert drifts[100] == pytest.approx((12 + 2.6) / (4 + 2.6))
    assert drifts[-1] == pytest.approx((78 + 2.6) / (26 + 2.6))


def test_spans_are_written_for_people():
    assert (span(45.4), span(125), span(3600)) == ("45 s", "2 min 05 s", "60 min 00 s")


def test_every_lab_has_a_line_a_question_and_a_handout(capsys):
    assert command.main(["labs"]) == 0
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


def test_a_name_that_is_nearly_right_is_suggested(capsys):
    assert command.main(["run", "botleneck"]) == 2
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
    assert chosen(duration=text).seconds == seconds


@pytest.mark.parametrize("text", ["-3", "10m", "long"])
def test_a_duration_that_cannot_be_read_is_told_what_can(text):
    with pytest.raises(SettingError, match=f"--duration {text}: write seconds, such as 20, or"):
        chosen(duration=text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--world virtal", "--world virtal: did you mean virtual?"),
        ("--world moon", "--world moon: there are: live, virtual, both."),
        ("--toolchain gcc", "--toolchain gcc: there are: vitrine, p4lang, both."),
        ("--world both --toolchain both", "a report has two sides"),
        ("--world virtual --program nope.p4", "nope.p4"),
        ("--world virtual --grpc tpc", "--grpc tpc: routers answer at Unix sockets, or with"),
    ],
)
def test_a_run_that_cannot_be_is_refused_before_anything_is_said(capsys, words, said):
    assert command.main(["run", *words.split()]) in (1, 2)
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""


def test_a_reader_who_has_seen_enough_ends_a_command_without_a_traceback():
    """As in `vitrine labs | head -1`."""
    command = subprocess.Popen(
        [sys.executable, "-m", "vitrine", "labs"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    command.stdout.close()
    assert command.stderr.read() == ""
    assert command.wait() == UNREAD


@pytest.mark.parametrize(
    ("arguments", "said"), [(["labs"], ""), (["run", "bottleneck"], "vitrine results")]
)
def test_of_a_run_that_nobody_reads_any_more_it_is_said_that_something_is_kept(
    monkeypatch, capfd, arguments, said
):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as unread:
        monkeypatch.setattr(sys, "stdout", unread)
        given = parser.parse(arguments)
        given.own = replace(given.own, run=lambda _: print("a line"))
        assert command.run(given) == UNREAD
    err = capfd.readouterr().err
    assert said in err
    assert bool(err) == bool(said)


def test_a_run_is_refused_at_once_while_a_network_is_up(monkeypatch, capsys):
    monkeypatch.setattr(record, "owner", lambda: Identity(4711, 1))
    assert command.main(["run", "--world", "live"]) == 1
    out, err = capsys.readouterr()
    assert "a network is up already, made by process 4711" in err
    assert out == ""
