"""`make up`: a network with its routers programmed, and Mininet's prompt to play with it.

TOPO names a topology file; without it the first lab's network is built, as RATE and QUEUE say.
DOMAIN names a telemetry domain of that network: its routers then report what its file asks for.
Leaving the prompt takes everything down again; so does `make down` in another terminal.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mininet.cli import CLI

from apps import domain as domains
from apps.domain import Domain
from controller.errors import ControllerError
from controller.toolchain import Toolchain
from labs import leftovers, network
from labs.bottleneck.lab import Bottleneck
from labs.errors import LabError
from labs.settings import Settings
from topo import units
from topo.errors import TopologyError
from topo.load import load
from topo.model import End, Topology

LOGS = network.ROOT / "build" / "log" / "up"
# Mininet's prompt runs it in the host that is named in front of it.
COLLECTOR = f"{sys.executable} -m apps.collector --listen 0.0.0.0"


def main() -> int:
    """Returns the exit status."""
    try:
        topology, toolchain = chosen(os.environ.get("TOPO")), Toolchain.chosen()
        file = os.environ.get("DOMAIN")
        domain = domains.load(Path(file)) if file else None
        with network.programmed(
            topology,
            logs=LOGS,
            domain=domain,
            toolchain=toolchain,
            program=os.environ.get("PROGRAM"),
        ) as (live, _):
            print(welcome(topology, domain))
            try:
                CLI(live.mininet)
            finally:
                shells = {host.name: host.pid for host in live.mininet.hosts}
                for program in leftovers.end_all(shells):
                    print(f"ended: {program}, which was still running")
    except (ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


def chosen(file: str | None) -> Topology:
    """The topology of that file, or the first lab's."""
    return load(Path(file)) if file else Bottleneck(Settings.from_environment()).topology()


def welcome(topology: Topology, domain: Domain | None = None) -> str:
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
    if domain is not None:
        lines.append(f"Reports: {domain.collector} {COLLECTOR} counts them; Ctrl-C ends it.")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
