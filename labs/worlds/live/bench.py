"""The bench of the live world: Mininet's hosts, the kernel's TCP, routers that are processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from apps.domain import Domain
from controller import routers
from controller.addresses import Way
from controller.queues import Queues
from controller.session import Session
from controller.toolchain import Toolchain
from labs.bench import (
    SAMPLE_INTERVAL_MS,
    SOCKET_INTERVAL_S,
    Bench,
    ports_by_switch,
    subject,
)
from labs.glass import tape
from labs.measure import holdups
from labs.measure.holdups import FELT_S, HoldUps
from labs.measure.router import Recorder
from labs.narration import Narrator
from labs.view import LiveView
from labs.worlds.live import calm, capacity, hosts, network
from labs.worlds.live.clock import Clock
from labs.worlds.live.instruments import LiveInstruments
from labs.worlds.live.sockets import Sampler
from labs.worlds.live.telemetry import Telemetry
from topo.live import LiveHost, LiveNetwork
from topo.model import Topology
from topo.units import format_rate


class LiveBench(Bench):
    """Networks of this machine, one at a time."""

    def __init__(
        self,
        logs: Path,
        narrator: Narrator,
        toolchain: Toolchain = Toolchain.VITRINE,
        program: str | None = None,
        way: Way = Way.SOCKET,
    ) -> None:
        """`program` is the P4 program of all routers; without one, each has its own."""
        super().__init__(narrator)
        self._logs = logs
        self._toolchain = toolchain
        self._program = program
        self._way = way
        self._network = contextlib.ExitStack()
        self._domain: Domain | None = None
        self._live: LiveNetwork
        self._sessions: Mapping[str, Session] = {}

    def close(self) -> None:
        """Ends the network's processes and removes its interfaces."""
        self._network.close()

    def bring_up(self, topology: Topology, domain: Domain | None = None) -> None:
        """Makes this the network; the one that was up before is taken down first."""
        self._network.close()
        self._network = contextlib.ExitStack()
        self._domain = domain
        self._live, self._sessions = self._network.enter_context(
            network.programmed(
                topology,
                logs=self._logs,
                domain=domain,
                toolchain=self._toolchain,
                program=self._program,
                way=self._way,
            )
        )
        hosts.remember_thresholds(
            topology, {host.name: self.host(host.name) for host in topology.hosts}
        )

    @property
    def topology(self) -> Topology:
        """The network as data."""
        return self._live.topology

    def host(self, name: str) -> LiveHost:
        """A host of the network; not for labs, which must not know that it is a real one."""
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
    ) -> Iterator[LiveInstruments]:
        """Records these ports of routers, and the TCP connections of these hosts."""
        routers.look_at(*ports[0])
        clock = Clock.started_now()
        by_switch = ports_by_switch(ports)
        with contextlib.ExitStack() as stack:
            recorders = {}
            for switch, numbers in by_switch.items():
                queues = self._live.switch(switch).readings(self._sessions[switch])
                zero_s = clock.router_zero_s(queues, numbers[0])
                recorder = Recorder(queues, zero_s, ports=numbers, interval_ms=interval_ms)
                recorders[switch] = stack.enter_context(recorder)
            samplers = {
                name: stack.enter_context(
                    Sampler(self.host(name), clock, interval_s=SOCKET_INTERVAL_S)
                )
                for name in senders
            }
            view = LiveView(
                subject(self.topology, *ports[0]), self.narrator.output, self.narrator.left
            )
            instruments = LiveInstruments(
                self._live.host, self.narrator, view, clock, recorders, samplers, ports, interval_ms
            )
            if self._domain is not None:
                readings = {name: Queues(session) for name, session in self._sessions.items()}
                instruments.telemetry = Telemetry(
                    self.topology, self._live.host, readings, self._domain, clock
                )
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

    def taped(self, title: str) -> contextlib.AbstractContextManager[tape.Tape | None]:
        """The routers that are announced are this bench's."""
        return tape.rolling(title)

    def best_rate(self, choices_bps: Sequence[int]) -> tuple[int, str]:
        """The fastest that leaves this machine time for the rest, measured."""
        self.bring_up(capacity.TOPOLOGY)
        carried_bps = capacity.measure(self.host(capacity.SENDER), self.host(capacity.RECEIVER))
        chosen_bps = capacity.choose(choices_bps, carried_bps)
        return chosen_bps, (
            f"This machine carries {format_rate(carried_bps)} through two routers, so the lab's "
            f"line has {format_rate(chosen_bps)}: a line of a third of that leaves time for the "
            "rest. --rate sets another one."
        )

    def becomes_calm(self, deadline_s: float) -> bool:
        """Waits until nothing else works on this machine and nothing delays it."""
        return calm.becomes_calm(deadline_s)
