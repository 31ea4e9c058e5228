"""The labs' conclusions from recordings that were made by hand."""

import itertools
import math
import re
from fractions import Fraction

import pytest

from controller.toolchain import ROOT
from labs import catalogue, simulator
from labs.bdp_tcp_windows.lab import longest_closed_s
from labs.bufferbloat.lab import ALONE_S, Bufferbloat
from labs.definition import Verdict
from labs.errors import MeasurementError
from labs.frames import FRAME_BYTES, bdp_packets, queue_delay_s, reno_utilisation
from labs.hol_blocking import theory
from labs.hol_blocking.lab import HolBlocking
from labs.link_sharing.lab import LinkSharing, Shares, moments
from labs.measure import iperf
from labs.measure.page import Fetch
from labs.measure.ping import Echo, Pings
from labs.measure.router import PortSeries, QueueSeries
from labs.recording import Flow, Recording
from labs.report import drawing
from labs.router_buffer_size.lab import RouterBufferSize
from labs.settings import Settings
from labs.sizing_router_buffers.findings import Findings, full_after_s
from labs.sizing_router_buffers.lab import SizingRouterBuffers
from labs.speedup import mimicry
from labs.square_root_rule.lab import LOADS, PORT, SETTLED_S, SquareRootRule
from tests.labs.saw import add, recording, socket_sample, steady


def test_a_queue_delays_by_its_frames():
    # 100 frames of 1514 bytes are 1,211,200 bits; 1.5 Mb/s need 807 ms for them.
    assert queue_delay_s(100, 1_500_000) == pytest.approx(0.8075, abs=1e-4)


def test_the_bdp_is_counted_in_packets_of_1500_bytes():
    # 10 Mb/s times 20 ms are 200,000 bits, 25,000 bytes.
    assert bdp_packets(10e6, 0.020) == pytest.approx(16.67, abs=0.01)


@pytest.mark.parametrize(
    ("buffer_bdp", "use"),
    # The fluid model's table; 0.75 and 1 can be seen without any calculus.
    [(0, 0.750), (0.1, 0.818), (0.25, 0.893), (0.5, 0.964), (0.75, 0.993), (1, 1.0), (4, 1.0)],
)
def test_the_use_of_a_line_by_one_reno_flow(buffer_bdp, use):
    assert reno_utilisation(buffer_bdp) == pytest.approx(use, abs=6e-4)


PAGE_CLAIM = "a page beside the download, in multiples of its time alone, long queue"


# ---- bufferbloat ---------------------------------------------------------------------------------


def bloat(*, page_s, ping_ms, half=False):
    """Page alone in 1 s; beside the download a page of `page_s` from second 20, pings all along."""
    series = PortSeries()
    times = [index / 10 for index in range(300)]
    for class_, share in ((0, 0.5 if half else 1.0), (1, 0.5)):
        rate_bytes = 187_500 * share
        series.queues[class_] = QueueSeries(
            [50] * 300, [75_700] * 300, [round(time_s * rate_bytes) for time_s in times]
        )
    series.packets, series.bytes = [50] * 300, [75_700] * 300
    series.departed_packets = [0] * 300
    series.departed_bytes = [round(time_s * 187_500) for time_s in times]
    series.time_s = times
    samples = [socket_sample(ALONE_S + index) for index in range(25)]
    echoes = tuple(Echo(time_s, 20.0 if time_s < ALONE_S else ping_ms) for time_s in times)
    return Recording(
        ports={"s1-eth2": series},
        flows={"download": Flow("download", "h1", "h2", "reno", iperf.Result(0, 0, 0), samples)},
        pings={"ping": Pings(len(echoes), echoes)},
        pages=[Fetch(1.0, 1.1, 2.0, 177_669), Fetch(20.0, 21.0, 20.0 + page_s, 177_669)],
        sockets={"h1": samples},
    )


def verdicts(lab, recordings):
    return {band.claim: band.verdict is Verdict.MET for band in lab.assess(recordings).bands}


def test_a_bloated_queue_and_its_cures_are_recognised():
    lab = Bufferbloat(Settings(seconds=24))
    recordings = {
        "queue-100": bloat(page_s=5.0, ping_ms=600.0),
        "queue-20": bloat(page_s=2.0, ping_ms=130.0),
        "two-queues": bloat(page_s=2.0, ping_ms=25.0, half=True),
    }
    assert all(verdicts(lab, recordings).values())
    numbers = lab.assess(recordings).numbers
    assert numbers["fair_download_share"] == pytest.approx(0.5, abs=0.01)
    assert numbers["long_ping_loaded_ms"] == pytest.approx(600.0)
    # Before the first page only the empty line was seen.
    assert numbers["long_ping_alone_ms"] == pytest.approx(20.0)


def test_a_run_whose_pings_ended_before_the_download_settled_is_refused_with_advice():
    recording = bloat(page_s=5.0, ping_ms=600.0)
    recording.pings["ping"] = recording.pings["ping"].between(0, ALONE_S)
    recordings = {name: recording for name in ("queue-100", "queue-20", "two-queues")}
    with pytest.raises(MeasurementError, match="no ping came back .* give --duration 120"):
        Bufferbloat(Settings(seconds=24)).assess(recordings)


def test_pages_and_the_download_are_marked_where_their_packets_begin():
    lab = Bufferbloat(Settings(seconds=24))
    recordings = {run.name: bloat(page_s=5.0, ping_ms=600.0) for run in lab.runs()}
    # A program that was started three seconds before its first packet.
    recordings["queue-100"].moments = [(17.0, "page")]
    full = next(each for each in lab.figures(recordings) if each.name == "queue-100")
    with drawing.drawn(full) as canvas:
        marks = {text.get_text(): [] for text in canvas.axes[0].texts}
        for text in canvas.axes[0].texts:
            marks[text.get_text()].append(text.xy[0])
    assert marks == {"page": [1.0, 20.0], "download begins": [ALONE_S]}


def test_a_queue_that_is_not_long_fails_its_bands():
    lab = Bufferbloat(Settings(seconds=24))
    short = bloat(page_s=2.0, ping_ms=130.0)
    met = verdicts(lab, {"queue-100": short, "queue-20": short, "two-queues": short})
    assert not met[PAGE_CLAIM]
    assert not met["ping, long queue"]
    assert met["ping, short queue"]
    assert not met["ping, two queues"]


def test_the_bands_follow_the_rate():
    # At ten times the rate a frame takes 0.807 ms: a round trip to connect, one for each of the
    # windows of 10 and 20 segments, 40 x 0.807 ms for the third, one and 53 x 0.807 ms for the
    # rest: 20 + 20 + 20 + 32.3 + 20 + 42.8 ms. A full queue delays by 81 ms.
    lab = Bufferbloat(Settings(rate_bps=15_000_000))
    assert lab.page_alone_s == pytest.approx(0.155, abs=0.001)
    fast = bloat(page_s=2.0, ping_ms=60.0)
    bands = {
        band.claim: band
        for band in lab.assess({"queue-100": fast, "queue-20": fast, "two-queues": fast}).bands
    }
    # Half of 81 ms above the path's 20 ms; and with 20 packets no less than a ping can take.
    assert bands["ping, long queue"].least == pytest.approx(58.0, abs=0.5)
    assert bands["ping, short queue"].most == pytest.approx(1.1 * (20 + 16.15), abs=0.1)
    assert bands["page, line empty"].most == pytest.approx(1.55 * 0.155, rel=0.01)
    # Two frames and a half are nothing at this rate; the machine's own milliseconds remain.
    assert bands["ping, two queues"].most == pytest.approx(25.0)


def test_a_queue_that_is_not_long_is_not_judged_as_one():
    lab = Bufferbloat(Settings(queue_packets=20))
    short = bloat(page_s=2.0, ping_ms=130.0)
    recordings = {run.name: short for run in lab.runs()}
    found = {band.claim: band for band in lab.assess(recordings).bands}
    page = found[PAGE_CLAIM]
    assert page.verdict is Verdict.NOT_JUDGED
    assert page.unjudged == "a queue of 20 packets delays a page by too little"


def test_the_originals_numbers_stand_only_beside_its_setting():
    recordings = {
        name: bloat(page_s=5.0, ping_ms=600.0) for name in ("queue-100", "queue-20", "two-queues")
    }
    assert any(row.original for row in Bufferbloat(Settings()).assess(recordings).rows)
    other = Bufferbloat(Settings(rate_bps=3_000_000)).assess(recordings)
    assert not any(row.original for row in other.rows)


@pytest.mark.parametrize(
    ("rate_bps", "judged"),
    # Cubic may have 1.22 x 1448 x 8 / (0.02 x 0.01) = 71 Mb/s; three times that fits into 1 Gb/s.
    [(1_000_000_000, True), (100_000_000, False), (250_000_000, True), (200_000_000, False)],
)
def test_three_times_cubic_is_asked_of_lines_that_carry_it(rate_bps, judged):
    lab = RouterBufferSize(Settings(rate_bps=rate_bps))
    assert (lab._too_slow_for_loss() == "") is judged


@pytest.mark.parametrize(
    ("rate_bps", "seconds", "judged"),
    # Cubic comes back after cbrt(2 x 167 x 0.3 / 0.4) = 6.3 s at 100 Mb/s: four saws, and 3 s.
    [(100_000_000, 9, False), (100_000_000, 30, True), (1_000_000_000, 60, True)],
)
def test_a_fifo_is_judged_after_some_saws(rate_bps, seconds, judged):
    lab = LinkSharing(Settings(rate_bps=rate_bps, seconds=seconds))
    assert (lab._too_short_to_share() == "") is judged


# ---- sizing router buffers -----------------------------------------------------------------------


def test_the_documents_numbers_are_taken_from_second_two_on():
    found = Findings(recording(14.0), window_s=10.0, rate_bps=10e6)
    # The saw's line is always busy; each tooth of two seconds loses one packet: 5 in ten seconds.
    assert found.throughput_bps == pytest.approx(10e6)
    assert found.dropped_packets == 5
    # 10 s of 10 Mb/s are 8256 frames.
    assert found.loss == pytest.approx(5 / 8261, rel=1e-3)
    assert (found.loss_count, found.drops_each) == (5, 1.0)
    assert found.rtt_ms == pytest.approx(45.0)
    assert found.empty_share == 0
    # 9.56 Mb/s of payload are 10 Mb/s with headers.
    assert found.goodput_bps == pytest.approx(9.56e6 * 1514 / 1448)


def test_a_line_is_full_after_the_first_round_trip_that_never_stood():
    series = PortSeries()
    sent = 0
    # Nothing for 0.1 s; then 10 frames in each round trip of 20 ms, then 13, then all of the 16.5.
    for milliseconds in range(200):
        trip, within = divmod(milliseconds - 100, 20)
        frames = {0: 10, 1: 13}.get(trip, 20) if trip >= 0 else 0
        # A frame takes 1.2 ms, so every millisecond sends at most one.
        sent += FRAME_BYTES * (within < frames and within % 6 != 5)
        add(series, milliseconds / 1000, 0, departed_bytes=sent)
    # The third round trip is full; it ends 60 ms after the first frame, give or take a frame.
    assert full_after_s(series, 10e6) == pytest.approx(0.060, abs=0.003)
    assert math.isnan(full_after_s(steady(9), 10e6))


def test_a_window_is_closed_from_the_first_sample_of_0_to_the_last():
    windows = [9, 9, 0, 0, 0, 5, 0, 0, 9]
    samples = [
        socket_sample(0.5 * place, receiver_window_bytes=window)
        for place, window in enumerate(windows)
    ]
    assert longest_closed_s(samples) == 1.0
    assert longest_closed_s(samples[:2]) == 0.0


def test_buffers_stay_the_same_part_of_the_bdp_at_another_rate():
    assert SizingRouterBuffers(Settings()).packets(18) == 18
    assert SizingRouterBuffers(Settings(rate_bps=20_000_000)).packets(18) == 36


# ---- link sharing --------------------------------------------------------------------------------


def shared(of_h1, of_h2, *, seconds=10.0):
    """Both classes of a line of 1 Gb/s send at steady rates; both flows last all the time."""
    series = PortSeries()
    times = [index / 100 for index in range(round(seconds * 100) + 1)]
    for class_, share in ((1, of_h1), (0, of_h2)):
        series.queues[class_] = QueueSeries(
            [9] * len(times), [9] * len(times), [round(t * 125e6 * share) for t in times]
        )
    series.departed_bytes = [round(t * 125e6 * (of_h1 + of_h2)) for t in times]
    series.time_s = times
    flows = {}
    for host, share in (("h1", of_h1), ("h2", of_h2)):
        samples = [
            socket_sample(t, delivered_packets=t * share * 1e9 / 8 / 1514)
            for t in (0.0, seconds / 2, seconds)
        ]
        flows[host] = Flow(host, host, "h3", "cubic", iperf.Result(0, 0, 0), samples)
    return Recording(ports={"s1-eth3": series}, flows=flows)


def test_shares_are_counted_by_class_where_packets_leave():
    shares = Shares("drr", shared(0.7, 0.3), 10**9)
    assert (shares.h1, shares.h2) == (pytest.approx(0.7), pytest.approx(0.3))
    assert shares.alone is None


def test_in_one_queue_shares_are_told_apart_by_what_each_host_delivered():
    shares = Shares("fifo", shared(0.55, 0.45), 10**9)
    assert shares.h1 == pytest.approx(0.55)
    assert shares.of_both_h1 == pytest.approx(0.55)


def test_the_line_alone_is_counted_between_pause_and_return():
    paused = shared(0.97, 0.0, seconds=30.0)
    paused.moments = [(10.0, "h2 pauses"), (20.0, "h2 resumes")]
    paused.flows["h2 again"] = paused.flows["h2"]
    assert Shares("borrowing", paused, 10**9).alone == pytest.approx(0.97)


def test_marks_are_set_where_packets_pass_and_not_when_programs_start():
    def departing(spans):
        """A packet of 1514 bytes each 10 ms in these spans of time."""
        times = [index / 100 for index in range(1001)]
        sent = itertools.accumulate(
            1514 * any(begin <= time_s < end for begin, end in spans) for time_s in times
        )
        return times, list(sent)

    series = PortSeries()
    series.time_s, of_h2 = departing([(0.5, 3.2), (3.4, 4.1), (7.3, 9.0)])
    _, of_h1 = departing([(3.25, 9.0)])
    idle = [0] * len(of_h1)
    series.queues = {0: QueueSeries(idle, idle, of_h2), 1: QueueSeries(idle, idle, of_h1)}
    # The last packet before the longest pause, and the first behind it.
    assert moments("borrowing", series) == [(4.09, "h2 pauses"), (7.3, "h2 resumes")]
    assert moments("strict", series) == [(3.25, "h1 begins")]
    assert moments("drr", series) == []
    # A host that never sends never begins, and so never pauses.
    series.queues = {0: QueueSeries(idle, idle, idle), 1: QueueSeries(idle, idle, idle)}
    assert moments("borrowing", series) == moments("strict", series) == []


def test_only_the_runs_about_classes_have_classes():
    lab = LinkSharing(Settings(quick=True))
    queues = {
        run.name: lab.topology(run).switch("s1").port(3).settings.queue_count for run in lab.runs()
    }
    assert queues == {"fifo": 1, "htb": 2, "borrowing": 2, "drr": 2, "strict": 2}


# ---- head-of-line blocking -----------------------------------------------------------------------


def test_the_waits_of_the_literature():
    # Karol's formulas; at half load 0.469 slots for 16 output queues, 2 for FIFO inputs.
    assert simulator.output_queueing_wait(16, 0.5) == pytest.approx(0.46875)
    assert theory.fifo_wait(0.5) == pytest.approx(2.0, abs=1e-3)


def test_a_line_of_the_simulator_is_one_point():
    line = '{"load":0.5,"throughput":0.4998,"wait_slots":0.71,"conserved":true}'
    assert simulator.parse(line) == simulator.Point(0.5, 0.4998, 0.71)


def test_a_simulation_that_loses_cells_is_no_measurement():
    with pytest.raises(Exception, match="the simulator lost cells"):
        simulator.parse('{"load":1,"throughput":1,"wait_slots":0,"conserved":false}')


# ---- speedup -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ports", [2, 3, 5, 8])
def test_a_crossbar_of_twice_the_speed_is_as_good_as_output_queues(ports):
    for seed in range(3):
        found = mimicry.run(ports, Fraction(2), load=0.9, slots=800, seed=seed)
        assert found.cells > 800 and found.late == 0
        assert mimicry.run(ports, Fraction(1), load=0.9, slots=800, seed=seed).late > 0


def test_two_cells_for_one_output_leave_in_the_order_that_output_queues_give_them():
    # Both come in slot 0; output queues send one in slot 0, the other one in slot 1.
    crossbar = mimicry.Crossbar(2, Fraction(2))
    crossbar.step([0, 0])
    crossbar.step([None, None])
    assert (crossbar.cells, crossbar.late) == (2, 0)


def test_only_the_input_stage_differs_between_the_live_runs():
    lab = HolBlocking(Settings(quick=True))
    _, fifo, voq = lab.runs()
    first, second = lab.topology(fifo), lab.topology(voq)
    assert first.switch("s2").input != second.switch("s2").input
    assert first == second.with_input("s2", first.switch("s2").input)


# ---- other TCPs, other rates ---------------------------------------------------------------------

# `--rate 5mbit` and the like, where a handout tells its reader to try them.
_SETTING = re.compile(r"--(rate|queue|duration|congestion) ([\w.]+)")


def suggested():
    """Each setting that the handout of a lab names."""
    for lab in catalogue.LABS:
        text = (ROOT / "labs" / lab.folder_name() / "README.md").read_text()
        # The measurements name their own settings.
        advice = text[: text.index("## Measurements")]
        for name, word in sorted(set(_SETTING.findall(advice))):
            yield pytest.param(lab, {name: word}, id=f"{lab.name}-{name}-{word}")


@pytest.mark.parametrize(("kind", "given"), suggested())
def test_what_a_handout_suggests_can_be_run_and_compares_nothing_with_itself(kind, given):
    world = {"world": "virtual", "seeds": "1"}
    lab = kind(Settings.chosen({**given, **world}, kind.takes))
    names = [run.name for run in lab.runs()]
    assert len(set(names)) == len(names)
    settings = [(run.title, run.parameters) for run in lab.runs()]
    assert all(settings.count(each) == 1 for each in settings)


@pytest.mark.parametrize("congestion", ["bbr", "dctcp"])
def test_a_tcp_that_fills_no_queue_is_not_judged_as_one_that_does(congestion):
    lab = Bufferbloat(Settings(seconds=24, congestion=congestion))
    short = bloat(page_s=2.0, ping_ms=60.0)
    found = {band.claim: band for band in lab.assess({run.name: short for run in lab.runs()}).bands}
    for claim in (PAGE_CLAIM, "ping, long queue"):
        assert found[claim].verdict is Verdict.NOT_JUDGED
        assert "Reno or Cubic would do, and the flows here are of" in found[claim].unjudged
    # The router's work for all classes is judged.
    assert found["ping, two queues"].verdict is not Verdict.NOT_JUDGED


def test_a_page_is_asked_of_a_queue_as_full_as_the_download_can_have_it_by_then():
    # W = BDP + 300 = 301.7 packets of 8 ms. In 47 s less two full queues, 42.1 s, W / 2 grows to
    # sqrt(150.8^2 + 2 x 42.1 x 2.5 / 0.02) = 182.5 packets, 180 of them queued: 60 %.
    long = Bufferbloat(Settings(queue_packets=300))
    assert long.seconds == 60
    assert long._refilled_part == pytest.approx(0.60, abs=0.01)
    # Five round trips of 20 + 0.6 x 2422 ms, over 1.03 s.
    assert long._page_times == pytest.approx(5 * 1.475 / 1.033, rel=0.02)
    # The lab's own queue is nearly full by then, and the page loses packets.
    assert Bufferbloat(Settings())._refilled_part == 0.9
    assert Bufferbloat(Settings())._page_times == pytest.approx(3.975, abs=0.01)
    # The bands of a queue that had time enough to fill are those of a full one.
    patient = Bufferbloat(Settings(queue_packets=300, seconds=600))
    assert patient._page_times == pytest.approx(5.5 * (0.02 + 0.9 * 2.422) / 1.033, rel=0.01)


@pytest.mark.parametrize(
    ("congestion", "judged"), [("cubic", True), ("reno", False), ("bbr", False), ("prague", False)]
)
def test_how_long_two_flows_need_to_share_is_that_of_their_own_tcp(congestion, judged):
    # Reno needs 3/8 x (2 x 167)^2 packet times of 0.12 ms for a tooth, 5 s; four are 20, and 3 s.
    short = LinkSharing(Settings(rate_bps=100_000_000, seconds=30, congestion=congestion))
    assert (short._too_short_to_share() == "") is (judged or congestion == "reno")
    if congestion == "reno":
        slow = LinkSharing(Settings(rate_bps=1_000_000_000, congestion=congestion))
        # Fifty seconds a tooth.
        assert "203 s to find their shares" in slow._too_short_to_share()
    elif not judged:
        assert "Reno or Cubic would do" in short._too_short_to_share()


def sizing(**changes):
    """The lab with these settings, on saws that were made by hand; its bands by claim."""
    lab = SizingRouterBuffers(Settings(quick=True, **changes))
    recordings = {run.name: recording(10.0) for run in lab.runs()}
    assessment = lab.assess(recordings)
    return lab, assessment, {band.claim: band for band in assessment.bands}


def test_two_buffers_that_are_one_at_this_rate_are_one():
    lab, assessment, bands = sizing(rate_bps=2_000_000)
    # 21 and 18 packets are both 4 at a fifth of the rate.
    assert [lab.packets(size) for size in lab.sizes] == [14, 7, 4, 2, 1]
    assert "mean RTT rises with the buffer, 4 over 2" in bands
    assert not any("4 over 4" in claim for claim in bands)
    # Claims speak of the buffers that there are.
    assert "loss rate falls with the buffer, 14 over 2" in bands
    # (3.3 + 4) / 2 is 3 packets, and a BDP is 3.3: it does run empty.
    empty = bands["buffer 4: part of the time in which the queue is empty"]
    assert empty.unjudged == "half of a window is 3 whole packets here, and the BDP is 3.3"
    whats = [row.what for row in assessment.rows]
    assert len(set(whats)) == len(whats)


@pytest.mark.parametrize("rate_bps", [100_000, 1_000_000, 20_000_000, 10_000_000_000])
def test_buffers_of_any_rate_are_assessed_and_drawn(rate_bps):
    lab, _, _ = sizing(rate_bps=rate_bps)
    figures = lab.figures({run.name: recording(10.0) for run in lab.runs()})
    (trade,) = (each for each in figures if each.name == "trade")
    with drawing.drawn(trade):
        pass


def test_what_only_reno_does_is_neither_theory_nor_judged_for_another_tcp():
    _, of_reno, reno = sizing()
    _, of_cubic, cubic = sizing(congestion="cubic")
    _, of_bbr, bbr = sizing(congestion="bbr")

    def judged(bands):
        return {claim for claim, band in bands.items() if band.verdict is not Verdict.NOT_JUDGED}

    assert judged(reno) == set(reno)
    halving = {
        "buffer 9: part of the line that is used",
        "buffer 2: no more than a Reno without any timeout could use",
        "buffer 2, delayed acknowledgements: part of the line that is used",
    }
    assert set(cubic) - judged(cubic) == halving
    assert judged(bbr) == set()
    assert any("throughput" in row.what and row.theory for row in of_reno.rows)
    for assessment in (of_cubic, of_bbr):
        assert not any(
            row.theory
            for row in assessment.rows
            if row.what.endswith(("throughput", "at each loss", "queue empty"))
        )


def test_a_buffer_with_room_for_a_pair_is_not_judged_by_pairs():
    _, _, bands = sizing(rate_bps=20_000_000)
    band = bands["buffer 4, delayed acknowledgements: part of the line that is used"]
    assert band.unjudged.endswith("for which a buffer of 4 has room")


def test_all_sizes_of_the_lab_stand_in_the_picture_of_the_trade():
    lab, _, _ = sizing()
    figures = lab.figures({run.name: recording(10.0) for run in lab.runs()})
    (trade,) = (each for each in figures if each.name == "trade")
    with drawing.drawn(trade) as canvas:
        lines = {line.get_label(): list(line.get_xdata()) for line in canvas.axes[0].get_lines()}
        ticks = [text.get_text() for text in canvas.axes[0].get_xticklabels()]
    assert lines["measured"] == [2, 9, 18, 21, 36, 72]
    # 18 and 21 are so near that one would be written over the other.
    assert ticks == ["2", "9", "18", "\n21", "36", "72"]
    # The original has no 21; its line goes on from 18 to 36.
    assert lines["the original"] == [2, 9, 18, 36, 72]


@pytest.mark.parametrize("rate_bps", [None, 100_000_000, 1_000_000_000])
def test_packets_queue_before_the_line_of_queue_management_at_any_rate(rate_bps):
    lab = catalogue.named("queue-management")(Settings(rate_bps=rate_bps))
    s1 = lab.topology("codel").switch("s1")
    first, second, line = (s1.port(each).rate_bps for each in (1, 2, 3))
    assert min(first, second) >= 5 * line
    assert rate_bps or first == 10**8


@pytest.mark.parametrize(("rate_bps", "judged"), [(None, True), (5_000_000, True), (10**8, False)])
def test_reds_packets_are_judged_where_they_are_more_than_a_moment_of_the_path(rate_bps, judged):
    lab = catalogue.named("queue-management")(Settings(rate_bps=rate_bps))
    delay, _ = lab.description.runs["red"].findings.bands
    # 15 packets of 83 at 20 Mb/s and 50 ms, of 417 at 100 Mb/s.
    assert (lab.names.number(delay.unjudged[0]) == 0) is judged


@pytest.mark.parametrize(("rate_bps", "judged"), [(None, True), (200_000_000, False)])
def test_pragues_part_is_judged_where_its_formulas_hold(rate_bps, judged):
    lab = catalogue.named("marking")(Settings(rate_bps=rate_bps))
    # At 40 Mb/s a Cubic flow of eight has 14.6 packets, and its saw takes 0.3 s; at 200, 1.5 s.
    bands = lab.description.runs["l4s"].findings.bands
    (part,) = (band for band in bands if band.name == "DualPI2: Prague's part of both")
    assert (lab.names.number(part.unjudged[0]) == 0) is judged


def test_the_data_of_a_picture_has_its_marks_and_what_its_bars_span():
    lab = Bufferbloat(Settings(seconds=24))
    recordings = {run.name: bloat(page_s=5.0, ping_ms=600.0) for run in lab.runs()}
    figures = {figure.name: figure for figure in lab.figures(recordings)}
    with drawing.drawn(figures["queue-100"]) as canvas:
        rows = set(drawing.data(canvas).splitlines())
    assert any(row.endswith(f",download begins,{ALONE_S},") for row in rows)
    with drawing.drawn(figures["compared"]) as canvas:
        rows = list(drawing.data(canvas).splitlines())
        # And no legend mentions them.
        legends = [text.get_text() for axes in canvas.axes for text in axes.texts]
    # The page beside the download: from second 20 to second 25.
    assert sum(row.endswith(",page,20.0,") for row in rows) >= len(lab.runs())
    assert sum(row.endswith(",page,25.0,") for row in rows) >= len(lab.runs())
    assert not any(text.startswith("_") for text in legends)


# ---- the square-root rule ------------------------------------------------------------------------


def test_every_point_of_the_square_root_rule_is_in_sight():
    lab = SquareRootRule(Settings())
    names = [run.name for run in lab.runs()]
    # From a line that is half idle to a busy one: the worst once lay below the axis.
    uses = {name: 0.5 + 0.5 * index / (len(names) - 1) for index, name in enumerate(names)}
    rates = [load.rate_bps for load in LOADS for _ in lab.parts]
    recordings = {}
    for (name, use), rate_bps in zip(uses.items(), rates, strict=True):
        series = PortSeries()
        for time_s in range(lab.seconds):
            add(series, time_s, 1, departed_bytes=round(time_s * use * rate_bps / 8))
        recordings[name] = Recording(ports={PORT: series})
    assert lab.seconds > SETTLED_S + 2
    figure = next(each for each in lab.figures(recordings) if each.name == "use")
    with drawing.drawn(figure) as canvas:
        for axes in canvas.axes:
            points = [
                point
                for line in axes.lines
                if line.get_marker() == "o"
                for point in line.get_xydata()
            ]
            assert sorted(y for _, y in points) == pytest.approx(sorted(uses.values()), abs=1e-6)
            (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
            hidden = [(x, y) for x, y in points if not (left < x < right and bottom < y < top)]
            assert hidden == []
