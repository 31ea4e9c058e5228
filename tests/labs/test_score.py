"""The truth about a queue and the score of claims, against cases that were computed by hand."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from random import Random
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from vitrine.v1 import world_pb2

from controller.errors import NameNotFoundError
from controller.packets import (
    PacketCopied,
    PacketDeparted,
    PacketDropped,
    PacketQueued,
    PacketReceived,
    PacketTransmitted,
)
from labs.errors import SettingError
from labs.report import drawing
from labs.score import (
    beliefs,
    board,
    command,
    compared,
    line,
    mistakes,
    papers,
    parquet,
    picture,
    plan,
    sender,
    table,
)
from labs.score import systems as found_systems
from labs.score.claim import Claim, Reading, Sighting, from_estimates, from_readings, from_sightings
from labs.score.command import _count
from labs.score.conductor import share_of
from labs.score.events import PathChange, Pause, path_changes, pauses
from labs.score.flow import HEAD_BYTES, Flow
from labs.score.line import Line
from labs.score.scoring import Tally, score
from labs.score.systems import named
from labs.score.systems.postcards import Postcards
from labs.score.truth import Truth
from labs.score.workloads import WORKLOADS, steady, volley
from labs.sweep.showing.outcome import Mean

QUEUE = (2, 0)
A, B, C, D = (Flow(0x0A000000 + n, 0x0A000064, 17, 1000 + n, 5001) for n in range(1, 5))
FLOW_OF = {"A": A, "B": B, "C": C, "D": D}


def head(flow):
    ports = flow.source_port.to_bytes(2, "big") + flow.destination_port.to_bytes(2, "big")
    addresses = flow.source.to_bytes(4, "big") + flow.destination.to_bytes(4, "big")
    return bytes(23) + bytes([flow.protocol]) + bytes(2) + addresses + ports


def steps(*lines):
    """`(time, what, packet)`: packet `A1` is of flow A; `+` enters, `-` leaves, `x` is dropped."""
    numbers: dict[str, int] = {}
    for time_ps, what, name in lines:
        if name not in numbers:
            numbers[name] = len(numbers) + 1
            frame = head(FLOW_OF[name[0]])
            yield PacketReceived(time_ps, numbers[name], 1, 1000, frame)
        if what == "+":
            yield PacketQueued(time_ps, numbers[name], QUEUE)
        elif what == "-":
            yield PacketDeparted(time_ps, numbers[name], QUEUE, False)
        else:
            yield PacketDropped(time_ps, numbers[name], "QUEUE_LIMIT", QUEUE)


# Frames of 1000 bytes; the threshold is 3000, so the queue is low again at 1500 or less.
ONE_BUILDUP = (
    *((0, "+", "A1"), (0, "-", "A1")),
    *((1, "+", "A2"), (2, "+", "B1"), (3, "+", "B2"), (4, "+", "B3"), (4, "x", "C1")),
    *((5, "-", "A2"), (5, "+", "C2"), (6, "-", "B1"), (7, "-", "B2"), (8, "-", "B3")),
    (9, "-", "C2"),
)


@pytest.fixture
def truth():
    return Truth.of(steps(*ONE_BUILDUP), QUEUE, end_ps=20)


def test_a_head_names_the_flow():
    assert len(head(A)) == HEAD_BYTES
    assert Flow.of_head(head(A)) == A
    assert str(A) == "10.0.0.1:1001 -> 10.0.0.100:5001"


def test_a_buildup_has_the_instants_and_flows_of_the_hand_computed_case(truth):
    (found,) = truth.buildups(3000)
    assert (found.begin_ps, found.crossed_ps, found.peak_ps, found.end_ps) == (1, 3, 4, 8)
    assert found.peak_bytes == 4000
    assert found.culprits == {A: 1, B: 3}
    # A2 came before the queue began to grow for good.
    assert found.contributors == {B: 3}
    # B3 and C2 found 3000 bytes.
    assert found.victims == {B: 1, C: 1}
    assert found.dropped == {C: 1}


def test_the_packets_ahead_are_those_that_a_packet_waited_for(truth):
    by_name = {(packet.flow, packet.enqueued_ps): packet for packet in truth.packets}
    assert [each.flow for each in truth.ahead(by_name[C, 5])] == [B, B, B]
    assert truth.ahead(by_name[A, 1]) == []
    assert by_name[C, 5].wait_ps == 4


def test_a_buildup_that_goes_on_ends_with_the_recording_and_two_lows_part_two():
    up = [(time, "+", f"A{time}") for time in range(1, 4)]
    down = [(time + 3, "-", f"A{time}") for time in range(1, 4)]
    again = [(time, "+", f"B{time}") for time in range(7, 10)]
    found = Truth.of(steps(*up, *down, *again), QUEUE, end_ps=50).buildups(3000)
    assert [(each.begin_ps, each.end_ps) for each in found] == [(1, 5), (7, 50)]
    # Not below half the threshold between them: one build-up.
    once = Truth.of(steps(*up, (4, "-", "A1"), (5, "+", "B5")), QUEUE, end_ps=50).buildups(3000)
    assert [(each.crossed_ps, each.peak_ps, each.culprits) for each in once] == [(3, 3, {A: 3})]


def test_claims_are_scored_as_computed_by_hand(truth):
    # D is wrong; A is missed; B's fourth packet was not there.
    right = Claim(2, 7, 5_000_003, 5000, Counter({B: 4, D: 1}))
    false = Claim(30, 40, 40, None, Counter({D: 2}))
    found = score([right, false], truth.buildups(3000))
    assert found.buildups == Tally(right=1, wrong=1, missed=0)
    assert found.flows == Tally(right=1, wrong=2, missed=1)
    assert found.packets == Tally(right=3, wrong=4, missed=1)
    assert (found.packets.precision, found.packets.recall) == (3 / 7, 3 / 4)
    assert (found.delay_us, found.depth_error) == (5.0, 0.25)


def test_marked_packets_are_right_if_their_flow_has_its_share_of_the_queue(truth):
    # B3 and C2 found 3000 bytes: B3 behind two of its flow, C2 behind none.
    marked = {name: SimpleNamespace(flow=flow, time_ps=0) for name, flow in FLOW_OF.items()}
    assert papers.marks(truth, [marked["B"]], 3000) == Tally(right=1)
    assert papers.marks(truth, [marked["C"]], 3000) == Tally(wrong=1, missed=1)


def test_a_claim_over_two_buildups_belongs_to_the_longer_overlap(truth):
    (long,) = truth.buildups(3000)
    other = Truth.of(
        steps(*((time, "+", f"A{time}") for time in range(11, 14))), QUEUE, end_ps=15
    ).buildups(3000)[0]
    found = score([Claim(4, 12, 13, None, None)], [long, other])
    assert found.buildups == Tally(right=1, wrong=0, missed=1)


def test_of_several_claims_the_deepest_names_the_culprits(truth):
    shallow = Claim(2, 4, 5, 3000, Counter({D: 9}))
    deep = Claim(4, 7, 8, 4000, Counter({A: 1, B: 3}))
    found = score([shallow, deep], truth.buildups(3000))
    assert (found.flows, found.packets) == (Tally(right=2), Tally(right=4))
    assert found.buildups == Tally(right=1)


def test_nothing_claimed_has_no_precision_and_nothing_to_find_no_recall(truth):
    assert score([], truth.buildups(3000)).flows.precision is None
    assert score([], []).flows.recall is None


def test_sightings_of_the_queue_at_its_deepest_are_the_culprits():
    seen = [
        Sighting(departed_ps=10, known_ps=11, flow=A, depth_bytes=4000, wait_ps=5),
        Sighting(departed_ps=20, known_ps=21, flow=B, depth_bytes=3000, wait_ps=12),
        # It came after the deepest left.
        Sighting(departed_ps=30, known_ps=31, flow=C, depth_bytes=3000, wait_ps=15),
        # Another build-up, as the gap is 60.
        Sighting(departed_ps=90, known_ps=91, flow=D, depth_bytes=3500, wait_ps=1),
    ]
    first, second = from_sightings(seen, 3000, gap_ps=50)
    assert (first.begin_ps, first.end_ps, first.detected_ps) == (10, 30, 11)
    assert (first.peak_bytes, first.culprits) == (4000, {A: 1, B: 1})
    assert (second.begin_ps, second.culprits) == (90, {D: 1})


def test_an_estimate_counts_once_a_flow_and_near_the_deepest_if_asked():
    seen = [
        Sighting(departed_ps=10, known_ps=11, flow=A, depth_bytes=4000, wait_ps=8, weight=5),
        Sighting(departed_ps=15, known_ps=16, flow=A, depth_bytes=3500, wait_ps=8, weight=7),
        Sighting(departed_ps=30, known_ps=31, flow=B, depth_bytes=3000, wait_ps=8, weight=2),
    ]
    (whole,) = from_estimates(seen, gap_ps=20)
    assert (whole.begin_ps, whole.end_ps, whole.culprits) == (2, 30, {A: 7, B: 2})
    (near,) = from_estimates(seen, gap_ps=20, window_ps=10)
    assert near.culprits == {A: 7}
    # It came long before the deepest one, and still waited then; D had left.
    burst = Sighting(departed_ps=4, known_ps=5, flow=C, depth_bytes=3900, wait_ps=50, weight=9)
    gone = Sighting(departed_ps=1, known_ps=2, flow=D, depth_bytes=3900, wait_ps=50, weight=9)
    (near,) = from_estimates([gone, burst, *seen], gap_ps=20, window_ps=10)
    assert near.culprits == {A: 7, C: 9}


def test_readings_claim_from_the_last_low_one_to_the_next():
    depths = enumerate([0, 5000, 4000, 0, 0, 3000])
    first, second = from_readings([Reading(time, depth) for time, depth in depths], 3000)
    assert (first.begin_ps, first.end_ps, first.detected_ps) == (0, 3, 1)
    assert (first.peak_bytes, first.culprits) == (5000, None)
    assert (second.begin_ps, second.end_ps) == (4, 5)


def test_a_system_with_a_mistake_is_named_with_its_line(tmp_path, monkeypatch):
    (tmp_path / "unfinished.py").write_text("# A newcomer's.\nclass Own(System):\n    pass\n")
    monkeypatch.setattr(found_systems, "__path__", [*found_systems.__path__, str(tmp_path)])
    monkeypatch.setattr(found_systems, "systems", found_systems.systems.__wrapped__)
    with pytest.raises(SettingError, match=r"unfinished\.py:2: NameError: name 'System' is not"):
        named("conquest")


def test_wrong_options_name_what_is_wrong():
    with pytest.raises(SettingError, match="conquest"):
        named("conqest")
    with pytest.raises(SettingError, match="--seeds 0"):
        _count("0")
    with pytest.raises(SettingError, match="--lost 100 %"):
        share_of("100 %")
    assert share_of("2.5 %") == 0.025


def test_the_truth_as_parquet_has_what_the_objects_have(truth, tmp_path):
    run = SimpleNamespace(
        truth=truth,
        buildups=truth.buildups(3000),
        pauses=[Pause(5, 8, 2000)],
        path_changes=[PathChange(9, A, (2, 0), (3, 1))],
    )
    parquet.write(run, tmp_path)
    packets = pq.read_table(tmp_path / "packets.parquet").to_pylist()
    last = packets[-1]
    assert (last["flow"], last["found_bytes"], last["departed_ps"]) == (str(C), 3000, 9)
    # B1, B2 and B3 are the switch's packets 3, 4 and 5.
    assert last["ahead"] == [3, 4, 5]
    assert [each["dropped"] for each in packets].count("QUEUE_LIMIT") == 1
    (buildup,) = pq.read_table(tmp_path / "buildups.parquet").to_pylist()
    assert (buildup["begin_ps"], buildup["peak_bytes"]) == (1, 4000)
    assert buildup["culprits"] == [{"flow": str(A), "packets": 1}, {"flow": str(B), "packets": 3}]
    (pause,) = pq.read_table(tmp_path / "pauses.parquet").to_pylist()
    assert pause == {"begin_ps": 5, "end_ps": 8, "waiting_bytes": 2000}
    (change,) = pq.read_table(tmp_path / "paths.parquet").to_pylist()
    assert (change["flow"], change["before"], change["after"]) == (
        str(A),
        {"port": 2, "class": 0},
        {"port": 3, "class": 1},
    )


def test_a_queue_that_holds_packets_while_its_line_is_free_is_paused():
    """A frame takes the line 10. A1 leaves at once; A2 waits for the line, and then until 25."""
    lines = [(0, "+", "A1"), (0, "-", "A1"), (3, "+", "A2"), (25, "-", "A2"), (30, "+", "A3")]
    told = list(steps(*lines))
    sent = [PacketTransmitted(0, 1, 2, 1000, 10), PacketTransmitted(25, 2, 2, 1000, 35)]
    found = Truth.of([*told, *sent], QUEUE, end_ps=40)
    # A3 came while A2 was on the line, and still waits at the end.
    assert list(pauses(found)) == [Pause(10, 25, 1000), Pause(35, 40, 1000)]


def test_a_flow_changes_its_path_with_its_first_packet_in_another_queue():
    def packet(time_ps, number, flow, queue, received=PacketReceived):
        more = (1,) if received is PacketReceived else (1, 2)
        yield received(time_ps, number, *more, 1000, head(flow))
        yield PacketQueued(time_ps, number, queue)

    told = [
        *packet(1, 1, A, (2, 0)),
        *packet(2, 2, B, (3, 0)),
        *packet(3, 3, A, (3, 0)),
        # A copy of A's goes elsewhere, and A does not.
        *packet(4, 4, A, (9, 0), PacketCopied),
        *packet(5, 5, A, (3, 0)),
        *packet(6, 6, A, (2, 0)),
    ]
    assert list(path_changes(told)) == [
        PathChange(3, A, (2, 0), (3, 0)),
        PathChange(6, A, (3, 0), (2, 0)),
    ]


def test_a_mistake_in_a_system_is_a_sentence_with_its_line_and_travels(monkeypatch):
    class Broken:
        def run(self, *_args, **_more):
            # As if a system's own file had asked for a register.
            file = found_systems.INCLUDES[0] / "my.py"
            code = compile("\n\ndef poll():\n    raise error\n", file, "exec")
            names = {"error": self.error}
            exec(code, names)
            names["poll"]()

    bench = Broken()
    monkeypatch.setattr(board, "_bench", bench)
    job = board.Job("postcards", "incast", 3)
    bench.error = NameNotFoundError("register", "treshold", ["threshold"])
    with pytest.raises(SettingError) as raised:
        board._numbers(job)
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again).startswith(
        "postcards under incast, seed 3: no register is named 'treshold'; did you mean 'threshold'?"
    )
    assert str(again).endswith("my.py:4, in poll)")
    bench.error = ValueError("oops")
    with pytest.raises(SettingError, match=r"seed 3: ValueError: oops \(.*my.py:4, in poll\)"):
        board._numbers(job)


def test_a_class_that_lacks_something_is_named_with_its_file():
    class Half(Postcards):
        name = "half"

    Half.__abstractmethods__ = frozenset({"claims"})
    with pytest.raises(SettingError, match=r"my.py: Half has no claims\."):
        found_systems._check(Half, SimpleNamespace(__file__="my.py"))
    with pytest.raises(SettingError, match="drops.py has no class with the line `name = 'drops'`"):
        _named_without("drops")
    Half.program = "postcards"
    assert found_systems.source(Half) == found_systems.source(Postcards)


def _named_without(name):
    known = {each: kind for each, kind in found_systems.systems().items() if each != name}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(found_systems, "systems", lambda: known)
        named(name)


@pytest.mark.parametrize("text", ["0gbit", "1.5 Gb/s", "101 Gb/s", "10mbit", "much"])
def test_the_lines_rate_is_whole_gigabits(text):
    with pytest.raises(SettingError, match=r"--rate .*: whole Gb/s from 1 to 100 are needed"):
        line.of_rate(text)
    assert line.of_rate("10gbit") == line.of_rate("10 Gb/s") == Line(10)
    assert line.of_rate(None) == Line(1)
    slow = line.of_rate("100 Mb/s")
    assert (slow.rate_bps, str(slow), slow.span(7), slow.faster_bits) == (10**8, "100 Mb/s", 70, -3)


@pytest.mark.parametrize(("faster", "bits"), [(1, 0), (2, 1), (10, 3), (40, 5), (100, 7)])
def test_windows_shrink_by_the_nearest_power_of_two(faster, bits):
    assert Line(faster).window_ps(17) == (1 << 17 - bits) * 1000
    assert Line(faster).defines == ((f"FASTER_BITS={bits}",) if bits else ())


def test_a_row_has_means_with_intervals_and_says_where_there_is_no_number():
    runs = [
        {"flow_recall": recall, "flow_precision": precision, "bytes_per_packet": 2.0}
        for recall, precision in ((0.5, None), (0.7, 1.0))
    ]
    found = board.means(runs)
    # Student's 95 % quantile of one degree of freedom is 12.706, and the standard error is 0.1.
    assert found["flow_recall"].value == pytest.approx(0.6)
    assert found["flow_recall"].half == pytest.approx(1.2706, rel=1e-4)
    assert (found["flow_precision"].value, found["flow_precision"].count) == (1.0, 1)
    assert board.means([{"delay_us": None}]) == {"delay_us": None}


def test_the_table_the_csv_and_the_figure_are_the_same_bytes_each_time():
    numbers = dict.fromkeys((name for _, name, *_ in table.COLUMNS), Mean(0.25, 0.0, 3))
    row = board.Row("postcards", "incast", {**numbers, "delay_us": None})
    other = board.Row("drops", "incast", {**numbers, "flow_recall": Mean(0.5, 0.125, 3)})
    assert "| 0.25 |" in table.line(row)
    assert "| none |" in table.line(row)
    assert "0.50 ± 0.12" in table.line(other)
    assert table.as_csv([row, other]).splitlines()[1] == "incast,postcards,buildup_recall,0.25,0,3"
    assert picture.svg([row, other]) == picture.svg([row, other])


def test_the_picture_of_beliefs_has_claims_false_alarms_and_misses(truth):
    (buildup,) = truth.buildups(3000)
    right = Claim(buildup.begin_ps, buildup.end_ps, buildup.crossed_ps)
    false = Claim(buildup.end_ps + 10, buildup.end_ps + 20, buildup.end_ps + 20)

    def run(*claims):
        return SimpleNamespace(truth=truth, buildups=[buildup], claims=claims)

    found = {"sees": run(right), "sees-more": run(right, false), "blind": run()}
    with drawing.drawn(beliefs.figure(found, WORKLOADS["incast"])) as canvas:
        _, below = canvas.axes
        bars = [(each.get_label(), each.patches[0]) for each in below.containers]
        assert [(label, round(bar.get_y() + bar.get_height() / 2)) for label, bar in bars] == [
            *[("claim", 0), ("claim", 1), ("false alarm", 1), ("missed build-up", 2)]
        ]
        assert [each.get_text() for each in below.get_yticklabels()] == list(found)
        assert len(below.get_legend().get_texts()) == 4
    assert beliefs.svg(found, WORKLOADS["incast"]) == beliefs.svg(found, WORKLOADS["incast"])


def test_a_system_of_a_notebook_is_told_that_it_needs_a_program():
    names: dict = {"__name__": "notebook", "Postcards": named("postcards")}
    exec("class Mine(Postcards):\n    program = ''", names)
    with pytest.raises(SettingError, match="Mine has no P4 program"):
        found_systems.source(names["Mine"])


# ---- systems in files outside the clone ----------------------------------------------------------

OUTSIDE = """\
from helper import NAME
from labs.score.systems.postcards import Postcards


class Mine(Postcards):
    name = NAME
    summary = "mine"
    program = "own.p4"
"""


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A folder outside the clone with a system, its program and a module that it imports."""
    monkeypatch.setattr(found_systems, "_FILES", set())
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    found_systems._outside.cache_clear()
    (tmp_path / "helper.py").write_text('NAME = "mine"\n')
    (tmp_path / "mine.py").write_text(OUTSIDE)
    (tmp_path / "own.p4").write_text('#include "base.p4"\n')
    return tmp_path


def test_a_system_in_any_folder_is_found_by_its_file(outside, monkeypatch):
    monkeypatch.chdir(outside)
    (reference,) = found_systems.references("./mine.py")
    assert reference == f"{outside}/mine.py:mine"
    # A process elsewhere understands it, too.
    monkeypatch.chdir("/")
    kind = named(reference)
    assert kind.name == "mine"
    assert found_systems.source(kind) == outside / "own.p4"
    assert board.Job(reference, "incast", 1).name == "mine"
    assert found_systems.references("conquest") == ["conquest"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from nowhere import x\n", r"mine\.py:1: ModuleNotFoundError: No module named 'nowhere'"),
        ("class Mine(\n", r"mine\.py:1: SyntaxError: '\(' was never closed"),
        ("x = 1\n", r"mine\.py has no system: a class of `System` with a line `name = \.\.\.`"),
        (OUTSIDE.replace("    summary", "    # "), None),
        (OUTSIDE + OUTSIDE.partition("\n\n\n")[2].replace("Mine", "Again"), "two systems named"),
        (
            OUTSIDE.replace("Postcards", "System").replace("systems.postcards", "system"),
            "no claims",
        ),
    ],
)
def test_a_file_without_a_whole_system_is_refused_with_its_place(outside, text, words):
    (outside / "mine.py").write_text(text)
    if words is None:
        assert found_systems.references(str(outside / "mine.py"))
        return
    with pytest.raises(SettingError, match=words):
        found_systems.references(str(outside / "mine.py"))


def test_names_that_are_no_systems_file_are_refused(outside):
    with pytest.raises(SettingError, match="there is no file .*/yours.py"):
        named(str(outside / "yours.py"))
    with pytest.raises(SettingError, match="own.p4: a system is a Python file"):
        named(str(outside / "own.p4"))
    (outside / "mine.py").write_text(OUTSIDE.replace("NAME\n    s", '"postcards"\n    s'))
    with pytest.raises(
        SettingError, match="two of the systems are named 'postcards': rename yours"
    ):
        command._references(["postcards", str(outside / "mine.py")])


def test_a_mistake_in_a_file_outside_the_clone_has_its_line(outside):
    def poll():
        code = compile("\nraise ValueError('oops')\n", outside / "mine.py", "exec")
        exec(code, {})

    named(str(outside / "mine.py"))
    with pytest.raises(ValueError, match="oops") as raised:
        poll()
    sentence = mistakes.sentence(raised.value)
    assert sentence == f"ValueError: oops ({outside}/mine.py:2, in <module>)"


# ---- live runs -----------------------------------------------------------------------------------


def test_a_plan_sends_what_the_workload_says_in_the_order_of_time():
    def apps(rng):
        yield steady("h1", 112_000_000, 39_000_000)
        yield volley("h2", 39_150_000, 70, 6001)
        bulk = world_pb2.Bulk(to=world_pb2.Peer(host="r1", port=7001), after_ns=5, length_bytes=9)
        yield "h3", world_pb2.App(bulk=bulk)

    found = plan.sendings(apps(Random(1)), Random(1))
    # 1400 bytes at 112 Mb/s take 100 us, until 40 ms.
    assert [(each.at_ns, each.host, each.datagrams) for each in found[:4]] == [
        (5, "h3", 0),
        (39_000_000, "h1", 1),
        (39_100_000, "h1", 1),
        (39_150_000, "h2", 70),
    ]
    assert sum(each.host == "h1" for each in found) == 10
    # The kernel takes at most 46 datagrams of 1400 bytes at once.
    (burst,) = [each for each in found if each.host == "h2"]
    assert [len(part) for part in sender._parts(burst)] == [46 * 1400, 24 * 1400]


def test_a_live_mean_agrees_within_the_range_of_the_virtual_runs_to_the_digit():
    virtual = [{"flow_recall": value, "delay_us": None} for value in (0.8, 1.0)]
    live = [{"flow_recall": value, "delay_us": None} for value in (0.7, 0.88)]
    found = compared.Compared("postcards", virtual, live, 1)
    assert found.agrees("flow_recall", 2, 1)
    assert found.agrees("delay_us", 1, 1)
    apart = compared.Compared("postcards", virtual, live[:1], 1)
    assert not apart.agrees("flow_recall", 2, 1)
    assert not compared.Compared("x", virtual, [{"delay_us": 1.0}], 0).agrees("delay_us", 1, 1)


def test_a_system_that_needs_both_routers_is_not_run_live(tmp_path):
    for name in ("int-md", "spidermon"):
        with pytest.raises(SettingError, match=f"{name} needs both routers"):
            command.score([name], "microburst", "1", None, tmp_path, live=True)
    with pytest.raises(SettingError, match="--live --rate 10gbit: 1 Gb/s or 100 Mb/s"):
        command.score(["postcards"], None, "1", None, tmp_path, rate="10gbit", live=True)
