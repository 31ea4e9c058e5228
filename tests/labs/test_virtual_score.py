"""Telemetry systems in a network in virtual time, against the true queue."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import replace

import pytest
from vitrine.v1 import world_pb2

from controller.entries import Call, Entry, Lpm
from controller.queueing import BitShaper, PortSettings, RouterSettings
from controller.queues import Queues
from controller.toolchain import ROOT
from labs.errors import SettingError
from labs.score import board, command, network, table
from labs.score.claim import Claim
from labs.score.flow import Flow
from labs.score.line import Line
from labs.score.network import BOTTLENECK
from labs.score.run import Bench
from labs.score.system import System
from labs.score.systems import named, source, systems
from labs.score.systems.dapper import NETWORK, RECEIVER, SENDER, Dapper
from labs.score.systems.int_md import IntMd
from labs.score.systems.netseer import NetSeer
from labs.score.systems.polling import EveryMs
from labs.score.systems.postcards import Postcards
from labs.score.systems.spidermon import SpiderMon
from labs.score.workloads import WORKLOADS, Workload, volley
from topo.model import TcpBuffer, TcpSettings

PORT = 6001
PAGE = (ROOT / "docs" / "telemetry-score.md").read_text()
MS = 10**9


def _two_bursts(rng):
    """At 0.9 ms h1 sends 40 packets and h2 sends 20, at ten times the bottleneck's rate."""
    del rng
    yield volley("h1", 900_000, 40, PORT)
    yield volley("h2", 900_000, 20, PORT)


TWO_BURSTS = Workload("two-bursts", "two hosts at once", _two_bursts)
# Without flows, only where packets are dropped, or only TCP.
BLIND = {"polling-1s", "polling-100ms", "polling-1ms", "drops", "dapper"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with Bench(tmp_path_factory.mktemp("score") / "world.log") as bench:
        yield bench


class EachPacket(Postcards):
    """Reports every packet, and remembers the reports."""

    name = ""
    program = str(source(Postcards))
    seen: list = []  # noqa: RUF012

    def install(self, device):
        device.write("threshold_bytes", 0)

    def take(self, report):
        self.seen.append(report)


class EachHop(IntMd):
    """INT-MD that remembers its reports."""

    name = ""
    seen: list = []  # noqa: RUF012

    def take(self, report):
        self.seen.append(report)


@pytest.mark.parametrize("system", [EachPacket, EachHop])
def test_each_report_has_the_true_depth_and_wait_of_its_packet(bench, system):
    system.seen.clear()
    run = bench.run(system, WORKLOADS["microburst"], 1)
    departed = {packet.departed_ps // 1000: packet for packet in run.truth.packets}
    depths = {
        change.time_ps // 1000: change.bytes for change in run.truth.changes if not change.entered
    }
    assert len(system.seen) == len(run.truth.packets) > 2000
    for report in system.seen:
        packet = departed[report.time_ps // 1000]
        assert report.flow == packet.flow
        assert report.depth_bytes == depths[report.time_ps // 1000]
        # Both ends of the wait are cut to a nanosecond.
        assert abs(report.wait_ps - packet.wait_ps) < 1000


def test_what_a_packet_found_is_what_it_waited_for(bench):
    """The bytes ahead, and the rest of the frame on the line, take the line exactly its wait."""
    run = bench.run(EachPacket, TWO_BURSTS, 1)
    frame_ps = (1400 + 42) * 8 * 1000
    for packet in run.truth.packets:
        ahead = run.truth.ahead(packet)
        assert sum(each.length_bytes for each in ahead) == packet.found_bytes
        assert len(ahead) * frame_ps <= packet.wait_ps <= (len(ahead) + 1) * frame_ps


def test_a_poll_reads_the_depth_of_its_instant(bench):
    run = bench.run(EveryMs, TWO_BURSTS, 1)
    (claim,) = run.claims
    # The first frame is there 1.2 us after its sending began; a frame takes the line 11.5 us. So at
    # 1 ms the ninth of 60 is on the line.
    assert (claim.begin_ps, claim.end_ps, claim.detected_ps) == (0, 2 * MS, 1 * MS)
    assert claim.peak_bytes == (60 - 9) * 1442
    assert claim.culprits is None
    # Fifty polls of 16 bytes.
    assert run.cost.read_bytes == 16 * 50


@pytest.mark.parametrize("name", sorted(systems().keys() - BLIND))
def test_two_bursts_in_an_empty_network_are_found_with_both_flows_and_no_other(bench, name):
    run = bench.run(named(name), TWO_BURSTS, 1)
    (buildup,) = run.buildups
    assert {flow.source & 0xFF00 for flow in buildup.culprits} == {0x0100, 0x0200}
    assert (run.score.buildups.recall, run.score.flows.recall) == (1.0, 1.0)
    assert (run.score.buildups.precision, run.score.flows.precision) == (1.0, 1.0)


def test_the_example_of_the_documentation_runs(bench, tmp_path):
    blocks = dict(re.findall(r"```(p4|python)\n(.*?)```", PAGE.partition("of your own")[2], re.S))
    (tmp_path / "waits.p4").write_text(blocks["p4"])
    (tmp_path / "waits.py").write_text(blocks["python"])
    run = bench.run(named(f"{tmp_path}/waits.py"), TWO_BURSTS, 1)
    assert (run.score.buildups.recall, run.score.flows.precision) == (1.0, 1.0)


FOREIGN_P4 = """\
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> to; bit<48> by; bit<16> kind; }
header ipv4_t { bit<8> version; bit<6> dscp; bit<2> ecn; bit<112> rest; bit<32> to; }
struct headers { ethernet_t ethernet; ipv4_t ipv4; }
struct metadata { }
parser parse(packet_in p, out headers hdr, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(hdr.ethernet); p.extract(hdr.ipv4); transition accept; }
}
control check(inout headers hdr, inout metadata m) { apply { } }
control forward(inout headers hdr, inout metadata m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    table hosts { key = { hdr.ipv4.to: lpm; } actions = { send; NoAction; } }
    apply { hosts.apply(); }
}
control leave(inout headers hdr, inout metadata m, inout standard_metadata_t s) {
    apply {
        if (s.instance_type == 0 && s.deq_qdepth > 30) {
            hdr.ipv4.ecn = 3;
            clone(CloneType.E2E, 7);
        }
    }
}
control write(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(parse(), check(), forward(), leave(), check(), write()) main;
"""


class Foreign(System):
    """A program of somebody else's: its own tables, whole packets as reports, and ECN's mark."""

    name = "foreign"
    summary = ""
    report_session = 7
    routing = "hosts"
    marks = True

    def __init__(self, question):
        super().__init__(question)
        self.frames, self.marked = [], []

    def write_tables(self, session, routes):
        for route in routes:
            match = {"hdr.ipv4.to": Lpm(route.prefix.network_address, route.prefix.prefixlen)}
            session.insert([Entry("hosts", match, Call("send", port=route.hops[0].port))])

    def report_of(self, frame, known_ps):
        self.frames.append((Flow.of_head(frame), known_ps))

    def take_mark(self, flow, known_ps):
        self.marked.append((flow, known_ps))

    def claims(self):
        assert len(self.frames) == len(self.marked) > 0
        return [Claim(0, self.marked[-1][1], self.frames[0][1], None, Counter(dict(self.frames)))]


def test_a_foreign_program_with_tables_reports_and_marks_of_its_own_is_scored(bench, tmp_path):
    (tmp_path / "foreign.p4").write_text(FOREIGN_P4)
    kind = type("Own", (Foreign,), {"program": str(tmp_path / "foreign.p4")})
    run = bench.run(kind, TWO_BURSTS, 1)
    assert (run.score.buildups.recall, run.score.flows.recall) == (1.0, 1.0)
    # Its table routes, and it has no other memory.
    assert run.cost.memory.kib == 0
    with pytest.raises(SettingError, match="foreign: a frame of 1442 bytes came to the controller"):
        bench.run(type("Own", (kind,), {"report_of": System.report_of}), TWO_BURSTS, 1)


def test_telemetry_that_is_lost_is_not_seen(bench):
    whole = bench.run(Postcards, TWO_BURSTS, 1)
    EachPacket.seen.clear()
    half = bench.run(EachPacket, TWO_BURSTS, 1, lost=0.5)
    assert 15 < len(EachPacket.seen) < 45
    assert half.truth.packets[-1].departed_ps == whole.truth.packets[-1].departed_ps


def test_a_run_repeats_to_the_last_number(bench):
    first, second = (bench.run(named("conquest"), WORKLOADS["incast"], 3) for _ in range(2))
    assert (first.score, first.cost, first.buildups) == (second.score, second.cost, second.buildups)
    assert first.score != bench.run(named("conquest"), WORKLOADS["incast"], 4).score


def test_memory_counts_registers_and_tables_beyond_those_of_a_router(bench):
    """By hand: 16 bits of main.p4, 32 of the threshold; BurstRadar's bytes are 32 more."""
    bits = {
        name: bench.run(named(name), TWO_BURSTS, 1).cost.memory.register_bits
        for name in ("postcards", "burstradar", "polling-1s")
    }
    assert bits == {"postcards": 48, "burstradar": 80, "polling-1s": 0}
    assert bench.run(named("int-md"), TWO_BURSTS, 1).cost.memory.register_bits > 0


def test_the_bottleneck_is_a_port_of_the_router():
    assert network.topology(Line()).switch(network.ROUTER).port(BOTTLENECK[0]).queue_packets == 100


@pytest.mark.nightly
def test_the_command_writes_the_same_bytes_each_time(tmp_path, capsys):
    for folder in ("once", "again"):
        systems, out = ["postcards", "polling-1ms"], tmp_path / folder
        command.score(systems, "incast", "2", None, out, believed=True)
    once, again = (
        {file.name: file.read_bytes() for file in sorted((tmp_path / folder).iterdir())}
        for folder in ("once", "again")
    )
    assert once == again
    names = [f"telemetry-scoreboard.{ending}" for ending in ("csv", "md", "svg")]
    assert sorted(once) == ["telemetry-beliefs-incast.svg", *names]
    page = once["telemetry-scoreboard.md"].decode()
    assert page in capsys.readouterr().out
    assert [line.split(" | ")[0] for line in page.splitlines()][-2:] == [
        "| postcards",
        "| polling-1ms",
    ]


# ---- faster lines, pauses ------------------------------------------------------------------------


@pytest.mark.parametrize("workload", ["incast", "microburst"])
def test_on_a_faster_line_the_same_queue_passes_as_much_faster(bench, workload):
    slow, fast = (
        bench.run(Postcards, WORKLOADS[workload], 1, line=Line(faster)) for faster in (1, 100)
    )
    assert [each.culprits for each in fast.buildups] == [each.culprits for each in slow.buildups]
    for one, other in zip(slow.buildups, fast.buildups, strict=True):
        assert other.peak_bytes == one.peak_bytes
        # Sending times are whole nanoseconds.
        assert abs(100 * other.peak_ps - one.peak_ps) <= 100 * 1000
    assert fast.score.flows == slow.score.flows


@pytest.mark.parametrize("name", ["conquest", "countmin", "printqueue", "spidermon", "netseer"])
def test_on_a_faster_line_a_system_finds_the_same_burst(bench, name):
    run = bench.run(named(name), TWO_BURSTS, 1, line=Line(10))
    assert (run.score.buildups.recall, run.score.flows.recall) == (1.0, 1.0)


def test_a_fast_line_is_too_fast_for_a_poll_each_millisecond(bench):
    run = bench.run(EveryMs, WORKLOADS["incast"], 1, line=Line(100))
    assert len(run.buildups) > 5
    assert run.claims == []


def test_a_queue_is_paused_by_its_shaper_and_by_nothing_else(bench):
    for system in (Postcards, IntMd):
        assert bench.run(system, WORKLOADS["incast"], 1).pauses == []
    run = bench.run(Shaped, TWO_BURSTS, 1)
    # At half of the line's rate it is silent after each frame as long as the frame took.
    frame_ps = (1400 + 42) * 8 * 1000
    assert [each.end_ps - each.begin_ps for each in run.pauses] == [frame_ps] * 59
    assert run.path_changes == []


class Shaped(Postcards):
    """Postcards of a queue that is shaped to half of its line."""

    name = ""
    program = str(source(Postcards))

    def install(self, device):
        super().install(device)
        shaper = BitShaper(500_000_000)
        Queues(device._session).configure(RouterSettings({20: PortSettings(shaper=shaper)}))


# ---- systems over both routers, of events and of connections -------------------------------------


class EachTrace(SpiderMon):
    """Traces each flow in each epoch, however short it waited, and remembers the traces."""

    name = ""
    program = str(source(SpiderMon))
    seen: list = []  # noqa: RUF012

    def install_sink(self, device):
        device.write("threshold", 0)

    def take(self, report):
        super().take(report)
        self.seen.append(report)


def test_a_trace_brings_back_the_wait_of_a_packet_of_its_flow(bench):
    EachTrace.seen.clear()
    run = bench.run(EachTrace, TWO_BURSTS, 1)
    # The wait is carried in units of 256 ns; the second router adds none.
    waits = {(each.flow, each.wait_ps // 256_000) for each in run.truth.packets}
    assert len(EachTrace.seen) >= 2
    for trace in EachTrace.seen:
        assert (trace.flow, trace.wait_ps // 256_000) in waits
    # 0.9 ms is in the first epoch of 1.05 ms: both flows have a record and a trace there.
    assert {each.flow for each in EachTrace.seen} == {each.flow for each in run.truth.packets}
    assert sum(claim.culprits.total() for claim in run.claims) >= 60


class EachEvent(NetSeer):
    """Remembers its reports."""

    name = ""
    program = str(source(NetSeer))
    seen: list = []  # noqa: RUF012

    def take(self, report):
        super().take(report)
        self.seen.append(report)


def _overflow(rng):
    """150 packets at once: more than the queue holds."""
    del rng
    yield volley("h1", 900_000, 150, PORT)


def test_flow_events_are_reported_at_one_two_four_packets_of_each_kind(bench):
    EachEvent.seen.clear()
    run = bench.run(EachEvent, Workload("overflow", "too many at once", _overflow), 1)
    window_ns = 1 << 20
    events = Counter()
    for packet in run.truth.packets:
        if packet.dropped_ps is not None:
            events["dropped", packet.dropped_ps // 1000 // window_ns] += 1
        # 30 kB at 1 Gb/s.
        elif packet.wait_ps >= 240 * 10**6:
            events["congested", packet.departed_ps // 1000 // window_ns] += 1
    assert {kind for kind, _ in events} == {"dropped", "congested"}
    due = sorted(
        (kind, window, 1 << power)
        for (kind, window), packets in events.items()
        for power in range(packets.bit_length())
    )
    kinds = {True: "congested", False: "dropped"}
    assert due == sorted(
        (kinds[each.reason == 255], each.time_ps // 1000 // window_ns, each.packets)
        for each in EachEvent.seen
    )


class EachBlame(Dapper):
    """Remembers its reports."""

    name = ""
    program = str(source(Dapper))
    seen: list = []  # noqa: RUF012

    def take(self, report):
        super().take(report)
        self.seen.append(report)


def _one_connection(**limits):
    def apps(rng):
        del rng
        to = world_pb2.Peer(host="r1", port=7001)
        yield "h1", world_pb2.App(bulk=world_pb2.Bulk(to=to, span_ns=40_000_000, **limits))

    return Workload("one connection", "one connection", apps)


def _blamed():
    """Packets by what their connection is said to be limited by."""
    packets = Counter()
    for report in EachBlame.seen:
        packets[report.reason] += report.packets
    EachBlame.seen.clear()
    return packets


def test_a_connection_is_said_to_be_limited_by_what_limits_it(bench, monkeypatch):
    EachBlame.seen.clear()
    bench.run(EachBlame, _one_connection(pacing_rate_bps=50_000_000), 1)
    assert _blamed().keys() == {SENDER}
    # Without a pace its queue is the longest part of a round trip.
    bench.run(EachBlame, _one_connection(), 1)
    blamed = _blamed()
    # Until its window has grown, the receiver limits it as well.
    assert blamed.keys() <= {NETWORK, NETWORK | RECEIVER}
    assert blamed[NETWORK] > 0.9 * blamed.total()
    # With a window of ten segments there is no queue.
    small = TcpBuffer(4096, 32768, 32768)
    whole = network.topology(Line())
    hosts = [
        replace(host, tcp=TcpSettings(rmem=small)) if host.name == "r1" else host
        for host in whole.hosts
    ]
    monkeypatch.setattr(network, "topology", lambda _: replace(whole, hosts=tuple(hosts)))
    bench.run(EachBlame, _one_connection(), 1)
    assert _blamed().keys() == {RECEIVER}


def test_work_is_counted_and_grows_with_what_the_program_does(bench):
    work = {
        name: bench.run(named(name), TWO_BURSTS, 1).cost.steps_per_packet
        for name in ("postcards", "conquest")
    }
    assert 20 < work["postcards"] < work["conquest"]
    assert work["postcards"] == bench.run(Postcards, TWO_BURSTS, 1).cost.steps_per_packet


def test_the_scoreboard_of_the_documentation_is_what_the_command_finds():
    """Of one cheap system; the seeds are those of the whole table."""
    stored = list(csv.DictReader((ROOT / "docs" / f"{command.NAME}.csv").open()))
    assert {(row["system"], row["workload"]) for row in stored} == {
        (system, workload) for system in systems() for workload in WORKLOADS
    }
    own = [
        row for row in stored if (row["system"], row["workload"]) == ("polling-1ms", "adversary")
    ]
    (found,) = board.rows(["polling-1ms"], ["adversary"], int(own[0]["seeds"]))
    assert own == list(csv.DictReader(io.StringIO(table.as_csv([found]))))
