"""Our switch as a backend: one process that holds the ends of the cables itself.

Queues, delays and losses are all the switch's own, set and read through `vitrine.v1`.
"""

from __future__ import annotations

import os
from pathlib import Path

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
)
from topo.cables import cable
from topo.errors import MachineError
from topo.model import Switch, Topology

BINARY = Path(__file__).resolve().parent.parent / "build" / "bin" / "vitrine-switch"


class VitrineBackend(Backend):
    """vitrine-switch."""

    def __init__(
        self,
        binary: Path = BINARY,
        *,
        captures: Path | None = None,
        seed: int = 0,
        real_time_priority: int | None = None,
    ) -> None:
        """In the folder `captures`, if one is given, each switch writes its packets: s1.pcapng.

        `seed` is that of all its dice: AQM, losses, P4's random(). With a real-time priority all
        threads of a switch run before whatever has a lower one, however much they do.
        """
        self._binary = binary
        self._captures = captures
        self._seed = seed
        self._scheduled = (
            [] if real_time_priority is None else ["chrt", "--fifo", str(real_time_priority)]
        )

    def check(self, topology: Topology) -> None:
        """There is nothing in a topology that our switch cannot do."""
        check_binary(self._binary)

    def tcp_ports(self, switch: Switch) -> list[int]:
        """P4Runtime and vitrine.v1 share one."""
        return [switch.grpc_port]

    def start(self, topology: Topology, switch: Switch, network: Starter) -> RunningSwitch:
        """One process, without a program yet."""
        argv = [
            *self._scheduled,
            str(self._binary),
            *("--device-id", str(switch.device_id)),
            *("--grpc", f"127.0.0.1:{switch.grpc_port}"),
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
        await_answer(process, switch.name, [switch.grpc_port])
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


def check_binary(binary: Path = BINARY) -> None:
    """Raises if the switch was never built."""
    if not os.access(binary, os.X_OK):
        raise MachineError(f"there is no switch at {binary}: run `make build` first.")
