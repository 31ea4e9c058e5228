"""Namespaces and cables made for one run, removed with it; other networks are left alone."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from topo import wait
from topo.errors import MachineError
from topo.process import Process

COMMAND_DEADLINE_S = 60.0
LINK_DEADLINE_S = 10.0
# Features that "offloads off" disables: super-packets in both directions and hardware checksums.
OFFLOADS = ("tso", "gso", "gro", "tx")


def run(argv: Sequence[str]) -> str:
    """Runs a command to its end and returns what it printed; its complaint is the error."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_DEADLINE_S)
    if done.returncode != 0:
        raise MachineError(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Namespace:
    """A network namespace and what runs in it."""

    def __init__(self, name: str, logs: Path) -> None:
        self.name = f"vb{os.getpid()}-{name}"
        self._logs = logs
        self._processes: list[Process] = []

    def run(self, argv: Sequence[str]) -> str:
        """Runs a command inside to its end."""
        return run(["ip", "netns", "exec", self.name, *argv])

    def start(self, argv: Sequence[str], log: str) -> Process:
        """Starts a program inside; it ends with the network at the latest."""
        process = Process(["ip", "netns", "exec", self.name, *argv], self._logs / log)
        self._processes.append(process)
        return process

    def offloads(self, device: str, *, on: bool) -> None:
        """Switches a device's offloads."""
        settings = [word for each in OFFLOADS for word in (each, "on" if on else "off")]
        self.run(["ethtool", "-K", device, *settings])

    def listens_on(self, port: int) -> bool:
        """Whether a TCP server waits for connections on `port`."""
        return bool(self.run(["ss", "-Hltn", f"sport = :{port}"]).strip())

    def end_processes(self) -> None:
        """Ends what runs here, by id, the youngest first."""
        while self._processes:
            self._processes.pop().end()


class Network:
    """The namespaces of one measurement."""

    def __init__(self, logs: Path, *, mtu: int, offloads: bool) -> None:
        self.logs = logs
        self.mtu = mtu
        self.offloads = offloads
        self._ending = contextlib.ExitStack()

    def namespace(self, name: str) -> Namespace:
        """Makes a namespace without IPv6: every packet in it is one that the bench sent."""
        namespace = Namespace(name, self.logs)
        run(["ip", "netns", "add", namespace.name])
        self._ending.callback(run, ["ip", "netns", "delete", namespace.name])
        self._ending.callback(namespace.end_processes)
        namespace.run(["ip", "link", "set", "lo", "up"])
        if Path("/proc/sys/net/ipv6").exists():
            namespace.run(["sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"])
        return namespace

    def cable(self, a: Namespace, a_device: str, b: Namespace, b_device: str) -> None:
        """Joins two namespaces by a veth pair that is up when this returns."""
        ends = ((a, a_device), (b, b_device))
        run(
            f"ip link add {a_device} netns {a.name} "
            f"type veth peer name {b_device} netns {b.name}".split()
        )
        for namespace, device in ends:
            namespace.offloads(device, on=self.offloads)
            namespace.run(["ip", "link", "set", device, "mtu", str(self.mtu), "up"])
        for namespace, device in ends:
            wait.until(
                lambda at=namespace, name=device: "state UP"
                in at.run(["ip", "link", "show", name]),
                f"the start of {device}",
                LINK_DEADLINE_S,
            )

    def close(self) -> None:
        """Ends every process and removes every namespace, and with them the cables."""
        self._ending.close()


@contextlib.contextmanager
def network(logs: Path, *, mtu: int, offloads: bool) -> Iterator[Network]:
    """A network for the length of a `with` block."""
    made = Network(logs, mtu=mtu, offloads=offloads)
    try:
        yield made
    finally:
        made.close()
