"""`vitrine up`: a network with its routers programmed, and a prompt to play with it.

Leaving the prompt takes everything down again; so does `vitrine down` in another terminal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from apps import domain as domains
from apps.programming import source_of
from controller.addresses import Way
from controller.toolchain import ROOT
from labs import catalogue
from labs.settings import Settings
from labs.world import World
from topo import units
from topo.load import load
from topo.model import End, Port, Topology

# Its network is that of a prompt without a topology.
FIRST_LAB = "bottleneck"
LOGS = ROOT / "build" / "log" / "up"
VIRTUAL_WORDS = (
    "Time passes as fast as ours; `speed 10` changes that. `help` lists commands, Ctrl-D ends."
)


@dataclass(frozen=True)
class Asked:
    """The options of `vitrine up`."""

    topology: str | None = None
    settings: Settings = field(default_factory=Settings)
    domain: str | None = None
    way: Way = Way.SOCKET


def run(asked: Asked, page: AbstractContextManager[None]) -> None:
    """The prompt, with the page beside it."""
    topology = chosen(asked.topology, asked.settings)
    domain = domains.load(Path(asked.domain)) if asked.domain else None
    for switch in topology.switches:
        # A program that is not there is refused before anything is shown.
        source_of(switch, asked.settings.program, domain)
    with page:
        _run(topology, asked, domain)


def _run(topology: Topology, asked: Asked, domain: domains.Domain | None) -> None:
    # Imported here: who stays in one world needs nothing of the other, such as Mininet.
    if asked.settings.world is World.VIRTUAL:
        from labs.worlds.virtual import prompt as virtual

        virtual.run(
            topology,
            logs=LOGS,
            domain=domain,
            program=asked.settings.program,
            way=asked.way,
            welcome=lambda addresses: f"{welcome(topology, addresses)}\n{VIRTUAL_WORDS}",
        )
    else:
        from labs.worlds.live import prompt as live

        live.run(
            topology,
            logs=LOGS,
            domain=domain,
            toolchain=asked.settings.toolchain,
            program=asked.settings.program,
            way=asked.way,
            welcome=lambda addresses: f"{welcome(topology, addresses)} Ctrl-D ends.",
        )


def chosen(file: str | None, settings: Settings) -> Topology:
    """The topology of that file, or the first lab's."""
    return load(Path(file)) if file else catalogue.named(FIRST_LAB)(settings).place.topology


def welcome(topology: Topology, addresses: Sequence[str]) -> str:
    """The network, and first steps; `addresses` are those of the routers, in order."""
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
