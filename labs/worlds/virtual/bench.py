"""The bench of the virtual world: networks of `vitrine-sim serve`, in virtual time."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from apps import router
from apps.domain import Domain
from controller import routers
from controller.queues import Queues
from controller.routers import Up
from controller.session import Session
from controller.world import PS_PER_S, World
from labs import programming
from labs.bench import SAMPLE_INTERVAL_MS, Bench, ports_by_switch, subject
from labs.glass.scene import network_of
from labs.glass.tape import Tape, listening
from labs.narration import Narrator
from labs.programming import Programs
from labs.view import LiveView
from labs.worlds.virtual import deciders, server, telemetry
from labs.worlds.virtual.instruments import VirtualInstruments
from labs.worlds.virtual.recorder import VirtualRecorder
from labs.worlds.virtual.told import DatagramWatch, SocketWatch
from topo import deciders as classes
from topo import world as messages
from topo.configuring import configure
from topo.model import Topology
from topo.units import format_rate


class VirtualBench(Bench):
    """Networks of one process, one at a time."""

    def __init__(
        self,
        logs: Path,
        narrator: Narrator,
        *,
        seed: int = 1,
        program: str | None = None,
        announced: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`seed` is that of everything random; `program` as `Programs.compiled` takes it.

        Python classes of the network run as VITRINE_PYTHON in the `environment` says.

        One network at a time can be `announced`, and found by `vitrine glass` and `vitrine top`.
        """
        super().__init__(narrator)
        self._announced = announced
        self._environment = environment
        self._tape: Tape | None = None
        self._taping = contextlib.ExitStack()
        self._logs = logs
        self.seed = seed
        self._program = program
        self._process = contextlib.ExitStack()
        self._network = contextlib.ExitStack()
        self._address = ""
        self._world: World | None = None
        # Where the classes lie that may decide in it.
        self._folders: set[Path] = set()
        self._topology: Topology
        self._domain: Domain | None = None
        self._sessions: Mapping[str, Session] = {}

    def close(self) -> None:
        """Ends the process and all that is in it."""
        self._taping.close()
        self._network.close()
        self._process.close()
        self._world = None

    def bring_up(self, topology: Topology, domain: Domain | None = None) -> None:
        """Makes this the network, at the instant 0."""
        topology = messages.numbered(topology)
        programs = Programs.compiled(topology, domain=domain, program=self._program)
        wanted = messages.message(topology)
        self._taping.close()
        self._network.close()
        self._network = contextlib.ExitStack()
        self._start(classes.folders(topology)).build(wanted, self.seed)
        self._topology, self._domain, self._sources = topology, domain, programs.folders
        addresses = dict.fromkeys((switch.name for switch in topology.switches), self._address)
        self._sessions = self._network.enter_context(
            programming.programmed(
                programs,
                addresses,
                configure,
                serving=functools.partial(router.serving_in, self.world),
                announced=False,
            )
        )
        deciders.invite(self.world, topology)
        if self._announced:
            up = self._up()
            self._network.enter_context(
                routers.announced(up.routers, up.network, folders=up.folders)
            )
        self._listen()

    def _start(self, folders: set[Path]) -> World:
        """The process of networks in which classes of these folders may decide."""
        if self._world is None or not folders <= self._folders:
            self._process.close()
            self._folders = self._folders | folders
            serving = server.serving(
                self._logs / "world.log", classes=self._folders, environment=self._environment
            )
            self._address = self._process.enter_context(serving)
            self._world = self._process.enter_context(World.connect(self._address))
        return self._world

    def _up(self) -> Up:
        """The running network."""
        devices = self._topology.switches
        return Up(
            {each.name: f"{self._address}/{each.device_id}" for each in devices},
            network=network_of(self._topology),
            folders=self._sources,
        )

    @contextlib.contextmanager
    def taped(self, title: str) -> Iterator[Tape]:
        """Everything from when a network is there, or from now on."""
        self._tape = tape = Tape(title)
        try:
            if self._world is not None:
                self._listen()
            yield tape
        finally:
            self._taping.close()
            self._tape = None

    def _listen(self) -> None:
        self._taping.close()
        if self._tape is not None:
            self._taping.enter_context(listening(self._tape, self._up()))

    @property
    def world(self) -> World:
        """The network that is up, for work without an instrument."""
        assert self._world is not None, "a network is up"
        return self._world

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
        zero_ps = self.world.look().time_ps
        if self._announced:
            routers.look_at(*ports[0])
        if self._tape is not None:
            switch, port = ports[0]
            self._tape.up = replace(self._tape.up, router=switch, port=port)
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
            sockets = SocketWatch(self.world, senders, zero_ps) if senders else None
            reports = None
            if self._domain is not None:
                self.world.start(self._domain.collector, telemetry.sink())
                reports = DatagramWatch(self.world, self._domain.collector)
            for watch in (sockets, reports):
                if watch is not None:
                    stack.enter_context(watch)
            view = LiveView(
                subject(self._topology, *ports[0]), self.narrator.output, self.narrator.left
            )
            instruments = VirtualInstruments(
                self.world,
                self._topology,
                self.narrator,
                view,
                recorders,
                ports,
                sockets=sockets,
                reports=reports,
                domain=self._domain,
                zero_ps=zero_ps,
                seed=self.seed,
            )
            self._recording = instruments.recording
            yield instruments

    def best_rate(self, choices_bps: Sequence[int]) -> tuple[int, str]:
        """The slowest: every packet is computed, and the shape of things is the same."""
        chosen_bps = min(choices_bps)
        return chosen_bps, (
            f"The lab's line has {format_rate(chosen_bps)}, because every packet is computed. "
            "--rate asks for another one, which takes as many times longer as it is faster."
        )

    def becomes_calm(self, deadline_s: float) -> bool:
        """Nothing disturbs virtual time."""
        return True
