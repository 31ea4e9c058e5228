"""Mininet's prompt on a network of this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from mininet.cli import CLI

from apps.domain import Domain
from controller.addresses import Way
from controller.toolchain import Toolchain
from labs.worlds.live import leftovers, network
from topo.model import Topology

# The prompt runs it in the host that is named in front of it.
COLLECTOR = f"{sys.executable} -m apps.collector --listen 0.0.0.0"


def run(
    topology: Topology,
    *,
    logs: Path,
    domain: Domain | None,
    toolchain: Toolchain,
    program: str | None,
    way: Way,
    welcome: Callable[[Sequence[str]], str],
) -> None:
    """Builds the network, greets, and takes commands until they end.

    `welcome` is given where each router answers.
    """
    with network.programmed(
        topology, logs=logs, domain=domain, toolchain=toolchain, program=program, way=way
    ) as (live, _):
        print(welcome([live.address(switch.name) for switch in topology.switches]))
        if domain is not None:
            print(f"Reports: {domain.collector} {COLLECTOR} counts them; Ctrl-C ends it.")
        try:
            CLI(live.mininet)
        finally:
            shells = {host.name: host.pid for host in live.mininet.hosts}
            for name in leftovers.end_all(shells):
                print(f"ended: {name}, which was still running")
