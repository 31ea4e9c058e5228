"""One run: a system on the bottleneck's router, under a workload, from a seed.

with Bench(logs) as bench:
    run = bench.run(Postcards, WORKLOADS["incast"], seed=1)
    print(run.score.flows.recall, run.cost.bytes_per_packet)
"""

from __future__ import annotations

import contextlib
import functools
import random
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from vitrine.v1 import world_pb2

from apps.domain import Domain
from apps.programming import entries_for
from controller.connection import open_channel
from controller.entities import CloneSession
from controller.errors import ControllerError
from controller.p4info import P4Info
from controller.packets import PacketCopied, PacketReceived, PacketTransmitted
from controller.queueing import RouterSettings
from controller.queues import Queues
from controller.routers import Up
from controller.session import Session
from controller.toolchain import Toolchain
from controller.world import World
from labs.glass.scene import network_of
from labs.glass.tape import Tape, listening
from labs.score import in_band, memory, network
from labs.score.claim import Claim
from labs.score.conductor import CPU_PORT, Conductor
from labs.score.device import SessionDevice
from labs.score.events import PathChange, Pause, path_changes, pauses
from labs.score.line import ONE_GIGABIT, Line
from labs.score.memory import Memory
from labs.score.scoring import Score, score
from labs.score.steps import Steps
from labs.score.system import Question, System
from labs.score.systems import sink_source, source
from labs.score.truth import BuildUp, Truth
from labs.score.work import Work
from labs.score.workloads import RECEIVER, Apps, Workload
from labs.worlds.virtual import server
from topo import world as messages
from topo.configuring import configure
from topo.model import Topology

THRESHOLD_BYTES = 30_000
REPORTS = 1
# The register of main.p4, which every system's own program has.
WATCHED = "watched_port"


@dataclass(frozen=True)
class Cost:
    """Bytes and memory of a system."""

    # Bytes of reports, of the controller's reads, and added to packets on the line.
    report_bytes: int
    read_bytes: int
    line_bytes: int
    # Packets that left the queue.
    packets: int
    memory: Memory
    # Steps of the router's program; None: no packet of the queue was traced.
    steps_per_packet: float | None

    @property
    def bytes_per_packet(self) -> float:
        """All telemetry, by packet of the queue."""
        return (self.report_bytes + self.read_bytes + self.line_bytes) / self.packets


@dataclass(frozen=True)
class Run:
    """The results of one run."""

    line: Line
    truth: Truth
    buildups: list[BuildUp]
    # Of all flows of the router.
    path_changes: list[PathChange]
    claims: list[Claim]
    score: Score
    cost: Cost

    @property
    def pauses(self) -> list[Pause]:
        """When packets waited and the line was silent."""
        return list(pauses(self.truth))


class Bench:
    """A process in virtual time, for the length of a `with` block."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Bench:
        self._address = self._stack.enter_context(server.serving(self._log))
        self._channel = open_channel(self._address)
        self._stack.callback(self._channel.close)
        self._world = World(self._channel)
        return self

    @classmethod
    @contextlib.contextmanager
    def temporary(cls) -> Iterator[Bench]:
        """One whose log goes when it ends."""
        with (
            tempfile.TemporaryDirectory(prefix="vitrine-score-") as folder,
            cls(Path(folder, "world.log")) as bench,
        ):
            yield bench

    def end(self) -> None:
        """Ends the present run, which raises ControllerError; for another thread."""
        self._channel.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(
        self,
        system: type[System],
        workload: Workload,
        seed: int,
        *,
        lost: float = 0.0,
        line: Line = ONE_GIGABIT,
        tape: Tape | None = None,
    ) -> Run:
        """`lost` is the share of reports and readings that never come to the controller; `tape`
        records the network for the page."""
        domain = in_band.DOMAIN if system.in_band else None
        topology = in_band.topology(line) if system.in_band else network.topology(line)
        programmer = _Programmer(topology, line, domain)
        self._world.build(messages.message(topology), seed)
        with contextlib.ExitStack() as stack:
            sessions = {
                switch.name: stack.enter_context(
                    Session.connect(self._address, device_id=switch.device_id)
                )
                for switch in topology.switches
            }
            sink = programmer.compiled(sink_source(system))
            programmer.load(sessions[network.SINK], network.SINK, *sink)
            session = sessions[network.ROUTER]
            compiled = system.compiled or programmer.compiled(source(system))
            programmer.load(session, network.ROUTER, *compiled)
            own = system(question(line))
            device = SessionDevice(session)
            is_own = any(each.name.endswith(WATCHED) for each in session.program.registers)
            if is_own:
                device.write(WATCHED, network.BOTTLENECK[0])
            own.install(device)
            if system.sink:
                self._install_sink(own, sessions[network.SINK])
            collector = in_band.Collector(self._world) if system.in_band else None
            if collector is not None:
                stack.enter_context(collector)
            elif system.reports:
                session.insert([CloneSession(REPORTS, (CPU_PORT,))])
            if system.wants_drops:
                Queues(session).configure(RouterSettings(drop_mirror=REPORTS))
            steps, work = Steps(session, self.end), Work(session, network.BOTTLENECK)
            # Work is first: a router traces packets for one client at a time.
            with steps, work, self._taping(tape, topology):
                self._start(workload.on(line, random.Random(f"{workload.name} {seed}")))
                conductor = Conductor(self._world, session, steps, own, device, lost, seed, line)
                end_ps = _conducted(conductor, steps)
                work.wait_for(end_ps)
            if collector is not None:
                conductor.take(collector.reports(end_ps))
            truth = Truth.of(steps.found, network.BOTTLENECK, end_ps)
            buildups = truth.buildups(THRESHOLD_BYTES)
            claims = own.claims()
            used = memory.of(session.program)
            if not is_own:
                # The kit's router has tables that are for no telemetry.
                used -= memory.of(_router())
            if system.sink:
                used += memory.of(sessions[network.SINK].program)
            cost = _cost(steps, device, used, collector.bytes if collector else 0, work)
        changes = list(path_changes(steps.found))
        return Run(line, truth, buildups, changes, claims, score(claims, buildups), cost)

    def _taping(self, tape: Tape | None, topology: Topology) -> AbstractContextManager[None]:
        if tape is None:
            return contextlib.nullcontext()
        routers = {
            switch.name: f"{self._address}/{switch.device_id}" for switch in topology.switches
        }
        up = Up(routers, network.ROUTER, network.BOTTLENECK[0], network_of(topology))
        return listening(tape, up)

    def _install_sink(self, own: System, session: Session) -> None:
        """The second router watches its port to the receiver, and reports to the first one."""
        device = SessionDevice(session)
        device.write(WATCHED, network.SINK_TO_RECEIVER)
        session.insert([CloneSession(REPORTS, (network.SINK_TO_ROUTER,))])
        own.install_sink(device)

    def _start(self, traffic: Apps) -> None:
        apps = list(traffic)
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


@dataclass(frozen=True)
class _Programmer:
    """Gives the routers of one network their programs."""

    topology: Topology
    line: Line
    domain: Domain | None

    def compiled(self, program: Path) -> tuple[P4Info, bytes]:
        """A program for this line."""
        return Toolchain.VITRINE.compiled(program, self.line.defines)

    def load(self, session: Session, name: str, info: P4Info, config: bytes) -> None:
        """Loads a program with its routes, and configures queues and cables.

        Routes that lead to the controller are left out, since no system answers for the router.
        """
        switch = self.topology.switch(name)
        written = entries_for(info, self.topology, switch, self.domain)
        session.load(info, config)
        session.insert(written.insert)
        session.modify(written.modify)
        configure(switch, session)


def _conducted(conductor: Conductor, steps: Steps) -> int:
    """The instant of a run's end; raises what ended it before."""
    try:
        return conductor.run()
    except ControllerError:
        steps.check()
        raise


@functools.cache
def _router() -> P4Info:
    """The kit's router without telemetry."""
    return Toolchain.VITRINE.compiled("router")[0]


def question(line: Line) -> Question:
    """The same for every system."""
    return Question(network.BOTTLENECK, THRESHOLD_BYTES, line)


def _cost(
    steps: Steps, device: SessionDevice, used: Memory, collected_bytes: int, work: Work
) -> Cost:
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
    return Cost(
        reports + collected_bytes,
        device.read_bytes,
        lines - arrived,
        packets,
        used,
        work.steps_per_packet,
    )
