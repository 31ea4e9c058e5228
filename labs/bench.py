"""A lab's workbench: networks that are up, and the instruments on them.

    with Bench(logs, narrator) as bench:
        bench.bring_up(topology)
        with bench.recording([("s1", 2)], senders=["h1"]) as instruments:
            flow = instruments.flow("download", "h1", "h2", seconds=20, congestion="reno")
            instruments.hold(5)
            instruments.fetch("h2", server)
            instruments.finish()
        recording = instruments.recording

A network stays up until another one is asked for. `finish` waits until flows and pings have ended
by themselves; leaving the block without it drops them unread.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from apps.domain import Domain
from controller.queueing import Limit
from controller.session import Session
from controller.toolchain import Toolchain
from labs import network, routers
from labs.errors import MeasurementError
from labs.frames import FRAME_BYTES
from labs.measure import holdups, iperf, page, ping
from labs.measure.clock import Clock
from labs.measure.holdups import FELT_S, HoldUps
from labs.measure.router import PortSeries, Recorder
from labs.measure.sockets import Sampler, SocketSample
from labs.narration import Narrator
from labs.recording import Flow, Recording
from labs.view import LiveView, Subject
from topo import wait
from topo.live import LiveHost
from topo.model import Port, Topology
from topo.process import Process
from topo.units import format_rate

SAMPLE_INTERVAL_MS = 1
SOCKET_INTERVAL_S = 0.05
PING_INTERVAL_S = 0.2
REDRAW_S = 0.1
FIRST_IPERF_PORT = 5201
PAGE_PORT = 80
# Only a program that never comes is to end a lab: an emulated machine needs a minute for Python.
START_DEADLINE_S = 90.0
# A queue has to drain and the far end has to answer after a flow's last byte.
END_DEADLINE_S = 60.0
CATCH_UP_DEADLINE_S = 30.0


@dataclass(frozen=True)
class FlowPlan:
    """A TCP flow that is to be."""

    name: str
    source: str
    target: str
    congestion: str
    # The rate to which TCP spaces its packets; None: as fast as its window lets it.
    pacing_bps: int | None = None


@dataclass(frozen=True)
class _StartedFlow:
    plan: FlowPlan
    source: LiveHost
    target: LiveHost
    port: int
    process: Process


class Bench:
    """The network of the moment, with its routers programmed."""

    def __init__(
        self, logs: Path, narrator: Narrator, toolchain: Toolchain = Toolchain.VITRINE
    ) -> None:
        self._logs = logs
        self._toolchain = toolchain
        self.narrator = narrator
        self._network = contextlib.ExitStack()
        self._sessions: Mapping[str, Session] = {}
        # The run of the moment and what it has recorded so far, until it is finished.
        self._run = ""
        self._recording: Recording | None = None

    def begin(self, run: str) -> None:
        """What is recorded from now on belongs to this run."""
        self._run = run

    def has_finished(self) -> None:
        """The run's recording is in other hands."""
        self._recording = None

    @property
    def unfinished(self) -> tuple[str, Recording] | None:
        """The run that something has ended, and what it had recorded until then."""
        return (self._run, self._recording) if self._recording is not None else None

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._network.close()

    def bring_up(self, topology: Topology, domain: Domain | None = None) -> None:
        """Makes this the network; the one that was up before is taken down first.

        With a telemetry domain its routers are nodes of it.
        """
        self._network.close()
        self._network = contextlib.ExitStack()
        self._live, self._sessions = self._network.enter_context(
            network.programmed(
                topology,
                logs=self._logs,
                domain=domain,
                toolchain=self._toolchain,
                program=os.environ.get("PROGRAM"),
            )
        )
        for host in topology.hosts:
            # Linux remembers a path's slow-start threshold; every flow shall begin without memory.
            self.host(host.name).set_kernel("net/ipv4/tcp_no_metrics_save", "1")

    @property
    def topology(self) -> Topology:
        """The network as data."""
        return self._live.topology

    def host(self, name: str) -> LiveHost:
        """A host of the network."""
        return self._live.host(name)

    def session(self, switch: str) -> Session:
        """The P4Runtime session with a router of the network."""
        return self._sessions[switch]

    @contextlib.contextmanager
    def recording(
        self,
        ports: Sequence[tuple[str, int]],
        *,
        senders: Sequence[str],
        interval_ms: int = SAMPLE_INTERVAL_MS,
    ) -> Iterator[Instruments]:
        """Records these ports of routers, and the TCP connections of these hosts.

        The first port is the one that the live view shows.
        """
        routers.look_at(*ports[0])
        clock = Clock.started_now()
        by_switch: dict[str, list[int]] = {}
        for switch, port in ports:
            by_switch.setdefault(switch, []).append(port)
        with contextlib.ExitStack() as stack:
            recorders = {
                switch: stack.enter_context(
                    Recorder(
                        self._live.switch(switch).readings(self._sessions[switch]),
                        clock,
                        ports=numbers,
                        interval_ms=interval_ms,
                    )
                )
                for switch, numbers in by_switch.items()
            }
            samplers = {
                name: stack.enter_context(
                    Sampler(self.host(name), clock, interval_s=SOCKET_INTERVAL_S)
                )
                for name in senders
            }
            view = LiveView(self._subject(*ports[0]), self.narrator.output, self.narrator.left)
            instruments = Instruments(self, clock, recorders, samplers, view, ports, interval_ms)
            self._recording = instruments.recording
            for switch in by_switch:
                instruments.recording.remarks += self._live.switch(switch).remarks
            before_s, began_s = self._held_up_s(), clock.now_s()
            yield instruments
            span_s = clock.now_s() - began_s
            instruments.recording.hold_ups = holdups.worst(
                HoldUps(total_s - before_s[switch], span_s)
                for switch, total_s in self._held_up_s().items()
            )

    def _held_up_s(self) -> dict[str, float]:
        """How long the machine has held each router up since its start."""
        return {
            switch: self._live.switch(switch).readings(session).held_up_s(FELT_S)
            for switch, session in self._sessions.items()
        }

    def _subject(self, switch: str, number: int) -> Subject:
        topology = self._live.topology
        port = topology.switch(switch).port(number)
        rate_bps, each = port.rate_bps or 0, _limit_packets(port)
        toward = _behind(topology, switch, number)
        queues = port.settings.queue_count or 1
        limit = f"queue limit {each}" if queues == 1 else f"{queues} queues of {each}"
        return Subject(
            f"{switch} port {number} toward {toward}: line {format_rate(rate_bps)}, "
            f"{limit} packets",
            rate_bps,
            queues * each,
        )


def _behind(topology: Topology, switch: str, number: int) -> str:
    """The node at the other end of a port's cable."""
    for link in topology.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if (near.node, near.port) == (switch, number):
                return far.node
    raise MeasurementError(f"port {number} of {switch} is on no link.")


def _limit_packets(port: Port) -> int:
    """A queue's limit; one in bytes as so many full frames."""
    every = port.settings.every_queue
    limit = every.limit if every and every.limit else Limit()
    return limit.packets or (limit.bytes or 0) // FRAME_BYTES


def serve_flow(receiver: LiveHost, port: int, name: str) -> None:
    """Starts an iperf3 that serves one flow, and waits until it listens."""
    receiver.start(iperf.server(port), receiver.logs / f"iperf-{name}-server.log")
    wait.until(
        lambda: receiver.listens_on(port), f"iperf3 listening in {receiver.name}", START_DEADLINE_S
    )


class Instruments:
    """What a run of a lab works with while it is recorded."""

    def __init__(
        self,
        bench: Bench,
        clock: Clock,
        recorders: Mapping[str, Recorder],
        samplers: Mapping[str, Sampler],
        view: LiveView,
        ports: Sequence[tuple[str, int]],
        interval_ms: int,
    ) -> None:
        self._bench = bench
        self._clock = clock
        self._recorders = recorders
        self._samplers = samplers
        self._view = view
        self._shown = ports[0]
        self._interval_s = interval_ms / 1000
        self._flows: list[_StartedFlow] = []
        self._pings: list[tuple[str, Process]] = []
        self.recording = Recording(
            ports={
                f"{switch}-eth{number}": recorders[switch].series[number]
                for switch, number in ports
            },
            sockets={host: sampler.samples for host, sampler in samplers.items()},
        )

    @property
    def clock(self) -> Clock:
        """What all times of the recording are counted by."""
        return self._clock

    # ---- doing things ----------------------------------------------------------------------------

    def flow(self, name: str, source: str, target: str, *, seconds: int, congestion: str) -> None:
        """Starts a TCP flow by iperf3."""
        self.flows([FlowPlan(name, source, target, congestion)], seconds=seconds)

    def flows(self, plans: Sequence[FlowPlan], *, seconds: int) -> None:
        """Starts TCP flows at one instant: who comes late to a full queue stays behind for long."""
        first_port = FIRST_IPERF_PORT + len(self._flows)
        for port, plan in enumerate(plans, first_port):
            self._await_flow(plan, port)
        for port, plan in enumerate(plans, first_port):
            sender, receiver = self._bench.host(plan.source), self._bench.host(plan.target)
            client = iperf.client(
                str(receiver.address),
                port,
                seconds=seconds,
                congestion=plan.congestion,
                pacing_bps=plan.pacing_bps,
            )
            process = sender.start(client, sender.logs / f"iperf-{plan.name}.json")
            self._flows.append(_StartedFlow(plan, sender, receiver, port, process))

    def _await_flow(self, plan: FlowPlan, port: int) -> None:
        """Makes both ends ready."""
        self._bench.host(plan.source).set_congestion_control(plan.congestion)
        serve_flow(self._bench.host(plan.target), port, plan.name)

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
        host = self._bench.host(source)
        address = str(self._bench.host(target).address)
        argv = ping.command(address, interval_s=interval_s, seconds=seconds)
        log = host.logs / f"ping-{name}-{len(self._pings) + 1}.log"
        self._pings.append((name, host.start(argv, log)))

    def serve_page(self, host: str, length_bytes: int) -> None:
        """Lets a host serve a web page of this length."""
        server = self._bench.host(host)
        argv = [sys.executable, "-m", "labs.measure.page", "serve"]
        arguments = [str(server.address), str(PAGE_PORT), str(length_bytes)]
        server.start([*argv, *arguments], server.logs / f"page-{host}.log")
        wait.until(
            lambda: server.listens_on(PAGE_PORT), f"the web server in {host}", START_DEADLINE_S
        )

    def fetch(self, reader: str, server: str) -> page.Fetch:
        """Fetches the page of a server and returns once it is there."""
        host = self._bench.host(reader)
        argv = [sys.executable, "-m", "labs.measure.page", "fetch"]
        address = str(self._bench.host(server).address)
        log = host.logs / f"fetch-{reader}-{len(self.recording.pages)}.json"
        process = host.start([*argv, address, str(PAGE_PORT)], log)
        self._show_until(process, f"the page of {server}", page.FETCH_DEADLINE_S)
        output = process.wait(f"the fetch of the page of {server}", START_DEADLINE_S)
        fetched = page.parse(output, self._clock.of_monotonic)
        self.recording.pages.append(fetched)
        return fetched

    def hold(self, seconds: float) -> None:
        """Lets time pass, and shows what happens meanwhile."""
        end_s = self._clock.now_s() + seconds
        while (left_s := end_s - self._clock.now_s()) > 0:
            wait.holds_within(lambda: False, min(REDRAW_S, left_s))
            self._look()

    def hold_until_queued(self, packets: int, deadline_s: float) -> None:
        """Lets time pass until the shown port holds so many packets, at most until an instant."""
        switch, number = self._shown
        while self._clock.now_s() < deadline_s:
            if self._series(switch, number).packets[-1:] >= [packets]:
                return
            self.hold(REDRAW_S)

    def now_s(self) -> float:
        """This instant on the recording's clock."""
        return self._clock.now_s()

    def moment(self, text: str) -> None:
        """Marks this instant in the figures."""
        self.recording.moments.append((self._clock.now_s(), text))

    def note(self, text: str) -> None:
        """Says something about the run."""
        self._view.erase()
        self._bench.narrator.note(text)

    def finish(self) -> None:
        """Waits for flows and pings to end by themselves and reads what they found."""
        for flow in self._flows:
            self._show_until(flow.process, f"the flow {flow.plan.name}", END_DEADLINE_S * 5)
        for name, process in self._pings:
            self._show_until(process, f"the ping {name}", END_DEADLINE_S)
            # Its status says whether every request was answered; a full queue may drop some.
            output = process.log.read_text()
            found = ping.parse(output, self._clock.of_wall)
            earlier = self.recording.pings.get(name)
            self.recording.pings[name] = earlier.followed_by(found) if earlier else found
        self._catch_up()
        self._view.erase()
        for flow in self._flows:
            self.recording.flows[flow.plan.name] = self._read_flow(flow)
        for name, series in self.recording.ports.items():
            if not series.time_s:
                raise MeasurementError(
                    f"the router sent no sample of {name} while the flows ran: see its log."
                )

    # ---- reading ---------------------------------------------------------------------------------

    def _read_flow(self, flow: _StartedFlow) -> Flow:
        output = flow.process.wait(f"iperf3 in {flow.source.name}", END_DEADLINE_S)
        peer = f"{flow.target.address}:{flow.port}"
        seen = self.recording.sockets.get(flow.source.name, [])
        return Flow(
            name=flow.plan.name,
            source=flow.plan.source,
            target=flow.plan.target,
            congestion=flow.plan.congestion,
            result=iperf.parse(output),
            samples=data_connection([sample for sample in seen if sample.peer == peer]),
        )

    def _show_until(self, process: Process, what: str, deadline_s: float) -> None:
        deadline_s *= wait.patience()
        end_s = self._clock.now_s() + deadline_s
        while not wait.holds_within(process.has_ended, REDRAW_S):
            self._look()
            if self._clock.now_s() > end_s:
                raise MeasurementError(
                    f"{what} did not end within {deadline_s:g} s: see {process.log}."
                )

    def _catch_up(self) -> None:
        """Waits until the samples of this instant have been read; a busy machine reads late."""
        now_s = self._clock.now_s()

        def behind_s() -> float:
            return now_s - min(
                (series.time_s or [0.0])[-1] for series in self.recording.ports.values()
            )

        def caught_up() -> bool:
            self._look()
            return behind_s() < 2 * self._interval_s

        if not wait.holds_within(caught_up, CATCH_UP_DEADLINE_S):
            self.note(
                f"the router's samples of the last {behind_s():.1f} s are missing: "
                "this machine is too busy to read them"
            )

    def _look(self) -> None:
        for recorder in self._recorders.values():
            recorder.check()
        switch, number = self._shown
        self._view.show(self._series(switch, number))

    def _series(self, switch: str, number: int) -> PortSeries:
        return self._recorders[switch].series[number]


def data_connection(samples: Sequence[SocketSample]) -> list[SocketSample]:
    """Of iperf3's two connections the one that carried the data: it has acknowledged the most."""
    acked: dict[tuple[str, str], int] = {}
    for sample in samples:
        acked[sample.connection] = max(acked.get(sample.connection, 0), sample.bytes_acked)
    if not acked:
        return []
    data = max(acked, key=lambda connection: acked[connection])
    return [sample for sample in samples if sample.connection == data]
