"""A topology that is up with its routers programmed: what labs and the prompt begin with."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from apps import reload, router, telemetry
from apps.domain import Domain
from apps.programming import Router, source_of
from controller.session import Session
from controller.toolchain import ROOT, Toolchain, ToolchainError
from labs import routers
from topo.backend import Backend
from topo.live import LiveNetwork
from topo.model import Topology
from topo.simple_switch import SimpleSwitchBackend
from topo.vitrine_switch import VitrineBackend

__all__ = ["ROOT", "backend_of", "programmed"]


@contextlib.contextmanager
def programmed(
    topology: Topology,
    *,
    logs: Path,
    domain: Domain | None = None,
    captures: Path | None = None,
    toolchain: Toolchain = Toolchain.VITRINE,
    program: str | None = None,
) -> Iterator[tuple[LiveNetwork, Mapping[str, Session]]]:
    """The network and the session with each of its routers, by name.

    All routers run `program`, or each what the topology says, else the kit's router; with a
    telemetry domain the kit's router that speaks INT, and they are nodes of the domain. In the
    folder `captures`, if one is given, each of them writes all of its packets: s1.pcapng.
    """
    # Before anything is built: a program that does not compile is the user's first mistake.
    sources = {each.name: source_of(each, program, domain) for each in topology.switches}
    for source in sources.values():
        toolchain.compiled(source)
    backend = backend_of(toolchain, captures)
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(LiveNetwork(topology, logs=logs, backend=backend))
        if live.cleaned:
            print(f"[vitrine] {live.cleaned}", file=sys.stderr)
        sessions, programs = {}, []
        for switch in topology.switches:
            session = stack.enter_context(
                Session.connect(live.address(switch.name), device_id=switch.device_id)
            )
            programs.append(
                Router(
                    *(session, topology, switch, sources[switch.name]),
                    toolchain=toolchain,
                    domain=domain,
                )
            )
            for remark in programs[-1].start():
                print(f"[vitrine] {remark}", file=sys.stderr)
            live.switch(switch.name).configure(session)
            if domain is not None:
                telemetry.mirror_drops(session, domain)
            stack.enter_context(router.serving(session, topology, switch))
            sessions[switch.name] = session
        addresses = {switch.name: live.address(switch.name) for switch in topology.switches}
        stack.enter_context(routers.announced(addresses))
        stack.enter_context(reload.serving(programs))
        yield live, sessions


def backend_of(toolchain: Toolchain, captures: Path | None = None) -> Backend:
    """The kind of switch that belongs to a toolchain; only ours writes captures."""
    if toolchain is Toolchain.VITRINE:
        return VitrineBackend(captures=captures)
    if captures is not None:
        raise ToolchainError("simple_switch writes no captures of the kit's kind: leave them out.")
    return SimpleSwitchBackend()
