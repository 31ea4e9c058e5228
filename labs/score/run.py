"""One run: a system on the bottleneck's router, under a workload, from a seed.

with Bench(logs) as bench:
    run = bench.run(Postcards, WORKLOADS["incast"], seed=1)
    print(run.score.flows.recall, run.cost.telemetry_bytes)
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from vitrine.v1 import world_pb2

from apps.domain import Domain
from apps.programming import entries_for
from controller import compiling
from controller.entities import CloneSession, Register
from controller.packets import PacketCopied, PacketReceived, PacketTransmitted
from controller.queueing import RouterSettings
from controller.queues import Queues
from controller.session import Packet, Session
from controller.toolchain import Toolchain
from controller.world import World
from labs.score import in_band, memory, network
from labs.score.claim import Claim
from labs.score.flow import Flow
from labs.score.memory import Memory
from labs.score.scoring import Score, score
from labs.score.steps import Steps
from labs.score.system import PS_PER_NS, Question, Report, System
from labs.score.systems import source
from labs.score.truth import BuildUp, Truth
from labs.score.workloads import LINE_BPS, RECEIVER, SPAN_MS, Workload
from labs.worlds.virtual import server
from topo import world as messages
from topo.configuring import configure
from topo.model import Topology

THRESHOLD_BYTES = 30_000
CPU_PORT = 510
REPORTS = 1
# The register of main.p4, which every system's own program has.
WATCHED = "watched_port"
# What a reading of the queue's depth carries: a time and a number.
DEPTH_READING_BYTES = 16
# The queue is empty this long after the last packet was sent.
_REST_MS = 10
PS_PER_MS = 10**9


@dataclass(frozen=True)
class Cost:
    """What a system takes of the network and the switch."""

    # Bytes of reports, of what the controller read, and of what was added to packets on the line.
    report_bytes: int
    read_bytes: int
    line_bytes: int
    # Packets that left the queue.
    packets: int
    memory: Memory

    @property
    def bytes_per_packet(self) -> float:
        """All telemetry, by packet of the queue."""
        return (self.report_bytes + self.read_bytes + self.line_bytes) / self.packets


@dataclass(frozen=True)
class Run:
    """What one run found."""

    truth: Truth
    buildups: list[BuildUp]
    claims: list[Claim]
    score: Score
    cost: Cost


class Bench:
    """A process in virtual time, for the length of a `with` block."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Bench:
        self._address = self._stack.enter_context(server.serving(self._log))
        self._world = self._stack.enter_context(World.connect(self._address))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(self, system: type[System], workload: Workload, seed: int, *, lost: float = 0.0) -> Run:
        """`lost` is the share of reports and readings that never come to the controller."""
        domain = in_band.DOMAIN if system.in_band else None
        topology = in_band.topology() if system.in_band else network.topology()
        self._world.build(messages.message(topology), seed)
        with contextlib.ExitStack() as stack:
            sessions = {
                switch.name: stack.enter_context(
                    Session.connect(self._address, device_id=switch.device_id)
                )
                for switch in topology.switches
            }
            sink = compiling.find("router" if domain is None else "int_router")
            _program(sessions[network.SINK], topology, network.SINK, sink, domain)
            session = sessions[network.ROUTER]
            _program(session, topology, network.ROUTER, source(system), domain)
            own = system(question())
            device = SessionDevice(session)
            is_own = any(each.name.endswith(WATCHED) for each in session.program.registers)
            if is_own:
                device.write(WATCHED, network.BOTTLENECK[0])
            own.install(device)
            collector = in_band.Collector(self._world) if system.in_band else None
            if collector is not None:
                stack.enter_context(collector)
            elif system.reports:
                session.insert([CloneSession(REPORTS, (CPU_PORT,))])
            if system.wants_drops:
                Queues(session).configure(RouterSettings(drop_mirror=REPORTS))
            with Steps(session) as steps:
                self._start(workload, seed)
                conductor = _Conductor(self._world, session, steps, own, device, lost, seed)
                end_ps = conductor.run()
            if collector is not None:
                conductor.take(collector.reports(end_ps))
            truth = Truth.of(steps.found, network.BOTTLENECK, end_ps)
            buildups = truth.buildups(THRESHOLD_BYTES)
            claims = own.claims()
            # The kit's router has tables that are for no telemetry.
            used = memory.of(session.program) if is_own else Memory(0, 0)
            cost = _cost(steps, device, used, collector.bytes if collector else 0)
        return Run(truth, buildups, claims, score(claims, buildups), cost)

    def _start(self, workload: Workload, seed: int) -> None:
        apps = list(workload.apps(random.Random(f"{workload.name} {seed}")))
        sinks: dict[int, world_pb2.App] = {}
        for _, app in apps:
            if app.HasField("bulk"):
                port = app.bulk.to.port
                sinks[port] = world_pb2.App(listener=world_pb2.Listener(port=port))
            else:
                port = app.datagram_source.to.port
                sinks[port] = world_pb2.App(datagram_sink=world_pb2.DatagramSink(port=port))
        for _, sink in sorted(sinks.items()):
            self._world.start(RECEIVER, sink)
        for host, app in apps:
            self._world.start(host, app)


def _program(
    session: Session, topology: Topology, name: str, program: Path, domain: Domain | None
) -> None:
    """Loads a program with its routes, and configures queues and cables.

    Routes that lead to the controller are left out, since no system answers for the router.
    """
    switch = topology.switch(name)
    info, config = Toolchain.VITRINE.compiled(program)
    written = entries_for(info, topology, switch, domain)
    session.load(info, config)
    session.insert(written.insert)
    session.modify(written.modify)
    configure(switch, session)


def question() -> Question:
    """The same for every system."""
    return Question(network.BOTTLENECK, THRESHOLD_BYTES, LINE_BPS)


class SessionDevice:
    """The switch through its P4Runtime session; see `system.Device`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queues = Queues(session)
        self.read_bytes = 0

    def write(self, register: str, value: int, index: int = 0) -> None:
        """Sets a cell."""
        self._session.modify([Register(register, index, value)])

    def read(self, register: str) -> list[int]:
        """All cells; counts their bytes."""
        cells = self._session.register_cells(register)
        self.read_bytes += len(cells) * -(
            -self._session.program.registers[register].width_bits // 8
        )
        return cells

    def depth_bytes(self) -> int:
        """The depth now; counts a reading."""
        port, class_ = network.BOTTLENECK
        self.read_bytes += DEPTH_READING_BYTES
        return self._queues.read([port]).ports[port].queues[class_].held_bytes


class _Conductor:
    """Lets time pass, calls the system's `poll` and hands it the reports."""

    def __init__(
        self,
        world: World,
        session: Session,
        steps: Steps,
        system: System,
        device: SessionDevice,
        lost: float,
        seed: int,
    ) -> None:
        self._world, self._session, self._steps = world, session, steps
        self._system, self._device = system, device
        self._lost, self._rng = lost, random.Random(f"loss of telemetry {seed}")
        # Steps that have been looked at for reports, and when each report reached the controller.
        self._seen = 0
        self._arrivals_ps: list[int] = []

    def run(self) -> int:
        """The instant of the end."""
        end_ps = (SPAN_MS + _REST_MS) * PS_PER_MS
        every_ps = self._system.every_ps or end_ps
        now_ps = 0
        while now_ps < end_ps:
            now_ps = self._world.advance(min(every_ps, end_ps - now_ps)).time_ps
            self._steps.wait_for(now_ps)
            self._hand_over()
            if self._system.every_ps and now_ps % every_ps == 0 and not self._is_lost():
                self._system.poll(self._device, now_ps)
        return now_ps

    def _hand_over(self) -> None:
        for step in self._steps.found[self._seen :]:
            if isinstance(step, PacketTransmitted) and step.port == CPU_PORT:
                self._arrivals_ps.append(step.time_ps)
        self._seen = len(self._steps.found)
        self._session.settle()
        arrivals, self._arrivals_ps = self._arrivals_ps, []
        for known_ps in arrivals:
            packet = self._session.receive(0.0)
            assert packet is not None, "the switch has sent it"
            self.take([_report(packet, known_ps)])

    def take(self, reports: Iterable[Report]) -> None:
        """Hands the system those reports that are not lost."""
        for report in reports:
            if not self._is_lost():
                self._system.take(report)

    def _is_lost(self) -> bool:
        return self._lost > 0 and self._rng.random() < self._lost


def _report(packet: Packet, known_ps: int) -> Report:
    fields = {name: int(str(value)) for name, value in packet.metadata.items()}
    return Report(
        known_ps,
        fields["time_ns"] * PS_PER_NS,
        fields["depth_bytes"],
        fields["wait_ns"] * PS_PER_NS,
        fields["packets"],
        fields["reason"],
        Flow(
            *(fields["src_addr"], fields["dst_addr"], fields["protocol"]),
            *(fields["src_port"], fields["dst_port"]),
        ),
    )


def _cost(steps: Steps, device: SessionDevice, used: Memory, collected_bytes: int) -> Cost:
    port = network.BOTTLENECK[0]
    reports = lines = arrived = packets = 0
    lengths: dict[int, int] = {}
    for step in steps.found:
        match step:
            case PacketTransmitted() if step.port == CPU_PORT:
                reports += step.length_bytes
            case PacketTransmitted() if step.port == port:
                lines += step.length_bytes
                packets += 1
                arrived += lengths[step.packet]
            case PacketReceived() | PacketCopied():
                lengths[step.packet] = step.length_bytes
    return Cost(reports + collected_bytes, device.read_bytes, lines - arrived, packets, used)
