"""`make up`: a network with its routers programmed, and a prompt to play with it; WORLD says where.

TOPO names a topology file; without it the first lab's network is built, as RATE and QUEUE say.
DOMAIN names a telemetry domain of that network: its routers then report what its file asks for.
Leaving the prompt takes everything down again; so does `make down` in another terminal.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from apps import domain as domains
from apps.programming import source_of
from controller.addresses import Way
from controller.errors import ControllerError
from controller.toolchain import ROOT, Toolchain
from labs.bottleneck.lab import Bottleneck
from labs.errors import LabError
from labs.glass import beside
from labs.settings import Settings, refuse_unknown
from labs.world import World
from topo import units
from topo.errors import TopologyError
from topo.load import load
from topo.model import End, Port, Topology

# What a network of the first lab can be made with, and all that can stand behind `make up`.
OF_FIRST_LAB = ("RATE", "QUEUE")
TAKEN = (*OF_FIRST_LAB, "TOPO", "PROGRAM", "DOMAIN", "WORLD", "TOOLCHAIN", "GRPC")
LOGS = ROOT / "build" / "log" / "up"
VIRTUAL_WORDS = (
    "Time passes as fast as ours; `speed 10` changes that. `help` lists commands, Ctrl-D ends."
)


def main() -> int:
    """Returns the exit status."""
    try:
        refuse_unknown(TAKEN)
        topology, toolchain = chosen(os.environ.get("TOPO")), Toolchain.chosen()
        Way.chosen()
        file = os.environ.get("DOMAIN")
        domain = domains.load(Path(file)) if file else None
        program = os.environ.get("PROGRAM") or None
        for switch in topology.switches:
            # A program that is not there is refused before anything is shown.
            source_of(switch, program, domain)
        with beside.served(sys.stdout):
            _run(topology, toolchain, domain, program)
    except (ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


def _run(
    topology: Topology, toolchain: Toolchain, domain: domains.Domain | None, program: str | None
) -> None:
    # Imported here: who stays in one world needs nothing of the other, such as Mininet.
    if World.chosen() is World.VIRTUAL:
        from labs.worlds.virtual import prompt as virtual

        virtual.run(
            topology,
            logs=LOGS,
            domain=domain,
            program=program,
            welcome=lambda addresses: f"{welcome(topology, addresses)}\n{VIRTUAL_WORDS}",
        )
    else:
        from labs.worlds.live import prompt as live

        live.run(
            topology,
            logs=LOGS,
            domain=domain,
            toolchain=toolchain,
            program=program,
            welcome=lambda addresses: f"{welcome(topology, addresses)} Ctrl-D ends.",
        )


def chosen(file: str | None) -> Topology:
    """The topology of that file, or the first lab's."""
    if file:
        return load(Path(file))
    settings = Settings.from_environment(OF_FIRST_LAB, others=TAKEN)
    return Bottleneck(settings).topology()


def welcome(topology: Topology, addresses: Sequence[str]) -> str:
    """What is there, and what to try first; `addresses` are those of the routers, in order."""
    lines = []
    for switch, address in zip(topology.switches, addresses, strict=True):
        lines.append(f"{switch.name}: P4Runtime and vitrine.v1 on {address}")
        for port in switch.ports:
            far = topology.neighbour(End(switch.name, port.number))
            rate = "as fast as the machine"
            if port.rate_bps:
                rate = units.format_rate(port.rate_bps)
            lines.append(f"  port {port.number} to {far}, {rate}{_too_fast(topology, port, far)}")
    hosts = [host.name for host in topology.hosts]
    lines.append(f"hosts: {', '.join(hosts)}")
    if len(hosts) > 1:
        lines.append(f"Try: {hosts[0]} ping -c 3 {hosts[-1]}.")
    return "\n".join(lines)


def _too_fast(topology: Topology, port: Port, far: End) -> str:
    """Where a router's port sends faster than the line behind it: what becomes of the rest."""
    if far.port is None:
        return ""
    behind = topology.switch(far.node).port(far.port)
    own_bps = behind.cable.sender.rate_bps
    line_bps = behind.rate_bps if own_bps is None else own_bps
    if not line_bps or (port.rate_bps or math.inf) <= line_bps:
        return ""
    return (
        f", into a line of {units.format_rate(line_bps)}: what is too much is lost there, and "
        f"shown at {far.node} port {far.port}"
    )
