"""One run: a system on the bottleneck's router, under a workload, from a seed.

with Bench(logs) as bench:
    run = bench.run(Postcards, WORKLOADS["incast"], seed=1)
    print(run.score.flows.recall, run.cost.bytes_per_packet)
"""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from vitrine.v1 import world_pb2

from controller.connection import open_channel
from controller.errors import ControllerError
from controller.packets import PacketCopied, PacketReceived, PacketStep, PacketTransmitted
from controller.routers import Up
from controller.session import Session
from controller.world import World
from labs.glass.scene import network_of
from labs.glass.tape import Tape, listening
from labs.score import in_band, network
from labs.score.claim import Claim
from labs.score.conductor import CPU_PORT, Conductor
from labs.score.events import PathChange, Pause, path_changes, pauses
from labs.score.installing import Programs
from labs.score.line import ONE_GIGABIT, Line
from labs.score.marks import Marks
from labs.score.memory import Memory
from labs.score.scoring import Score, score
from labs.score.steps import Steps
from labs.score.system import Question, System
from labs.score.truth import BuildUp, Truth
from labs.score.work import Work
from labs.score.workloads import RECEIVER, Apps, Workload
from labs.worlds.virtual import server
from topo import world as messages
from topo.configuring import configure

THRESHOLD_BYTES = 30_000


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


@dataclass(frozen=True)
class Recorded:
    """The steps of all packets of the router in one run, and what its controller read."""

    line: Line
    steps: Sequence[PacketStep]
    end_ps: int
    read_bytes: int

    def judged(
        self,
        own: System,
        memory: Memory,
        collected_bytes: int = 0,
        steps_per_packet: float | None = None,
    ) -> Run:
        """The system's claims against the truth. It has had all reports."""
        truth = Truth.of(self.steps, network.BOTTLENECK, self.end_ps)
        buildups, claims = truth.buildups(THRESHOLD_BYTES), own.claims()
        reports, added, packets = self._sent()
        cost = Cost(
            reports + collected_bytes, self.read_bytes, added, packets, memory, steps_per_packet
        )
        changes = list(path_changes(self.steps))
        return Run(self.line, truth, buildups, changes, claims, score(claims, buildups), cost)

    def _sent(self) -> tuple[int, int, int]:
        """Bytes of reports, bytes added to packets, and packets of the queue."""
        reports = lines = arrived = packets = 0
        lengths: dict[int, int] = {}
        for step in self.steps:
            match step:
                case PacketTransmitted() if step.port == CPU_PORT:
                    reports += step.length_bytes
                case PacketTransmitted() if step.port == network.BOTTLENECK[0]:
                    lines += step.length_bytes
                    packets += 1
                    arrived += lengths[step.packet]
                case PacketReceived() | PacketCopied():
                    lengths[step.packet] = step.length_bytes
        return reports, lines - arrived, packets


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
        programs = Programs.of(system, line)
        self._world.build(messages.message(programs.topology), seed)
        with contextlib.ExitStack() as stack:
            sessions = {
                switch.name: stack.enter_context(
                    Session.connect(self._address, device_id=switch.device_id)
                )
                for switch in programs.topology.switches
            }
            session = sessions[network.ROUTER]
            programs.load(sessions, configure)
            own = system(question(line))
            device = programs.install(own, sessions)
            collector = in_band.Collector(self._world) if system.in_band else None
            if collector is not None:
                stack.enter_context(collector)
            steps, work = Steps(session, self.end), Work(session, network.BOTTLENECK)
            marked = Marks(sessions[network.SINK], self.end) if system.marks else None
            # Work is first: a router traces packets for one client at a time.
            with steps, work, marked or contextlib.nullcontext(), self._taping(tape, programs):
                self._start(workload.on(line, random.Random(f"{workload.name} {seed}")))
                conductor = Conductor(self._world, session, steps, own, device, lost, seed, line)
                end_ps = _conducted(conductor, steps)
                work.wait_for(end_ps)
                if marked is not None:
                    marked.hand_over(own, end_ps)
            if collector is not None:
                conductor.take(collector.reports(end_ps))
            recorded = Recorded(line, steps.found, end_ps, device.read_bytes)
            collected_bytes = collector.bytes if collector else 0
            return recorded.judged(own, programs.memory, collected_bytes, work.steps_per_packet)

    def _taping(self, tape: Tape | None, programs: Programs) -> AbstractContextManager[None]:
        if tape is None:
            return contextlib.nullcontext()
        topology = programs.topology
        routers = {
            switch.name: f"{self._address}/{switch.device_id}" for switch in topology.switches
        }
        up = Up(routers, network.ROUTER, network.BOTTLENECK[0], network_of(topology))
        return listening(tape, up)

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


def _conducted(conductor: Conductor, steps: Steps) -> int:
    """The instant of a run's end; raises what ended it before."""
    try:
        return conductor.run()
    except ControllerError:
        steps.check()
        raise


def question(line: Line) -> Question:
    """The same for every system."""
    return Question(network.BOTTLENECK, THRESHOLD_BYTES, line)
