"""The bench of the virtual world: networks of `vitrine-sim serve`, in virtual time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from apps.domain import Domain
from controller.lines import Lines
from controller.queues import Queues
from controller.session import Session
from controller.world import PS_PER_S, World
from labs import programming
from labs.bench import SAMPLE_INTERVAL_MS, Bench, ports_by_switch, subject
from labs.narration import Narrator
from labs.programming import Programs
from labs.view import LiveView
from labs.worlds.virtual import server, telemetry
from labs.worlds.virtual.instruments import VirtualInstruments
from labs.worlds.virtual.recorder import VirtualRecorder
from labs.worlds.virtual.told import DatagramWatch, SocketWatch
from topo import world as messages
from topo.cables import cable
from topo.model import Switch, Topology
from topo.units import format_rate


class VirtualBench(Bench):
    """Networks of one process, one at a time."""

    def __init__(
        self, logs: Path, narrator: Narrator, *, seed: int = 1, program: str | None = None
    ) -> None:
        """`seed` is that of everything random; `program` as `Programs.compiled` takes it."""
        super().__init__(narrator)
        self._logs = logs
        self._seed = seed
        self._program = program
        self._process = contextlib.ExitStack()
        self._network = contextlib.ExitStack()
        self._address = ""
        self._world: World | None = None
        self._topology: Topology
        self._domain: Domain | None = None
        self._sessions: Mapping[str, Session] = {}

    def close(self) -> None:
        """Ends the process and all that is in it."""
        self._network.close()
        self._process.close()
        self._world = None

    def bring_up(self, topology: Topology, domain: Domain | None = None) -> None:
        """Makes this the network, at the instant 0."""
        topology = messages.numbered(topology)
        programs = Programs.compiled(topology, domain=domain, program=self._program)
        wanted = messages.message(topology)
        self._network.close()
        self._network = contextlib.ExitStack()
        if self._world is None:
            self._address = self._process.enter_context(server.serving(self._logs / "world.log"))
            self._world = self._process.enter_context(World.connect(self._address))
        self._world.build(wanted, self._seed)
        self._topology, self._domain = topology, domain
        addresses = dict.fromkeys((switch.name for switch in topology.switches), self._address)
        self._sessions = self._network.enter_context(
            # Routers answer nothing in their own name: who would do it lives in real time.
            programming.programmed(programs, addresses, configure, answering=False, announced=False)
        )

    @property
    def topology(self) -> Topology:
        """The network as data."""
        return self._topology

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
    ) -> Iterator[VirtualInstruments]:
        """Records these ports of routers, and the TCP connections of these hosts."""
        assert self._world is not None, "a network is up"
        zero_ps = self._world.look().time_ps
        by_switch = ports_by_switch(ports)
        with contextlib.ExitStack() as stack:
            recorders = {
                switch: stack.enter_context(
                    VirtualRecorder(
                        Queues(self._sessions[switch]),
                        -zero_ps / PS_PER_S,
                        ports=numbers,
                        interval_ms=interval_ms,
                    )
                )
                for switch, numbers in by_switch.items()
            }
            sockets = SocketWatch(self._world, senders, zero_ps) if senders else None
            reports = None
            if self._domain is not None:
                self._world.start(self._domain.collector, telemetry.sink())
                reports = DatagramWatch(self._world, self._domain.collector)
            for watch in (sockets, reports):
                if watch is not None:
                    stack.enter_context(watch)
            view = LiveView(
                subject(self._topology, *ports[0]), self.narrator.output, self.narrator.left
            )
            instruments = VirtualInstruments(
                self._world,
                self._topology,
                self.narrator,
                view,
                recorders,
                ports,
                sockets=sockets,
                reports=reports,
                domain=self._domain,
                zero_ps=zero_ps,
                seed=self._seed,
            )
            self._recording = instruments.recording
            yield instruments

    def best_rate(self, choices_bps: Sequence[int]) -> tuple[int, str]:
        """The slowest: every packet is computed, and the shape of things is the same."""
        chosen_bps = min(choices_bps)
        return chosen_bps, (
            f"The lab's line has {format_rate(chosen_bps)}, because every packet is computed. "
            "RATE=... asks for another one, which takes as many times longer as it is faster."
        )

    def becomes_calm(self, deadline_s: float) -> bool:
        """Nothing disturbs virtual time."""
        return True


def configure(switch: Switch, session: Session) -> None:
    """Gives a router its queues and cables."""
    Queues(session).configure(switch.settings)
    Lines(session).configure({port.number: cable(port) for port in switch.ports})
