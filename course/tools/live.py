"""A check's network on this machine: live routers, and hosts with the kernel's own TCP.

Its time is real, so what holds the machine up disturbs the check. How long that was is noted, and
what was refused meanwhile is no verdict.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vitrine.v1 import router_pb2, world_pb2

from controller import routers
from controller.connection import in_force
from controller.errors import ControllerError
from controller.queues import Queues
from controller.router_service import RouterStub
from controller.session import Packet, Session
from controller.toolchain import Toolchain
from controller.world import PS_PER_S
from course.errors import CourseError, VirtualOnly
from course.exercise import Place, Work
from course.tools.net import Load, Network, told_when
from labs.glass.scene import network_of
from labs.glass.tape import rolling
from labs.worlds.live import telling
from labs.worlds.live.network import backend_of
from topo import kernel
from topo.errors import MachineError, TopologyError
from topo.live import LiveNetwork as Machine
from topo.model import Topology

HOST = Path(__file__).parent / "live_host.py"
_CONNECT_S = 60.0
_SAMPLE_MS = 20
_PS_PER_MS = 1e9


class LiveNetwork(Network):
    """Processes and interfaces of this machine. Time passes whether it is let or not."""

    def __init__(
        self, topology: Topology, sessions: Mapping[str, Session], hosts: Mapping[str, _Host]
    ) -> None:
        super().__init__(topology, sessions)
        self._hosts = hosts
        self._numbers = itertools.count(1)
        # The host and the kind of each application.
        self._apps: dict[int, tuple[str, str]] = {}
        self._began_s = time.monotonic()
        # The routers' clocks at that instant.
        self._zero_ps = {
            name: int(Queues(session).describe().time_ps) for name, session in sessions.items()
        }

    @property
    def now_s(self) -> float:
        """How long it has been up."""
        return time.monotonic() - self._began_s

    def zero_s(self, router: str) -> float:
        """The router's clock when the network came up."""
        return self._zero_ps[router] / PS_PER_S

    def let_pass(self, seconds: float) -> None:
        """Waits: what is to happen meanwhile happens by itself."""
        threading.Event().wait(max(0.0, seconds))

    def _start(self, host: str, kind: str, **how: object) -> int:
        app = next(self._numbers)
        self._hosts[host].tell({"do": kind, "app": app, "how": how})
        self._apps[app] = host, kind
        return app

    def _address(self, name: str) -> str:
        hosts = {host.name: host for host in self.topology.hosts}
        return str(hosts[name].address.ip) if name in hosts else name

    def sink(self, host: str, port: int) -> int:
        """Takes the datagrams to a port."""
        return self._start(host, "sink", port=port)

    def datagrams(
        self,
        source: str,
        target: str,
        port: int,
        *,
        rate_bps: float,
        span_s: float,
        payload_bytes: int = 1000,
        after_s: float = 0.0,
        burst: int = 1,
    ) -> int:
        """Sends UDP at a rate."""
        return self._start(
            source,
            "datagrams",
            to=self._address(target),
            port=port,
            rate_bps=rate_bps,
            span_s=span_s,
            payload=payload_bytes,
            after_s=after_s,
            burst=burst,
        )

    def transfer(
        self,
        source: str,
        target: str,
        port: int,
        *,
        span_s: float = 0.0,
        length_bytes: int = 0,
        congestion: str = "",
        connections: int = 1,
        after_s: float = 0.0,
    ) -> int:
        """The kernel's TCP sends as much as it can."""
        if congestion:
            try:
                kernel.allow_congestion_control(congestion)
            except MachineError as error:
                raise VirtualOnly(str(error)) from error
        self._start(target, "listener", port=port)
        return self._start(
            source,
            "bulk",
            to=self._address(target),
            port=port,
            span_s=span_s,
            length=length_bytes,
            congestion=congestion,
            connections=connections,
            after_s=after_s,
        )

    def ping(self, host: str, to: str, count: int = 1, interval_s: float = 1.0) -> int:
        """The system's ping."""
        return self._start(host, "ping", to=self._address(to), count=count, interval_s=interval_s)

    def report(self, app: int) -> world_pb2.AppReport:
        """The report of an application so far."""
        host, kind = self._apps[app]
        return _report(app, host, kind, self._hosts[host].tell({"do": "report", "app": app}))

    def late_s(self) -> float:
        """By how much the worst of the senders was late."""
        late_s = 0.0
        for app, (host, kind) in self._apps.items():
            if kind == "datagrams":
                told = self._hosts[host].tell({"do": "report", "app": app})
                late_s = max(late_s, told["late_s"])
        return late_s

    def cut(self, router: str, port: int) -> None:
        """Takes the cable's ends down."""
        _set_link(f"{router}-eth{port}", "down")

    def mend(self, router: str, port: int) -> None:
        """Brings them up again."""
        _set_link(f"{router}-eth{port}", "up")

    @contextlib.contextmanager
    def events(
        self, router: str, **wanted: object
    ) -> Iterator[Callable[[], list[router_pb2.Event]]]:
        """The events of a router from now on; instants are those of the network."""
        session, zero_ps = self.sessions[router], self._zero_ps[router]
        # Samples say up to which instant all events have been sent.
        request = router_pb2.WatchRequest(
            device_id=session.device_id,
            interval_ms=_SAMPLE_MS,
            **wanted,  # type: ignore[arg-type]
        )
        with in_force(RouterStub(session.channel).watch(request)) as call:

            def told() -> list[router_pb2.Event]:
                until_ps = Queues(session).describe().time_ps
                found: list[router_pb2.Event] = []
                for message in call:
                    for event in message.events:
                        event.time_ps = max(0, event.time_ps - zero_ps)
                        found.append(event)
                    if message.sample.time_ps >= until_ps:
                        break
                return found

            yield told

    def handed_up(self) -> Iterator[tuple[str, Packet]]:
        """Packets from routers to their controllers that were not received yet."""
        for name, session in self.sessions.items():
            while (packet := session.receive(0.0)) is not None:
                yield name, packet

    def send(self, router: str, packet: Packet) -> None:
        """Sends a packet as a router's controller."""
        self.sessions[router].send(packet)

    def settle(self) -> None:
        """Does nothing: sent packets are in flight, as with any router."""


class _Host:
    """The process in a host that runs the check's applications."""

    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self._name, self._process = name, process
        self._talking = threading.Lock()

    def tell(self, order: Mapping[str, object]) -> dict[str, Any]:
        """Gives an order, and returns the answer."""
        assert self._process.stdin is not None, "it was asked for"
        assert self._process.stdout is not None, "it was asked for"
        with self._talking:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "it has ended"}
        if "error" in answer:
            raise CourseError(
                f"Host {self._name} cannot do what the check asks: {answer['error']}."
            )
        return answer


@contextlib.contextmanager
def _running(machine: Machine) -> Iterator[dict[str, _Host]]:
    """The processes in all hosts. Each ends with its input."""
    processes = {
        host.name: subprocess.Popen(
            machine.host(host.name).command([sys.executable, "-I", str(HOST)]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for host in machine.topology.hosts
    }
    try:
        yield {name: _Host(name, process) for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.communicate()


@contextlib.contextmanager
def live_network(
    work: Work, of: Topology, load: Load, *, seed: int = 1, film: str = ""
) -> Iterator[LiveNetwork]:
    """A network whose routers `load` fills; `vitrine glass` shows it meanwhile."""
    with contextlib.ExitStack() as stack:
        try:
            backend = backend_of(Toolchain.VITRINE, None, seed)
            logs = work.scratch / "live"
            machine = stack.enter_context(Machine(of, logs=logs, backend=backend))
        except TopologyError as error:
            raise CourseError(f"--live: {error}") from error
        addresses = {switch.name: machine.address(switch.name) for switch in of.switches}
        sessions: dict[str, Session] = {}
        for switch in of.switches:
            session = stack.enter_context(
                Session.connect(
                    addresses[switch.name], device_id=switch.device_id, deadline_s=_CONNECT_S
                )
            )
            load(switch, session)
            machine.switch(switch.name).configure(session)
            sessions[switch.name] = session
        shells = {host.name: host.pid for host in machine.mininet.hosts}
        first = next(iter(addresses.values()))
        told_by = stack.enter_context(telling.serving(shells, first))
        stack.enter_context(routers.announced(addresses, network_of(of), told_by))
        tape = stack.enter_context(rolling(film)) if work.films is not None and film else None
        net = LiveNetwork(of, sessions, stack.enter_context(_running(machine)))
        if work.films is not None and tape is not None:
            # The page has the time of the first router.
            stack.callback(work.films.add, film, tape, net.zero_s(of.switches[0].name))
        with _noted(work.place, net), told_when(film, lambda: net.now_s):
            yield net


@contextlib.contextmanager
def _noted(place: Place, net: LiveNetwork) -> Iterator[None]:
    """Notes for how long this machine has held a router or a sender up, at worst."""
    before = _lags(net)
    try:
        yield
    finally:
        with contextlib.suppress(ControllerError, CourseError):
            worst_s = max(_lags(net) - before, default=0.0)
            place.held_up_s = max(place.held_up_s, worst_s, net.late_s())


def _lags(net: LiveNetwork) -> Counter[float]:
    """How often routers were late, by the bucket's upper bound in seconds."""
    found: Counter[float] = Counter()
    for session in net.sessions.values():
        for bucket in Queues(session).describe().lags.buckets:
            found[bucket.up_to_ps / PS_PER_S] += bucket.count
    return found


def _report(app: int, host: str, kind: str, told: Mapping[str, Any]) -> world_pb2.AppReport:
    """The report of a host's process, as the message of a virtual host."""
    report = world_pb2.AppReport(app=app, host=host)
    if kind == "sink":
        report.datagram_sink.SetInParent()
        for source, flow in told["flows"].items():
            report.datagram_sink.flows.add(**{"from": source, **flow})
    elif kind == "datagrams":
        report.datagram_source.sent = told["sent"]
    elif kind == "listener":
        report.listener.received_bytes = told["received_bytes"]
    elif kind == "bulk":
        for name, value in told.items():
            setattr(report.bulk, name, value)
    else:
        report.ping.unreachable = told["unreachable"]
        for number, rtt_ms in enumerate(told["rtts_ms"]):
            report.ping.echoes.add(number=number, rtt_ps=round(rtt_ms * _PS_PER_MS))
    return report


def _set_link(interface: str, state: str) -> None:
    subprocess.run(["ip", "link", "set", interface, state], check=True, capture_output=True)
