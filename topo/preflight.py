"""A live network's requirements for the machine, checked before anything is changed.

Each missing thing is one sentence that says what to do. The checks are ordered so that the first
one that fails is the one to repair first.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess

from topo import deciders, record
from topo.backend import Backend
from topo.errors import MachineError, StaleRunError
from topo.model import Topology

TOOLS = ("ip", "iperf3", "mnexec", "ping", "ss")


def check(topology: Topology, backend: Backend) -> str | None:
    """Returns if the network can be built; reports remains of an earlier run that it cleaned up."""
    deciders.refuse(topology)
    check_machine()
    backend.check(topology)
    cleaned = record.clean_stale()
    for name in interface_names(topology):
        if record.interface_exists(name):
            raise StaleRunError(
                f"the interface {name} exists already and no run of this kit has recorded it: "
                f"end the program that made it, or remove it with `ip link delete {name}`."
            )
    for switch in topology.switches:
        for port in backend.tcp_ports(switch):
            check_port_free(port, switch.name)
    return cleaned


def check_machine() -> None:
    """Root, tools and namespaces: what every live network needs, whatever its topology."""
    if os.geteuid() != 0:
        raise MachineError("networks of real hosts need root: run this with sudo.")
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise MachineError(f"not installed: {', '.join(missing)}; run `make setup` first.")
    # Mininet's first step for each host; if it fails, Mininet itself would wait for ever.
    probe = subprocess.run(["mnexec", "-n", "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        reason = probe.stderr.strip().rpartition(": ")[2]
        raise MachineError(
            f"this machine forbids network namespaces ({reason}): use a virtual machine, "
            "or a container started with --privileged."
        )


def interface_names(topology: Topology) -> list[str]:
    """The interfaces of the root namespace that the network will have: the switches' ports."""
    return [
        f"{switch.name}-eth{port.number}" for switch in topology.switches for port in switch.ports
    ]


def check_port_free(port: int, switch: str) -> None:
    """Raises an error if something answers there already, with its name."""
    with socket.socket() as probe:
        # As the switch itself will bind: a closed connection's TIME_WAIT does not count as use.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise MachineError(
                f"port {port}, on which {switch} is to answer, is in use{_user_of(port)}: "
                "end that program or give the switch another grpc_port."
            ) from None


def _user_of(port: int) -> str:
    """` by NAME (process PID)` as ss knows it, or nothing."""
    if shutil.which("ss") is None:
        return ""
    listing = subprocess.run(
        ["ss", "-Hltnp", f"sport = :{port}"], capture_output=True, text=True, check=False
    ).stdout
    _, found, users = listing.partition('users:(("')
    if not found:
        return ""
    name, _, rest = users.partition('"')
    return f" by {name} (process {rest.partition('pid=')[2].partition(',')[0]})"
