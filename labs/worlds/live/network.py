"""A topology that is up on this machine with its routers programmed."""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from apps.domain import Domain
from controller.addresses import Way
from controller.session import Session
from controller.toolchain import Toolchain, ToolchainError
from labs import programming
from labs.programming import Programs
from labs.worlds.live import telling
from labs.worlds.live.flows import Flows
from topo.backend import Backend
from topo.live import LiveNetwork
from topo.model import Topology
from topo.simple_switch import SimpleSwitchBackend
from topo.vitrine_switch import VitrineBackend


@contextlib.contextmanager
def programmed(
    topology: Topology,
    *,
    logs: Path,
    domain: Domain | None = None,
    captures: Path | None = None,
    toolchain: Toolchain = Toolchain.VITRINE,
    program: str | None = None,
    seed: int = 0,
    real_time_priority: int | None = None,
    way: Way = Way.SOCKET,
) -> Iterator[tuple[LiveNetwork, Mapping[str, Session]]]:
    """The network and the session with each of its routers, by name; see `Programs.compiled`.

    In the folder `captures`, if one is given, each router writes all of its packets: s1.pcapng.
    `seed` is that of the routers' dice, `real_time_priority` that of their processes, instead of
    the one that each chooses by its load; only ours have either.
    """
    programs = Programs.compiled(topology, domain=domain, toolchain=toolchain, program=program)
    backend = backend_of(toolchain, captures, seed, real_time_priority, way)
    with LiveNetwork(topology, logs=logs, backend=backend) as live:
        if live.cleaned:
            print(f"[vitrine] {live.cleaned}", file=sys.stderr)
        addresses = {switch.name: live.address(switch.name) for switch in topology.switches}
        shells = {host.name: host.pid for host in live.mininet.hosts}
        flows = Flows({host.name: live.host(host.name) for host in topology.hosts})
        key = secrets.token_urlsafe(18)
        with (
            telling.serving(shells, next(iter(addresses.values()), ""), flows, key) as hosts,
            programming.programmed(
                programs,
                addresses,
                lambda switch, session: live.switch(switch.name).configure(session),
                hosts=hosts,
                hosts_key=key,
            ) as sessions,
        ):
            yield live, sessions


def backend_of(
    toolchain: Toolchain,
    captures: Path | None = None,
    seed: int = 0,
    real_time_priority: int | None = None,
    way: Way = Way.SOCKET,
) -> Backend:
    """The kind of switch that belongs to a toolchain; only ours writes captures."""
    if toolchain is Toolchain.VITRINE:
        return VitrineBackend(
            captures=captures,
            seed=seed,
            way=way,
            real_time_priority=real_time_priority,
        )
    if captures is not None:
        raise ToolchainError("simple_switch writes no captures of the kit's kind: leave them out.")
    return SimpleSwitchBackend()
