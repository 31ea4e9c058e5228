"""The instruments of the virtual world: what they start, and what they make of reports."""

import io
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from vitrine.v1 import world_pb2

from controller.world import PS_PER_S, Stand
from labs.bench import FlowPlan, port_name
from labs.errors import MeasurementError
from labs.measure.datagrams import Bursts
from labs.measure.iperf import Result
from labs.measure.page import Fetch
from labs.measure.ping import Echo, Pings
from labs.narration import Narrator
from labs.run import Run
from labs.settings import Settings
from labs.view import LiveView
from labs.worlds.virtual.instruments import VirtualInstruments
from labs.worlds.virtual.told import socket_sample
from tests.first_lab import Bottleneck
from tests.labs.saw import SUBJECT, saw

ZERO_S = 2


@dataclass
class ScriptedWorld:
    """Applications end when the script says, with the report that the script has."""

    reports: list = field(default_factory=list)
    ends_s: float = 5.0
    now_ps: int = ZERO_S * PS_PER_S
    started: list = field(default_factory=list)
    under_way: list = field(default_factory=list)

    def start(self, host, app):
        self.started.append((host, app))
        return len(self.started)

    def advance(self, span_ps, *, stops=()):
        end_ps = round(self.ends_s * PS_PER_S)
        before = self.now_ps
        self.now_ps += span_ps
        if stops and self.now_ps >= end_ps:
            self.now_ps = max(before, end_ps)
            return Stand(self.now_ps, 0)
        return Stand(self.now_ps, None)

    def report(self, app):
        return self.reports[app - 1]

    def look(self):
        return world_pb2.LookResponse(
            books=world_pb2.NetworkBooks(under_way=self.under_way.pop(0) if self.under_way else 0)
        )


class Series:
    """A recorder whose samples are there."""

    series: ClassVar = {2: saw(10)}

    def wait_for(self, time_ps):
        self.waited_ps = time_ps


def instruments(world):
    narrator = Narrator([Run("a", "First", 1)], io.StringIO())
    narrator.begin(Run("a", "First", 1))
    return VirtualInstruments(
        world,
        Bottleneck(Settings()).topology(),
        narrator,
        LiveView(SUBJECT, io.StringIO(), lambda: ""),
        {"s1": Series()},
        [("s1", 2)],
        sockets=None,
        reports=None,
        domain=None,
        zero_ps=ZERO_S * PS_PER_S,
        seed=1,
    )


def report(**kind):
    return world_pb2.AppReport(ended=True, **kind)


def test_a_flow_is_a_listener_and_a_transfer_and_becomes_what_iperf_finds():
    bulk = world_pb2.BulkReport(
        acked_bytes=1_000_000, retransmits=3, began_ps=3 * PS_PER_S, ended_ps=7 * PS_PER_S
    )
    world = ScriptedWorld([report(listener={}), report(bulk=bulk)])
    tools = instruments(world)
    tools.flows([FlowPlan("flow", "h1", "h2", "bbr", pacing_bps=5)], seconds=4)
    (receiver, listener), (sender, started) = world.started
    assert (receiver, listener.listener.port, sender) == ("h2", 5201, "h1")
    assert (started.bulk.to.host, started.bulk.to.port) == ("h2", 5201)
    assert (started.bulk.span_ns, started.bulk.congestion_control) == (4_000_000_000, "bbr")
    assert started.bulk.pacing_rate_bps == 5
    # Programs that are started together do not begin at the same instant.
    assert 0 < started.bulk.after_ns < 5_000_000
    tools.finish()
    flow = tools.recording.flows["flow"]
    # 8 Mb in 4 s.
    assert flow.result == Result(2e6, 1_000_000, 3)
    assert tools.now_s() == 3.0
    assert list(tools.recording.ports) == [port_name("s1", 2)]


def test_a_receiver_that_pauses_is_told_when():
    world = ScriptedWorld([report(listener={}), report(bulk={"ended_ps": PS_PER_S})])
    plan = FlowPlan("flow", "h1", "h2", "cubic", pause_s=(2.0, 1.5))
    instruments(world).flows([plan], seconds=4)
    listener = world.started[0][1].listener
    assert (listener.pause_after_ns, listener.pause_ns) == (2_000_000_000, 1_500_000_000)


def test_a_flow_that_finds_no_way_is_an_error():
    world = ScriptedWorld([report(listener={}), report(bulk=world_pb2.BulkReport(failed=1))])
    tools = instruments(world)
    tools.flow("flow", "h1", "h2", seconds=4, congestion="reno")
    with pytest.raises(MeasurementError, match="the flow flow found no way to its target"):
        tools.finish()


def test_pings_are_dated_from_the_start_of_the_recording_and_go_on():
    echo = world_pb2.Echo(number=0, sent_ps=3 * PS_PER_S, rtt_ps=20_500_000_000)
    ping = report(ping=world_pb2.PingReport(sent=2, echoes=[echo]))
    world = ScriptedWorld([ping, ping])
    tools = instruments(world)
    for _ in range(2):
        tools.ping("ping", "h1", "h2", seconds=4)
    assert world.started[0][1].ping.count == 20
    tools.finish()
    assert tools.recording.pings["ping"] == Pings(4, (Echo(1.0, 20.5), Echo(1.0, 20.5)))


def test_a_page_is_fetched_from_the_host_that_serves_it():
    times = {"began_ps": 3, "first_byte_ps": 4, "ended_ps": 5}
    fetched = world_pb2.Fetched(
        **{name: second * PS_PER_S for name, second in times.items()}, received_bytes=1000
    )
    world = ScriptedWorld(
        [report(listener={}), report(page=world_pb2.PageReport(fetched=[fetched]))]
    )
    tools = instruments(world)
    tools.serve_page("h1", 1000)
    assert tools.fetch("h2", "h1") == Fetch(1.0, 2.0, 3.0, 1000)
    (server, listener), (reader, page) = world.started
    assert (server, reader) == ("h1", "h2")
    assert listener.listener.answers.response_bytes == 1000
    (asked,) = getattr(page.page, "from")
    assert (asked.host, asked.port) == ("h1", 80)


def test_bursts_are_counted_where_they_arrive_once_nothing_is_under_way():
    flow = world_pb2.DatagramFlow(received=90)
    sink = report(datagram_sink=world_pb2.DatagramSinkReport(flows=[flow]))
    volleys = [3 * PS_PER_S, 4 * PS_PER_S]
    source = report(datagram_source=world_pb2.DatagramSourceReport(sent=100, volleys_ps=volleys))
    world = ScriptedWorld([sink, source], under_way=[7, 1])
    tools = instruments(world)
    tools.send_bursts("h1", "h1", "h2", size_bytes=1200, burst=50, offsets_s=[1.0, 2.0])
    sent = world.started[1][1].datagram_source
    assert list(sent.volleys.at_ns) == [1_000_000_000, 2_000_000_000]
    assert sent.volleys.datagrams == 50
    tools.finish()
    assert tools.recording.bursts["h1"] == Bursts("h1", "h2", (1.0, 2.0), 100, 90)
    assert world.under_way == []


def test_time_passes_in_steps_and_moments_are_on_the_recordings_clock():
    tools = instruments(ScriptedWorld())
    tools.hold(1.2)
    tools.moment("now")
    assert tools.recording.moments == [(1.2, "now")]
    # The queue of the series never holds 60 packets, so the deadline ends it.
    tools.hold_until_queued(60, 2.0)
    assert tools.now_s() == pytest.approx(2.0, abs=0.11)


def test_a_connection_is_what_ss_tells_of_it():
    connection = world_pb2.Connection(
        local="10.0.1.1:40000",
        peer="10.0.2.1:5201",
        congestion="reno",
        cwnd=30,
        mss_bytes=1448,
        rtt_ps=45_000_000_000,
        retrans_total=2,
    )
    sample = socket_sample(connection, 1.5)
    assert (sample.time_s, sample.cwnd_packets, sample.rtt_ms) == (1.5, 30, 45.0)
    # Values that ss leaves out because there are none yet are 0.
    assert (sample.ssthresh_packets, sample.retransmits) == (0, 2)
