"""The instruments of the virtual world: applications of its hosts, and time that we let pass."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vitrine.v1 import world_pb2

from apps.domain import Domain
from controller.world import PS_PER_S, World
from labs.bench import (
    FIRST_BURST_PORT,
    FIRST_IPERF_PORT,
    PAGE_PORT,
    PING_INTERVAL_S,
    FlowPlan,
    Instruments,
    port_name,
)
from labs.errors import MeasurementError
from labs.measure.datagrams import Bursts
from labs.measure.iperf import Result
from labs.measure.page import Fetch
from labs.measure.ping import Echo, Pings
from labs.narration import Narrator
from labs.view import LiveView
from labs.worlds.virtual import telemetry
from labs.worlds.virtual.recorder import VirtualRecorder
from labs.worlds.virtual.told import DatagramWatch, SocketWatch
from topo.model import Topology

NS_PER_S = 1_000_000_000
PS_PER_MS = 1_000_000_000
# How far time passes between two looks at what has been recorded.
STEP_S = 0.5
# Programs that are started together begin at random instants of this span.
START_SPREAD_S = 0.005
# As long as what the live world's reader sends.
PAGE_REQUEST_BYTES = 120
FETCH_DEADLINE_S = 240.0
# A flow that cannot end: its peer would have had to come back from a cut cable by now.
END_DEADLINE_S = 600.0


@dataclass(frozen=True)
class _StartedFlow:
    plan: FlowPlan
    peer: str
    app: int


@dataclass(frozen=True)
class _StartedBursts:
    source: str
    target: str
    burst: int
    sending: int
    counting: int


class VirtualInstruments(Instruments):
    """The instruments of a lab's run while it is recorded."""

    def __init__(
        self,
        world: World,
        topology: Topology,
        narrator: Narrator,
        view: LiveView,
        recorders: Mapping[str, VirtualRecorder],
        ports: Sequence[tuple[str, int]],
        *,
        sockets: SocketWatch | None,
        reports: DatagramWatch | None,
        domain: Domain | None,
        zero_ps: int,
        seed: int,
    ) -> None:
        series = {port_name(*port): recorders[port[0]].series[port[1]] for port in ports}
        super().__init__(narrator, view, series[port_name(*ports[0])])
        self._world = world
        self._topology = topology
        self._recorders = recorders
        self._sockets = sockets
        self._reports = reports
        self._domain = domain
        self._zero_ps = self._now_ps = zero_ps
        self._chance = random.Random(seed)
        self._flows: list[_StartedFlow] = []
        self._pings: list[tuple[str, int]] = []
        self._pages: dict[str, world_pb2.Exchange] = {}
        self._bursts: dict[str, _StartedBursts] = {}
        self.recording.ports = series
        self.recording.sockets = sockets.samples if sockets is not None else {}

    # ---- doing things ----------------------------------------------------------------------------

    def flows(self, plans: Sequence[FlowPlan], *, seconds: int) -> None:
        """Starts TCP flows at one instant, give or take what starting a program takes."""
        for plan in plans:
            port = FIRST_IPERF_PORT + len(self._flows)
            listener = world_pb2.Listener(port=port)
            if plan.pause_s is not None:
                after_s, span_s = plan.pause_s
                listener.pause_after_ns = round(after_s * NS_PER_S)
                listener.pause_ns = round(span_s * NS_PER_S)
            self._world.start(plan.target, world_pb2.App(listener=listener))
            bulk = world_pb2.Bulk(
                to=world_pb2.Peer(host=plan.target, port=port),
                after_ns=round(self._chance.uniform(0, START_SPREAD_S) * NS_PER_S),
                span_ns=seconds * NS_PER_S,
                congestion_control=plan.congestion,
                pacing_rate_bps=plan.pacing_bps or 0,
            )
            app = self._world.start(plan.source, world_pb2.App(bulk=bulk))
            peer = f"{self._topology.host(plan.target).address.ip}:{port}"
            self._flows.append(_StartedFlow(plan, peer, app))

    def ping(
        self,
        name: str,
        source: str,
        target: str,
        *,
        seconds: float,
        interval_s: float = PING_INTERVAL_S,
    ) -> None:
        """Starts a ping; what several of one name see is one list."""
        ping = world_pb2.Ping(
            to=target,
            interval_ns=round(interval_s * NS_PER_S),
            count=max(1, round(seconds / interval_s)),
        )
        self._pings.append((name, self._world.start(source, world_pb2.App(ping=ping))))

    def serve_page(self, host: str, length_bytes: int) -> None:
        """Lets a host serve a web page of this length."""
        exchange = world_pb2.Exchange(request_bytes=PAGE_REQUEST_BYTES, response_bytes=length_bytes)
        listener = world_pb2.Listener(port=PAGE_PORT, answers=exchange)
        self._world.start(host, world_pb2.App(listener=listener))
        self._pages[host] = exchange

    def fetch(self, reader: str, server: str) -> Fetch:
        """Fetches the page of a server and returns once it is there."""
        page = world_pb2.Page(exchange=self._pages[server], count=1)
        getattr(page, "from").add(host=server, port=PAGE_PORT)
        app = self._world.start(reader, world_pb2.App(page=page))
        self._pass_until_ended([app], f"the fetch of the page of {server}", FETCH_DEADLINE_S)
        found = self._world.report(app).page
        if not found.fetched:
            raise MeasurementError(f"the page of {server} could not be fetched.")
        (whole,) = found.fetched
        fetched = Fetch(
            start_s=self._seconds(whole.began_ps),
            first_byte_s=self._seconds(whole.first_byte_ps),
            end_s=self._seconds(whole.ended_ps),
            received_bytes=whole.received_bytes,
        )
        self.recording.pages.append(fetched)
        return fetched

    def send_bursts(
        self,
        name: str,
        source: str,
        target: str,
        *,
        size_bytes: int,
        burst: int,
        offsets_s: Sequence[float],
        start_s: float | None = None,
    ) -> None:
        """Sends `count` datagrams at once, at each of these offsets from now."""
        ahead_s = 0.0 if start_s is None else start_s - self.now_s()
        port = FIRST_BURST_PORT + len(self._bursts)
        sink = world_pb2.DatagramSink(port=port)
        volleys = world_pb2.DatagramSource.Volleys(
            datagrams=burst,
            at_ns=[round((ahead_s + offset_s) * NS_PER_S) for offset_s in offsets_s],
        )
        sender = world_pb2.DatagramSource(
            to=world_pb2.Peer(host=target, port=port), payload_bytes=size_bytes, volleys=volleys
        )
        counting = self._world.start(target, world_pb2.App(datagram_sink=sink))
        sending = self._world.start(source, world_pb2.App(datagram_source=sender))
        self._bursts[name] = _StartedBursts(source, target, burst, sending, counting)

    def hold(self, seconds: float) -> None:
        """Lets time pass, and shows what happens meanwhile."""
        end_ps = self._now_ps + round(seconds * PS_PER_S)
        while self._now_ps < end_ps:
            self._pass(min(round(STEP_S * PS_PER_S), end_ps - self._now_ps))

    def finish(self) -> None:
        """Waits for everything to end by itself and reads what it found."""
        running = [flow.app for flow in self._flows] + [app for _, app in self._pings]
        running += [bursts.sending for bursts in self._bursts.values()]
        self._pass_until_ended(running, "what was started", END_DEADLINE_S)
        if self._bursts or self._domain is not None:
            self._pass_until_empty()
        self._view.erase()
        for flow in self._flows:
            self._read_flow(flow)
        for name, app in self._pings:
            self._keep_ping(name, self._read_ping(app))
        for name, bursts in self._bursts.items():
            self.recording.bursts[name] = self._read_bursts(bursts)
        if self._reports is not None and self._domain is not None:
            self.recording.reports = telemetry.reports(
                self._reports.datagrams, self._domain, self._zero_ps
            )
        self._check_series()

    def now_s(self) -> float:
        """This instant on the recording's clock."""
        return self._seconds(self._now_ps)

    # ---- time ------------------------------------------------------------------------------------

    def _pass(self, span_ps: int, stops: Sequence[world_pb2.Stop] = ()) -> bool:
        """Lets time pass and reads the events; whether a stop ended it."""
        stand = self._world.advance(span_ps, stops=stops)
        passed_s = (stand.time_ps - self._now_ps) / PS_PER_S
        self._now_ps = stand.time_ps
        for watch in (self._sockets, self._reports):
            if watch is not None:
                watch.wait_for(self._now_ps)
        for recorder in self._recorders.values():
            recorder.wait_for(self._now_ps)
        self._look()
        self._narrator.advanced(passed_s)
        return stand.stop is not None

    def _pass_until_ended(self, apps: Sequence[int], what: str, deadline_s: float) -> None:
        stop = world_pb2.Stop(apps_ended=world_pb2.Stop.AppsEnded(apps=apps))
        end_ps = self._now_ps + round(deadline_s * PS_PER_S)
        while not self._pass(round(STEP_S * PS_PER_S), [stop]):
            if self._now_ps > end_ps:
                raise MeasurementError(f"{what} did not end within {deadline_s:g} s.")

    def _pass_until_empty(self) -> None:
        """Until nothing is under way any more."""
        end_ps = self._now_ps + round(END_DEADLINE_S * PS_PER_S)
        while self._world.look().books.under_way:
            if self._now_ps > end_ps:
                raise MeasurementError("the routers' queues did not become empty.")
            self._pass(round(STEP_S * PS_PER_S))

    def _seconds(self, time_ps: int) -> float:
        return (time_ps - self._zero_ps) / PS_PER_S

    # ---- reading ---------------------------------------------------------------------------------

    def _read_flow(self, flow: _StartedFlow) -> None:
        found = self._world.report(flow.app).bulk
        if found.failed:
            raise MeasurementError(f"the flow {flow.plan.name} found no way to its target.")
        span_s = (found.ended_ps - found.began_ps) / PS_PER_S
        result = Result(found.acked_bytes * 8 / span_s, found.acked_bytes, found.retransmits)
        self._keep_flow(flow.plan, result, flow.peer)

    def _read_ping(self, app: int) -> Pings:
        found = self._world.report(app).ping
        if found.forgotten:
            raise MeasurementError(
                f"a ping was answered {found.forgotten} times more often than its report keeps."
            )
        echoes = (
            Echo(self._seconds(echo.sent_ps), echo.rtt_ps / PS_PER_MS) for echo in found.echoes
        )
        return Pings(found.sent, tuple(echoes))

    def _read_bursts(self, bursts: _StartedBursts) -> Bursts:
        sent = self._world.report(bursts.sending).datagram_source
        counted = self._world.report(bursts.counting).datagram_sink
        return Bursts(
            source=bursts.source,
            target=bursts.target,
            sent_s=tuple(map(self._seconds, sent.volleys_ps)),
            sent=sent.sent,
            received=sum(flow.received for flow in counted.flows),
        )
