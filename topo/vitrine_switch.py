"""Our switch as a backend: one process that holds the ends of the cables itself.

Queues, delays and losses are all the switch's own, set and read through `vitrine.v1`. It answers at
a Unix socket beside the record of the network, which is root's and that of who called sudo; at a
port of the machine's own address, which everybody on the machine reaches, where somebody asks for
that.
"""

from __future__ import annotations

import os
from pathlib import Path

from controller import ownership, routers
from controller.addresses import SOCKET_PATH_BYTES_MAX, Way, at_socket, fits, socket_of
from controller.lines import Lines
from controller.queues import Queues
from controller.session import Session
from topo.backend import (
    CPU_PORT,
    Backend,
    QueueReadings,
    RunningSwitch,
    Starter,
    await_answer,
    interface,
    on_loopback,
)
from topo.cables import cable
from topo.errors import MachineError
from topo.model import Switch, Topology
from topo.process import Process

BINARY = Path(__file__).resolve().parent.parent / "build" / "bin" / "vitrine-switch"


class VitrineBackend(Backend):
    """vitrine-switch."""

    def __init__(
        self,
        binary: Path = BINARY,
        *,
        captures: Path | None = None,
        seed: int = 0,
        way: Way = Way.SOCKET,
        real_time_priority: int | None = None,
    ) -> None:
        """In the folder `captures`, if one is given, each switch writes its packets: s1.pcapng.

        `seed` is that of all its dice: AQM, losses, P4's random(). A switch whose port the topology
        names answers there, whatever the `way` of the others. With a real-time priority all threads
        of a switch run before whatever has a lower one, however much they do.
        """
        self._binary = binary
        self._way = way
        self._captures = captures
        self._seed = seed
        self._scheduled = (
            [] if real_time_priority is None else ["chrt", "--fifo", str(real_time_priority)]
        )

    def check(self, topology: Topology) -> None:
        """There is nothing in a topology that our switch cannot do."""
        check_binary(self._binary)
        for switch in topology.switches:
            check_socket(self.address(switch))

    def tcp_ports(self, switch: Switch) -> list[int]:
        """P4Runtime and vitrine.v1 share one, if any."""
        return [switch.grpc_port] if self._is_on_tcp(switch) else []

    def address(self, switch: Switch) -> str:
        """P4Runtime and vitrine.v1 share one."""
        if self._is_on_tcp(switch):
            return on_loopback(switch.grpc_port)
        return at_socket(routers.socket_path(switch.name))

    def _is_on_tcp(self, switch: Switch) -> bool:
        return self._way is Way.TCP or switch.is_on_tcp

    def start(self, topology: Topology, switch: Switch, network: Starter) -> RunningSwitch:
        """One process, without a program yet."""
        argv = [
            *self._scheduled,
            str(self._binary),
            *("--device-id", str(switch.device_id)),
            *("--grpc", self.address(switch)),
            # Where the P4 programs send what is for the controller.
            *("--cpu-port", str(CPU_PORT)),
            *("--seed", str(self._seed)),
            # Ports that come while it runs, as people add them by hand.
            *("--later-ports", f"{switch.name}-eth*"),
        ]
        for port in switch.ports:
            argv += ["-i", f"{port.number}@{interface(switch, port.number)}"]
        if self._captures is not None:
            self._captures.mkdir(parents=True, exist_ok=True)
            argv += ["--capture", str(self._captures / f"{switch.name}.pcapng")]
        process = network.start_process([*argv, "--no-p4"], network.logs / f"{switch.name}.log")
        await_own(process, switch.name, self.address(switch))
        return _Running(switch)


class _Running(RunningSwitch):
    def __init__(self, switch: Switch) -> None:
        self._switch = switch

    def configure(self, session: Session) -> None:
        Queues(session).configure(self._switch.settings)
        Lines(session).configure({port.number: cable(port) for port in self._switch.ports})

    def readings(self, session: Session) -> QueueReadings:
        return Queues(session)

    def stop(self) -> None:
        # It made nothing but its process.
        return


def await_own(process: Process, name: str, address: str) -> None:
    """Waits until one of our switches answers; its socket is then also who called sudo's."""
    await_answer(process, name, [address])
    path = socket_of(address)
    if path is not None:
        # Of who connects the switch asks the kernel whether they are root or the file's owner.
        ownership.give_to_caller(path)


def check_socket(address: str) -> None:
    """Raises what is wrong with the name of a socket, of which the kernel takes few bytes."""
    path = socket_of(address)
    if path is not None and not fits(path):
        raise MachineError(
            f"{path} is too long for the name of a socket, which has {SOCKET_PATH_BYTES_MAX} bytes "
            "at most: name a shorter folder by VITRINE_RUN_DIR, or say --grpc tcp."
        )


def check_binary(binary: Path = BINARY) -> None:
    """Raises if the switch was never built."""
    if not os.access(binary, os.X_OK):
        raise MachineError(f"there is no switch at {binary}: run `make build` first.")
