"""A topology that is up with its routers programmed: what labs and the prompt begin with."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from apps import router, telemetry
from apps.domain import Domain
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
) -> Iterator[tuple[LiveNetwork, Mapping[str, Session]]]:
    """The network and the session with each of its routers, by name.

    With a telemetry domain the routers run the program that speaks INT and are nodes of it. In the
    folder `captures`, if one is given, each of them writes all of its packets: s1.pcapng.
    """
    # Before anything is built: a program that was never compiled is the user's first mistake.
    program, config = toolchain.compiled("router" if domain is None else "int_router")
    backend = backend_of(toolchain, captures)
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(LiveNetwork(topology, logs=logs, backend=backend))
        if live.cleaned:
            print(f"[vitrine] {live.cleaned}", file=sys.stderr)
        sessions = {}
        for switch in topology.switches:
            session = stack.enter_context(
                Session.connect(live.address(switch.name), device_id=switch.device_id)
            )
            session.load(program, config)
            router.program(session, topology, switch)
            live.switch(switch.name).configure(session)
            if domain is not None:
                telemetry.program(session, domain, topology, switch)
            stack.enter_context(router.serving(session, topology, switch))
            sessions[switch.name] = session
        addresses = {switch.name: live.address(switch.name) for switch in topology.switches}
        stack.enter_context(routers.announced(addresses))
        yield live, sessions


def backend_of(toolchain: Toolchain, captures: Path | None = None) -> Backend:
    """The kind of switch that belongs to a toolchain; only ours writes captures."""
    if toolchain is Toolchain.VITRINE:
        return VitrineBackend(captures=captures)
    if captures is not None:
        raise ToolchainError("simple_switch writes no captures of the kit's kind: leave them out.")
    return SimpleSwitchBackend()
