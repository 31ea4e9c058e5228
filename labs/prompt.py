"""`make up`: a network with its routers programmed, and a prompt to play with it.

TOPO names a topology file; without it the first lab's network is built, as RATE and QUEUE say.
DOMAIN names a telemetry domain of that network: its routers then report what its file asks for.
Leaving the prompt takes everything down again; so does `make down` in another terminal.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from apps import domain as domains
from controller.errors import ControllerError
from controller.toolchain import ROOT, Toolchain
from labs.bottleneck.lab import Bottleneck
from labs.errors import LabError
from labs.settings import Settings
from topo import units
from topo.errors import TopologyError
from topo.load import load
from topo.model import End, Topology

LOGS = ROOT / "build" / "log" / "up"


def main() -> int:
    """Returns the exit status."""
    try:
        topology, toolchain = chosen(os.environ.get("TOPO")), Toolchain.chosen()
        file = os.environ.get("DOMAIN")
        domain = domains.load(Path(file)) if file else None
        # Imported here: a machine without Mininet can do without the live world.
        from labs.worlds.live import prompt

        prompt.run(
            topology,
            logs=LOGS,
            domain=domain,
            toolchain=toolchain,
            program=os.environ.get("PROGRAM"),
            welcome=welcome(topology),
        )
    except (ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


def chosen(file: str | None) -> Topology:
    """The topology of that file, or the first lab's."""
    return load(Path(file)) if file else Bottleneck(Settings.from_environment()).topology()


def welcome(topology: Topology) -> str:
    """What is there, and what to try first."""
    lines = []
    for switch in topology.switches:
        lines.append(f"{switch.name}: P4Runtime and vitrine.v1 on 127.0.0.1:{switch.grpc_port}")
        for port in switch.ports:
            far = topology.neighbour(End(switch.name, port.number))
            rate = "as fast as the machine"
            if port.rate_bps:
                rate = units.format_rate(port.rate_bps)
            lines.append(f"  port {port.number} to {far}, {rate}")
    hosts = [host.name for host in topology.hosts]
    lines.append(f"hosts: {', '.join(hosts)}")
    if len(hosts) > 1:
        lines.append(f"Try: {hosts[0]} ping -c 3 {hosts[-1]}. Ctrl-D ends.")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
