"""The same runs on a live network: switches as processes, the kernel's hosts, real time.

    with LiveBench(logs) as bench:
        run = bench.run(named("postcards"), WORKLOADS["microburst"], seed=1)

The truth is that of the live router: whatever the machine did to the senders, every packet has its
instants there, and a system is judged by the packets that came. Compared are scores, not packets.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from controller.queues import Queues
from controller.session import Session
from labs.errors import MeasurementError, SettingError
from labs.score import network
from labs.score.conductor import REST_MS, Conductor
from labs.score.device import SessionDevice
from labs.score.installing import Programs
from labs.score.line import ONE_GIGABIT, PS_PER_NS, Line
from labs.score.plan import sendings
from labs.score.run import Recorded, Run, question
from labs.score.sender import READY, Plan, command, lateness_ns
from labs.score.steps import Steps
from labs.score.system import PS_PER_S, System
from labs.score.workloads import RECEIVER, SPAN_MS, Workload
from labs.worlds.live.clock import Clock
from topo import wait
from topo.live import LiveNetwork
from topo.process import Process

_PS_PER_MS = 10**9
# Windows of programs begin at multiples of this, as they do in virtual time.
_ALIGNED_PS = (1 << 27) * PS_PER_NS
_AHEAD_S = 0.2
_DEADLINE_S = 60.0
_SAMPLE_MS = 10


@dataclass(frozen=True)
class LiveRun:
    """A run, and how well the machine kept its instants."""

    run: Run
    # How long the machine delayed the router while packets came; it takes those of a delay for
    # packets that came at once.
    held_up_us: float
    # How late the sender was at the most.
    late_us: float


def check(system: type[System]) -> None:
    """Raises if a system cannot be run live."""
    if system.in_band or system.sink or system.marks:
        raise SettingError(f"{system.name} needs both routers, and a live network has one.")


class LiveBench:
    """A network of this machine, for the length of a `with` block; needs root."""

    def __init__(self, logs: Path, line: Line = ONE_GIGABIT) -> None:
        self._logs, self._line = logs, line
        self._stack = contextlib.ExitStack()
        self._runs = 0

    def __enter__(self) -> LiveBench:
        live = LiveNetwork(network.live_topology(self._line), logs=self._logs)
        self._network = self._stack.enter_context(live)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, system: type[System], workload: Workload, seed: int) -> LiveRun:
        """The same traffic as in virtual time, as far as the machine keeps its instants."""
        check(system)
        programs = Programs.of(system, self._line, self._network.topology)
        with contextlib.ExitStack() as stack:
            sessions = {
                switch.name: stack.enter_context(
                    Session.connect(self._network.address(switch.name), device_id=switch.device_id)
                )
                for switch in programs.topology.switches
            }
            session = sessions[network.ROUTER]
            programs.load(
                sessions,
                lambda switch, its: self._network.switch(switch.name).configure(its),
            )
            own = system(question(self._line))
            device = programs.install(own, sessions)
            sender = self._sender(workload, seed)
            stack.callback(sender.end)
            self._await_rest(session)
            steps = Steps(session, _nothing, interval_ms=_SAMPLE_MS)
            queues, least_s = Queues(session), own.question.threshold_ps / PS_PER_S
            before_s = queues.held_up_s(least_s)
            with steps:
                conductor = _LiveConductor(session, steps, own, device, self._line, self._start)
                end_ps = conductor.run()
            held_up_us = 1e6 * (queues.held_up_s(least_s) - before_s)
            if not steps.found:
                raise MeasurementError("no packet came to the router: is the machine far too busy?")
            recorded = Recorded(self._line, steps.found, end_ps, device.read_bytes)
            return LiveRun(recorded.judged(own, programs.memory), held_up_us, _late_us(sender))

    def _sender(self, workload: Workload, seed: int) -> Process:
        """The process that will send, once it has its sockets."""
        self._runs += 1
        rng = Random(f"{workload.name} {seed}")
        hosts = {each.name: each.pid for each in self._network.mininet.hosts}
        address = str(self._network.host(RECEIVER).address)
        plan = Plan(hosts, RECEIVER, address, sendings(workload.on(self._line, rng), rng))
        file, self._start = (self._logs / f"{what}-{self._runs}" for what in ("plan.json", "start"))
        plan.write(file)
        log = self._logs / f"sender-{self._runs}.log"
        process = self._network.start_process(command(file, self._start), log)
        wait.until(
            lambda: READY in log.read_text() or process.has_ended(), "the sender", _DEADLINE_S
        )
        if process.has_ended():
            raise MeasurementError(f"the sender has ended: {process.last_words()}")
        return process

    def _await_rest(self, session: Session) -> None:
        """The truth begins with an empty router."""
        queues = Queues(session)
        wait.until(
            lambda: not queues.describe().books.held_packets,
            "the end of the last run's packets",
            _DEADLINE_S,
        )


class _LiveConductor(Conductor):
    """Lets real time pass, polls, and hands over reports."""

    def __init__(
        self,
        session: Session,
        steps: Steps,
        system: System,
        device: SessionDevice,
        line: Line,
        start: Path,
    ) -> None:
        super().__init__(None, session, steps, system, device, 0.0, 0, line)
        self._start = start
        self._clock = Clock.started_now()
        self._zero_s = self._clock.router_zero_s(Queues(session), network.BOTTLENECK[0])

    def run(self) -> int:
        """The instant of the end, on the router's clock."""
        ahead_ps = self._now_ps() + int(_AHEAD_S * PS_PER_S)
        start_ps = -(-ahead_ps // _ALIGNED_PS) * _ALIGNED_PS
        start_s = self._clock.start_s + self._zero_s + start_ps / PS_PER_S
        beside = self._start.with_suffix(".new")
        beside.write_text(str(round(start_s * 1e9)))
        beside.replace(self._start)
        end_ps = start_ps + self._line.span((SPAN_MS + REST_MS) * _PS_PER_MS)
        for due_ps in self._polls(start_ps, end_ps):
            wait.for_instant(self._clock.start_s + self._zero_s + due_ps / PS_PER_S)
            now_ps = self._now_ps()
            if self._system.reports:
                self._steps.wait_for(due_ps)
                self._hand_over()
            self._poll(now_ps)
        self._steps.wait_for(end_ps)
        self._hand_over()
        return end_ps

    def _polls(self, start_ps: int, end_ps: int) -> Iterator[int]:
        """The instants of polls; those are left out that passed while the last one took place."""
        every_ps = self._system.every_ps
        due_ps = start_ps + every_ps
        while every_ps and due_ps <= end_ps:
            yield due_ps
            due_ps += every_ps * max(1, (self._now_ps() - due_ps) // every_ps)

    def _now_ps(self) -> int:
        return int((time.monotonic() - self._clock.start_s - self._zero_s) * PS_PER_S)


def _late_us(sender: Process) -> float:
    return max(lateness_ns(sender.log.read_text()), default=0) / 1000


def _nothing() -> None:
    """A live run ends by itself."""
