"""The chaos itself: the same from the same seed, and blind to nothing that it is to find."""

import itertools
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import types

import grpc
import pytest

from controller.errors import ConnectError, RequestError
from controller.toolchain import ROOT
from tests.chaos import clock, laws, schedule, slope, soak, soak_virtual, span, traffic
from tests.chaos.churn import Churn
from tests.chaos.errors import LawError
from tests.chaos.faults import FAULTS
from tests.chaos.holdings import Holdings
from tests.chaos.laws import Laws
from tests.chaos.memory import Bound
from tests.chaos.series import HELD_UP, TIME, Series, judge
from tests.chaos.tallies import Tallies
from topo import wait
from topo.errors import TopologyError

ROUTERS = ["s1", "s2"]


def first(count, seed):
    return list(itertools.islice(schedule.steps(seed, list(FAULTS), ROUTERS), count))


def test_a_seed_is_a_schedule():
    assert first(50, seed=7) == first(50, seed=7)
    assert first(50, seed=7) != first(50, seed=8)


def test_every_fault_comes_and_two_at_once_are_at_different_routers():
    steps = first(len(FAULTS), seed=1)
    assert {step.strokes[0].fault for step in steps} == set(FAULTS)
    pairs = [step.strokes for step in first(100, seed=1) if len(step.strokes) == 2]
    assert pairs
    for one, other in pairs:
        assert one.router != other.router and one.fault != other.fault


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("1.5min", 90), ("8h", 28_800)])
def test_lengths_of_time_have_units(text, seconds):
    assert span.seconds(text) == seconds


def test_a_length_of_time_without_a_unit_is_refused():
    with pytest.raises(ValueError, match="'20' is no length of time: write 90s, 20min or 8h"):
        span.seconds("20")


def test_numbers_are_read_by_others(tmp_path):
    written = Tallies(tmp_path / "tcp", traffic.TCP)
    read = Tallies(tmp_path / "tcp", traffic.TCP)
    written.add("bytes", 5)
    written.add("bytes", 2)
    written.put("wrong", 1)
    assert [read[name] for name in traffic.TCP] == [7, 1, 0]


# ---- what receivers notice -----------------------------------------------------------------------


@pytest.mark.parametrize("position", [0, 1, 65_520, 65_521, 10**9])
def test_a_stream_is_known_from_every_place(position):
    chunk = (traffic.BLOCK * 3)[position % 65_521 :][:70_000]
    assert traffic.is_right(chunk, position)
    assert not traffic.is_right(chunk, position + 1448)
    assert not traffic.is_right(chunk[:500] + b"\0" + chunk[501:], position) or chunk[500] == 0


def test_a_receiver_counts_what_is_wrong_and_what_comes_twice(tmp_path, monkeypatch):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(traffic, "UDP_PORT", port)
    threading.Thread(target=traffic.receive_udp, args=(tmp_path / "udp",), daemon=True).start()
    wait.until((tmp_path / "udp.delays").exists, "the receiver", 60)
    tallies = Tallies(tmp_path / "udp", traffic.UDP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:

        def send(number, payload):
            sender.sendto(
                struct.pack("!QQ", number, time.monotonic_ns()) + payload, ("127.0.0.1", port)
            )

        def is_heard():
            send(0, traffic.payload_of(0))
            return tallies["received"] > 0

        wait.until(is_heard, "the first datagram", 60)
        again = tallies["out_of_order"]
        send(5, traffic.payload_of(5))
        send(3, traffic.payload_of(3))
        send(6, traffic.payload_of(7))
        wait.until(lambda: tallies["wrong"] == 1, "the last datagram", 60)
    assert tallies["received"] == 2
    assert tallies["out_of_order"] >= again + 1
    assert len(traffic.delays_beside(tmp_path / "udp").read_bytes()) == 2 * 4


# ---- what faults are made of ---------------------------------------------------------------------


@pytest.fixture
def stepping(tmp_path):
    """The environment of a process whose clock steps, with the file that steps it."""
    found = clock.environment(tmp_path)
    if not found:
        pytest.skip("no C compiler")
    return found


def told_by(environment):
    """The output of such a process: the steps of its wall clock, when set an hour back, and of its
    monotonic clock."""
    program = (
        "import time; from tests.chaos import clock; before, began = time.time(), time.monotonic();"
        "clock.step(-3600); print(time.time() - before, time.monotonic() - began)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(word) for word in run.stdout.split()]


def test_a_clock_steps_and_lengths_of_time_stay_as_they_are(stepping):
    wall_s, took_s = told_by(stepping)
    assert took_s >= 0
    # A busy machine may stop the program between its readings of the two clocks.
    assert wall_s - took_s == pytest.approx(-3600, abs=60)


def test_a_clock_that_steps_is_nobody_elses(stepping):
    before_s = time.time() - time.monotonic()
    told_by(stepping)
    assert time.time() - time.monotonic() - before_s == pytest.approx(0, abs=60)


@pytest.fixture
def bound():
    with Bound.over("test", 64 << 20) as found:
        if found is None:
            pytest.skip("this machine has no memory control groups for us")
        yield found


def taking(size_bytes):
    """A program that takes `size_bytes` of memory and uses it."""
    return [sys.executable, "-c", f"print(len(bytearray({size_bytes})))"]


def test_who_has_room_lives_and_who_wants_more_is_ended_by_the_kernel(bound):
    assert subprocess.run(bound.around(taking(1 << 20)), capture_output=True).returncode == 0
    assert bound.kills == 0
    ended = subprocess.run(bound.around(taking(128 << 20)), capture_output=True)
    assert ended.returncode == -signal.SIGKILL
    assert bound.kills == 1 and bound.met > 0


def test_a_bound_can_be_moved(bound):
    bound.limit(256 << 20)
    assert subprocess.run(bound.around(taking(128 << 20)), capture_output=True).returncode == 0


def test_a_group_of_the_second_version_bounds_memory_and_forbids_swap(tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    with Bound.over("test", 64 << 20, mounted=tmp_path) as found:
        assert found is not None and found.folder.parent == tmp_path
        files = {name: found.folder / name for name in ("memory.max", "memory.swap.max")}
        assert {name: file.read_text() for name, file in files.items()} == {
            "memory.max": str(64 << 20),
            "memory.swap.max": "0",
        }
        files["memory.events"] = found.folder / "memory.events"
        files["memory.events"].write_text("low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\n")
        assert (found.met, found.kills) == (7, 1)
        # The kernel's own files go with their group.
        for file in files.values():
            file.unlink()
    assert not found.folder.exists()


def test_where_the_second_version_does_not_let_groups_bound_memory_there_is_none(tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu\n")
    with Bound.over("test", 64 << 20, mounted=tmp_path) as found:
        assert found is None
    assert [file.name for file in tmp_path.iterdir()] == ["cgroup.subtree_control"]


# ---- what grows ----------------------------------------------------------------------------------


def test_a_leak_is_a_slope_and_a_jump_of_the_moment_is_none():
    noise = [100 + number * 7 % 5 for number in range(1000)]
    assert not slope.of(noise).grows(0.05)
    assert slope.of([it + number * 0.05 for number, it in enumerate(noise)]).grows(0.05)
    spikes = [it + (500 if number % 97 == 0 else 0) for number, it in enumerate(noise)]
    assert not slope.of(spikes).grows(0.05)


def test_a_missing_measurement_hides_no_slope_and_an_outage_is_told():
    growing = [100.0 + number / 2 for number in range(1000)]
    growing[500] = float("nan")
    assert slope.of(growing).grows(0.05)
    steady = [{TIME: float(number), "delay 50 % ms": 1.0} for number in range(1000)]
    assert judge(steady).wrong == []
    for row in steady[500:600]:
        row["delay 50 % ms"] = float("nan")
    (said,) = judge(steady).wrong
    assert "no measurement" in said


def test_what_fills_at_the_beginning_is_no_slope():
    assert not slope.of([min(100, number) for number in range(1000)]).grows(0.05)


def test_what_grows_is_named():
    rows = [
        {TIME: float(number), "s1 MiB": 30 + number / 10, "delay 50 % ms": 50 + number / 10}
        for number in range(200)
    ]
    named = [sentence.partition(" grows")[0] for sentence in judge(rows).wrong]
    assert named == ["s1 MiB", "delay 50 % ms"]
    falling = [{TIME: float(it), "TCP Mb/s": 20.0 - it / 50} for it in range(200)]
    assert "TCP Mb/s falls" in judge(falling).wrong[0]


def held_up(row):
    """A sample during which the machine held a router up, and delays were long."""
    return {**row, HELD_UP: 5.0, "delay 50 % ms": 900.0}


def test_delays_are_judged_by_the_samples_in_which_the_machine_was_calm():
    calm = [{TIME: float(it), HELD_UP: 0.0, "delay 50 % ms": 50.0} for it in range(1000)]
    # Busy towards the end, but for one sample of five.
    busy = calm[:500] + [row if row[TIME] % 5 == 0 else held_up(row) for row in calm[500:]]
    assert judge(busy) == judge(calm)
    # In a part of the time always.
    always = calm[:500] + [held_up(row) for row in calm[500:]]
    assert judge(always).unjudged == ["delay 50 % ms"] and judge(always).wrong == []
    # A sample without a figure counts as held up; growth of memory has no excuse.
    silent = [{**row, HELD_UP: float("nan"), "s1 MiB": 30 + row[TIME]} for row in calm]
    assert judge(silent).unjudged == ["delay 50 % ms"]
    assert judge(silent).wrong[0].startswith("s1 MiB grows")


# ---- a soak that ends early ----------------------------------------------------------------------


def leaking(series, count):
    """A run that measures a leak, and ends."""
    for number in range(count):
        series.add({TIME: 10.0 * number, "s1 MiB": 30.0 + number})


@pytest.mark.parametrize(
    ("end", "word"),
    [
        (KeyboardInterrupt(), "before its time"),
        (SystemExit(143), "before its time"),
        (LawError("the books of s1 do not balance."), "books of s1"),
        (RequestError("the router does not tell: Deadline Exceeded."), "Deadline Exceeded"),
        (TopologyError("s1 has ended"), "s1 has ended"),
    ],
)
def test_what_was_measured_is_judged_and_drawn_however_the_run_ends(tmp_path, capsys, end, word):
    def run(series):
        leaking(series, 100)
        raise end

    assert soak.told(run, Series(tmp_path)) == 1
    said = capsys.readouterr()
    assert word in said.err and "s1 MiB grows" in said.err
    assert "129.0 at the end" in said.out
    assert (tmp_path / "soak.svg").exists()
    assert len((tmp_path / "soak.csv").read_text().splitlines()) == 101


def test_a_run_in_which_nothing_grew_fails_all_the_same_where_something_did_not_hold(tmp_path):
    def run(series):
        for number in range(100):
            series.add({TIME: float(number), "s1 MiB": 30.0})
        raise LawError("the books of s1 do not balance.")

    assert soak.told(run, Series(tmp_path)) == 1


def test_a_run_that_ended_at_once_says_that_it_tells_nothing(tmp_path, capsys):
    assert soak.told(lambda series: leaking(series, 0), Series(tmp_path)) == 1
    assert "nothing was measured" in capsys.readouterr().err
    assert soak.told(lambda series: leaking(series, 3), Series(tmp_path)) == 1
    assert "too few" in capsys.readouterr().err


def test_a_network_in_virtual_time_is_soaked_with_all_that_goes_on_in_it(tmp_path):
    series = Series(tmp_path)
    soak_virtual.run(tmp_path, 30, series, samples=5)
    assert [row[TIME] for row in series.rows] == [6, 12, 18, 24, 30]
    last = series.rows[-1]
    # The line has 1.5 Mb/s, less what others send and what headers take; its queue of 100 packets.
    assert 1.1 < last["TCP Mb/s"] < 1.5
    assert 100 < last["delay mean ms"] < 1000
    # The one that lasts, at both of its ends, and short ones that have come and gone.
    assert last["connections"] > 2


def test_a_soak_in_virtual_time_ends_where_a_table_is_not_what_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(Churn, "check", lambda churn: "the table lacks an entry")
    with pytest.raises(LawError, match="s1: the table lacks an entry"):
        soak_virtual.run(tmp_path, 30, Series(tmp_path), samples=5)


# ---- routers that have no time -------------------------------------------------------------------


class DeadlineExceeded(grpc.RpcError):
    def code(self):
        return grpc.StatusCode.DEADLINE_EXCEEDED


def no_time():
    raise RequestError("the device refused a read: Deadline Exceeded.") from DeadlineExceeded()


class Busy:
    """A session of a router that answers one read of two, and a batch never in time."""

    def __init__(self):
        self.reads = 0

    def read(self, table):
        self.reads += 1
        return no_time() if self.reads % 2 else []

    def replace(self, present, wanted):
        raise ConnectError("no answer within 30 s")


def test_a_router_that_has_no_time_to_answer_has_refused_nothing():
    churn = Churn(Busy())
    for _ in range(5):
        churn.batch()
    assert churn.wrong == [] and churn.batches == 0


def test_a_churn_does_not_end_without_a_word():
    class Broken(Busy):
        def replace(self, present, wanted):
            raise OSError("no such thing")

    churn = Churn(Broken())
    with churn.going_on():
        wait.until(lambda: churn.wrong, "a word", 60)
    assert churn.wrong == ["the churn ended: OSError('no such thing')"]


class Books:
    """Describes a router's books at the second request."""

    def __init__(self, balanced):
        self.asked, self.balanced = 0, balanced
        self.books = self

    def describe(self):
        self.asked += 1
        return no_time() if self.asked == 1 else self


def books_of(queues):
    network = types.SimpleNamespace(routers=["s1"], queues={"s1": queues})
    asking = object.__new__(Laws)
    asking.network = network
    asking.check_books()


def test_who_has_no_time_to_tell_of_books_is_asked_again():
    slow = Books(balanced=True)
    books_of(slow)
    assert slow.asked == 2
    with pytest.raises(LawError, match="the books of s1 do not balance"):
        books_of(Books(balanced=False))


def test_a_process_holds_what_it_opens(tmp_path):
    before = Holdings.of(os.getpid())
    with (tmp_path / "one").open("w"), (tmp_path / "two").open("w"):
        assert Holdings.of(os.getpid()).descriptors >= before.descriptors + 2


def test_a_router_that_keeps_what_clients_made_it_take_is_found(monkeypatch):
    held = [Holdings(50 << 20, 10, 10), Holdings(300 << 20, 10, 10)]
    network = types.SimpleNamespace(routers=["s1"], pid=lambda router: 7)
    keeping = object.__new__(Laws)
    keeping.network, keeping.first, keeping.ours = network, {}, Holdings(1 << 30, 1000, 1000)
    monkeypatch.setattr(laws, "_SETTLE_S", 0.0)
    monkeypatch.setattr(laws.Holdings, "of", lambda pid: held[0])
    keeping.check_holdings()
    monkeypatch.setattr(laws.Holdings, "of", lambda pid: held[1])
    with pytest.raises(LawError, match="the memory of s1.*300 MiB and had 50"):
        keeping.check_holdings()
