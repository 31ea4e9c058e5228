"""A network's requirements for a kind of switch: the seam between the adapter and the switches.

A `Backend` starts switches; a `RunningSwitch` is one of them. There are two kinds: ours
(`vitrine_switch`) and the P4 project's (`simple_switch`). The order is fixed:

1. `check` the topology before anything is built: tools, and what this kind of switch cannot do,
2. `start` each switch once its interfaces are there; it then answers P4Runtime,
3. after the controller has given it its program, `configure` its queues and cables,
4. `readings` as often as an instrument wants to look at its queues,
5. `stop` what `start` made; the processes have ended by then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from controller import routers
from controller.queues import Sample
from controller.session import Session
from topo import wait
from topo.errors import ProcessError
from topo.model import Switch, Topology
from topo.process import Process

START_DEADLINE_S = 90.0
# As in p4src/lib/headers.p4.
CPU_PORT = 510


class Starter(Protocol):
    """The network as a switch sees it while it is started."""

    logs: Path

    def start_process(self, argv: Sequence[str], log: Path) -> Process:
        """Starts a program that ends with the network at the latest."""

    def add_link(self, name: str) -> None:
        """Notes an interface of the root namespace that is about to be made."""


class QueueReadings(Protocol):
    """Samples of a switch's queues, on a clock of its own."""

    def read(self, ports: Iterable[int] = ()) -> Sample:
        """The counters of these ports, or of all, at this instant."""

    def watch(
        self, interval_ms: int, ports: Iterable[int] = ()
    ) -> AbstractContextManager[Iterator[Sample]]:
        """Samples for as long as the `with` block runs."""

    def held_up_s(self, least_s: float) -> float:
        """How long the machine has delayed the switch until now, in lags of `least_s` or more."""


class RunningSwitch(ABC):
    """One switch of a network that is up."""

    # A report's remarks on how the switch was set up; complete after `configure`.
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def configure(self, session: Session) -> None:
        """Puts queues and cables as the topology says; the program is loaded."""

    @abstractmethod
    def readings(self, session: Session) -> QueueReadings:
        """The instrument that sees its queues."""

    @abstractmethod
    def stop(self) -> None:
        """Removes what the switch made besides its processes."""


class Backend(ABC):
    """A kind of switch."""

    @abstractmethod
    def check(self, topology: Topology) -> None:
        """Raises what is missing on the machine, or what such a switch cannot do."""

    @abstractmethod
    def tcp_ports(self, switch: Switch) -> list[int]:
        """The ports of this machine on which the switch will answer."""

    @abstractmethod
    def address(self, switch: Switch) -> str:
        """Where it will answer P4Runtime."""

    @abstractmethod
    def start(self, topology: Topology, switch: Switch, network: Starter) -> RunningSwitch:
        """Starts the switch between its interfaces (`s1-eth1`), which exist and are up."""


def interface(switch: Switch, port: int) -> str:
    """The name of the switch's end of a cable."""
    return f"{switch.name}-eth{port}"


def on_loopback(port: int) -> str:
    """The address of a port of this machine."""
    return f"127.0.0.1:{port}"


def await_answer(process: Process, name: str, addresses: Sequence[str]) -> None:
    """Waits until a program answers at all of its addresses; one that ends instead is an error."""
    wait.until(
        lambda: process.has_ended() or all(map(routers.listens, addresses)),
        f"{name} answering at {', '.join(addresses)}",
        START_DEADLINE_S,
    )
    if process.has_ended():
        raise ProcessError(f"{name} ended at once: {process.last_words()}")
