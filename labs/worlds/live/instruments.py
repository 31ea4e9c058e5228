"""The instruments of the live world: iperf3, ss, ping, page fetches and datagrams of real hosts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from labs.bench import (
    FIRST_IPERF_PORT,
    PAGE_PORT,
    PING_INTERVAL_S,
    REDRAW_S,
    FlowPlan,
    Instruments,
    port_name,
)
from labs.errors import MeasurementError
from labs.measure.page import Fetch
from labs.measure.router import Recorder
from labs.narration import Narrator
from labs.view import LiveView
from labs.worlds.live import hosts, iperf, page, ping
from labs.worlds.live.bursts import Senders
from labs.worlds.live.clock import Clock
from labs.worlds.live.hosts import START_DEADLINE_S
from labs.worlds.live.sockets import Sampler
from labs.worlds.live.telemetry import Telemetry
from topo import wait
from topo.live import LiveHost
from topo.process import Process

# A queue has to drain and the far end has to answer after a flow's last byte.
END_DEADLINE_S = 60.0
CATCH_UP_DEADLINE_S = 30.0


@dataclass(frozen=True)
class _StartedFlow:
    plan: FlowPlan
    source: LiveHost
    target: LiveHost
    port: int
    process: Process


class LiveInstruments(Instruments):
    """The instruments of a run that is recorded."""

    def __init__(
        self,
        host: Callable[[str], LiveHost],
        narrator: Narrator,
        view: LiveView,
        clock: Clock,
        recorders: Mapping[str, Recorder],
        samplers: Mapping[str, Sampler],
        ports: Sequence[tuple[str, int]],
        interval_ms: int,
    ) -> None:
        series = {port_name(*port): recorders[port[0]].series[port[1]] for port in ports}
        super().__init__(narrator, view, series[port_name(*ports[0])])
        self._host = host
        self._clock = clock
        self._recorders = recorders
        self._interval_s = interval_ms / 1000
        self._flows: list[_StartedFlow] = []
        self._pings: list[tuple[str, Process]] = []
        self._bursts = Senders(clock)
        # Programs that are to be paused or to go on, and when.
        self._due: list[tuple[float, Callable[[], None]]] = []
        # Where the routers report their packets.
        self.telemetry: Telemetry | None = None
        self.recording.ports = series
        self.recording.sockets = {name: sampler.samples for name, sampler in samplers.items()}

    # ---- doing things ----------------------------------------------------------------------------

    def flows(self, plans: Sequence[FlowPlan], *, seconds: int) -> None:
        """Starts TCP flows at one instant, by iperf3."""
        first_port = FIRST_IPERF_PORT + len(self._flows)
        servers: list[Process] = []
        for port, plan in enumerate(plans, first_port):
            self._host(plan.source).set_congestion_control(plan.congestion)
            servers.append(hosts.serve_flow(self._host(plan.target), port, plan.name))
        for port, plan in enumerate(plans, first_port):
            sender, receiver = self._host(plan.source), self._host(plan.target)
            client = iperf.client(
                str(receiver.address),
                port,
                seconds=seconds,
                congestion=plan.congestion,
                pacing_bps=plan.pacing_bps,
            )
            process = sender.start(client, sender.logs / f"iperf-{plan.name}.json")
            self._flows.append(_StartedFlow(plan, sender, receiver, port, process))
        began_s = self._clock.now_s()
        for plan, server in zip(plans, servers, strict=True):
            if plan.pause_s is not None:
                after_s, span_s = plan.pause_s
                self._due.append((began_s + after_s, server.pause))
                self._due.append((began_s + after_s + span_s, server.go_on))
        self._due.sort(key=itemgetter(0))

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
        host = self._host(source)
        address = str(self._host(target).address)
        argv = ping.command(address, interval_s=interval_s, seconds=seconds)
        log = host.logs / f"ping-{name}-{len(self._pings) + 1}.log"
        self._pings.append((name, host.start(argv, log)))

    def serve_page(self, host: str, length_bytes: int) -> None:
        """Lets a host serve a web page of this length."""
        hosts.serve_page(self._host(host), PAGE_PORT, length_bytes)

    def fetch(self, reader: str, server: str) -> Fetch:
        """Fetches the page of a server and returns once it is there."""
        host = self._host(reader)
        argv = [sys.executable, "-m", "labs.worlds.live.page", "fetch"]
        address = str(self._host(server).address)
        log = host.logs / f"fetch-{reader}-{len(self.recording.pages)}.json"
        process = host.start([*argv, address, str(PAGE_PORT)], log)
        self._show_until(process, f"the page of {server}", page.FETCH_DEADLINE_S)
        output = process.wait(f"the fetch of the page of {server}", START_DEADLINE_S)
        fetched = page.parse(output, self._clock.of_monotonic)
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
        """Sends `burst` datagrams at once, at each of these offsets from now."""
        self._bursts.start(
            name,
            self._host(source),
            self._host(target),
            size_bytes=size_bytes,
            burst=burst,
            offsets_s=offsets_s,
            start_s=start_s,
        )

    def hold(self, seconds: float) -> None:
        """Lets time pass, and shows what happens meanwhile."""
        end_s = self._clock.now_s() + seconds
        while (left_s := end_s - self._clock.now_s()) > 0:
            wait.holds_within(lambda: False, min(REDRAW_S, left_s))
            self._look()

    def finish(self) -> None:
        """Waits for everything to end by itself and reads what it found."""
        for flow in self._flows:
            self._show_until(flow.process, f"the flow {flow.plan.name}", END_DEADLINE_S * 5)
        for name, process in self._pings:
            self._show_until(process, f"the ping {name}", END_DEADLINE_S)
            # Its status says whether every request was answered; a full queue may drop some.
            output = process.log.read_text()
            self._keep_ping(name, ping.parse(output, self._clock.of_wall))
        self._bursts.wait()
        if self.telemetry is not None:
            self.recording.reports = self.telemetry.finish()
        self.recording.bursts = self._bursts.results()
        self.recording.remarks += self._bursts.remarks()
        self._catch_up()
        self._view.erase()
        for flow in self._flows:
            self._read_flow(flow)
        self._check_series()

    def now_s(self) -> float:
        """This instant on the recording's clock."""
        return self._clock.now_s()

    # ---- reading ---------------------------------------------------------------------------------

    def _read_flow(self, flow: _StartedFlow) -> None:
        output = flow.process.wait(f"iperf3 in {flow.source.name}", END_DEADLINE_S)
        peer = f"{flow.target.address}:{flow.port}"
        self._keep_flow(flow.plan, iperf.parse(output), peer)

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
        now_s = self._clock.now_s()
        while self._due and self._due[0][0] <= now_s:
            self._due.pop(0)[1]()
        super()._look()
