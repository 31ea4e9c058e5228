"""The network under test: two routers, their controller, and hosts that talk all the time.

    with network.up(folder) as network:
        network.end_router("s1", signal.SIGKILL)
        network.start_router("s1")

A router can be killed and started again as it was, which `topo` has no use for.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apps import domain as domains
from apps.programming import Router, source_of
from controller.lines import Lines
from controller.ports import Ports
from controller.queues import Queues
from controller.session import Session
from labs import programming
from labs.programming import Programs
from tests.chaos import traffic
from tests.chaos.churn import Churn
from tests.chaos.memory import Bound
from tests.chaos.tallies import Tallies
from topo import load, wait
from topo.backend import RunningSwitch, Starter
from topo.cables import cable
from topo.live import LiveNetwork
from topo.model import Switch, Topology
from topo.process import Process
from topo.vitrine_switch import VitrineBackend, await_own

HERE = Path(__file__).parent
# The routers' captures fill theirs within seconds: a disk that is full is the usual state. That of
# their logs has room for hours.
DISK_MIB = 4
# Above the bound of memory that clients can make a router use.
MEMORY_BYTES = 512 << 20
RECEIVER, REPORTED_TO = "h2", "h9"


@dataclass(frozen=True)
class Disks:
    """File systems with little room, of both routers together."""

    captures: Path
    logs: Path


class Remembering(VitrineBackend):
    """Our switch in its bounds, and how each was started."""

    def __init__(self, disks: Disks, bounds: Mapping[str, Bound | None]) -> None:
        super().__init__(captures=disks.captures)
        self._logs, self._bounds = disks.logs, bounds
        self.processes: dict[str, Process] = {}

    def start(self, topology: Topology, switch: Switch, network: Starter) -> RunningSwitch:
        """As ever; the process is kept by the router's name."""
        bound = self._bounds[switch.name]
        keeping = _Keeping(network, self._logs, switch.name, bound, self.processes)
        return super().start(topology, switch, keeping)


@dataclass
class _Keeping:
    """Passes on what a backend asks of the network, and keeps the process."""

    network: Starter
    logs: Path
    name: str
    bound: Bound | None
    processes: dict[str, Process]

    def start_process(self, argv: Sequence[str], log: Path) -> Process:
        bounded = self.bound.around(argv) if self.bound else argv
        self.processes[self.name] = self.network.start_process(bounded, log)
        return self.processes[self.name]

    def add_link(self, name: str) -> None:
        self.network.add_link(name)


@dataclass
class Network:
    """The running network, for faults and laws."""

    live: LiveNetwork
    sessions: Mapping[str, Session]
    processes: dict[str, Process]
    disks: Disks
    # By router; None where the machine cannot limit memory.
    bounds: Mapping[str, Bound | None]
    # By router: one each, because a session restores what each of them has set.
    churns: dict[str, Churn] = field(default_factory=dict)
    queues: dict[str, Queues] = field(default_factory=dict)
    lines: dict[str, Lines] = field(default_factory=dict)
    ports: dict[str, Ports] = field(default_factory=dict)
    tallies: dict[str, Tallies] = field(default_factory=dict)
    # All that must not end by itself.
    talking: list[Process] = field(default_factory=list)
    # How often a router was ended by the kernel and had to be.
    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0

    @property
    def routers(self) -> list[str]:
        """Their names."""
        return list(self.sessions)

    def pid(self, router: str) -> int:
        """The process that is this router now."""
        return self.processes[router].pid

    def end_router(self, router: str, number: signal.Signals) -> None:
        """Ends a router's process by a signal, and waits until it is gone."""
        process = self.processes[router]
        os.kill(process.pid, number)
        process.end()

    def start_router(self, router: str) -> None:
        """Starts it again as it was; its controller is to find out by itself."""
        before = self.processes[router]
        self.starts += 1
        # A log of its own, so that what the one before said stays.
        log = self.disks.logs / f"{router}-{self.starts}.log"
        self.processes[router] = self.live.start_process(before.argv, log)
        await_own(self.processes[router], router, self.live.address(router))

    def configure(self, router: str) -> None:
        """Queues and cables as the topology has them."""
        switch = self.live.topology.switch(router)
        self.queues[router].configure(switch.settings)
        self.lines[router].configure({port.number: cable(port) for port in switch.ports})

    def router(self, router: str) -> Router:
        """The router as one whose program is replaced."""
        topology = self.live.topology
        switch = topology.switch(router)
        domain = domains.load(HERE / "domain.yaml")
        source = source_of(switch, None, domain)
        return Router(self.sessions[router], topology, switch, source, domain=domain)

    def rude(self, what: str, router: str) -> Process:
        """A client that is up to no good."""
        argv = [sys.executable, "-m", "tests.chaos.rude", what, self.live.address(router)]
        return self.live.start_process(argv, self.live.logs / f"{what}.log")

    def talk(self, host: str, what: str, argument: str) -> Process:
        """A program of `traffic` in a host."""
        argv = [sys.executable, "-m", "tests.chaos.traffic", what, argument]
        return self.live.host(host).start(argv, self.live.logs / f"{what}.log")

    @property
    def receiver(self) -> str:
        """The address to which all hosts send."""
        return str(self.live.host(RECEIVER).address)

    def begin(self) -> None:
        """All hosts send, tables are churned."""
        receivers = {"tcp": traffic.TCP, "udp": traffic.UDP, "reports": traffic.REPORTS}
        for name, names in receivers.items():
            self.tallies[name] = Tallies(self.live.logs / name, names)
        listening = [
            self.talk(RECEIVER, "receive-tcp", str(self.live.logs / "tcp")),
            self.talk(RECEIVER, "receive-udp", str(self.live.logs / "udp")),
            self.talk(REPORTED_TO, "collect", str(self.live.logs / "reports")),
        ]
        host = self.live.host(RECEIVER)
        wait.until(lambda: host.listens_on(traffic.TCP_PORT), "the receiver of TCP", 30)
        sending = [
            self.talk("h1", "send-tcp", self.receiver),
            self.talk("h3", "send-udp", self.receiver),
        ]
        self.talking = listening + sending
        for name, session in self.sessions.items():
            self.ports[name], self.queues[name] = Ports(session), Queues(session)
            self.lines[name], self.churns[name] = Lines(session), Churn(session)


@contextlib.contextmanager
def up(folder: Path) -> Iterator[Network]:
    """The network for the length of a `with` block, with all hosts sending."""
    topology = load.load(HERE / "network.yaml")
    domain = domains.load(HERE / "domain.yaml")
    programs = Programs.compiled(topology, domain=domain)
    with contextlib.ExitStack() as stack:
        _clear(folder)
        disks = Disks(
            stack.enter_context(_small_disk(folder / "captures")),
            stack.enter_context(_small_disk(folder / "logs")),
        )
        stack.callback(_keep, disks.logs, folder)
        bounds = {
            each.name: stack.enter_context(Bound.over(each.name, MEMORY_BYTES))
            for each in topology.switches
        }
        backend = Remembering(disks, bounds)
        live = stack.enter_context(LiveNetwork(topology, logs=folder, backend=backend))
        addresses = {each.name: live.address(each.name) for each in topology.switches}
        sessions = stack.enter_context(
            programming.programmed(
                programs,
                addresses,
                lambda switch, session: live.switch(switch.name).configure(session),
            )
        )
        network = Network(live, sessions, backend.processes, disks, bounds)
        network.begin()
        for churn in network.churns.values():
            stack.enter_context(churn.going_on())
        yield network


def _clear(folder: Path) -> None:
    """Nothing of an earlier run is counted again; one that was killed may have left its disks."""
    for disk in ("captures", "logs"):
        if (folder / disk).is_mount():
            subprocess.run(["umount", "--lazy", str(folder / disk)], check=True)
    if folder.exists():
        shutil.rmtree(folder)


def _keep(logs: Path, folder: Path) -> None:
    """Copies the routers' logs from their disk, which goes away with the network."""
    for log in logs.iterdir():
        if log.suffix == ".log":
            shutil.copy(log, folder)


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A file system in memory on which there is little room."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(folder)]
    subprocess.run(mount, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
