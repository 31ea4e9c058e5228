"""A topology that is up with its routers programmed: what labs and the prompt begin with."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from controller.apps import router, telemetry
from controller.p4info import P4Info
from controller.session import Session
from controller.telemetry.domain import Domain
from topo.live import LiveNetwork
from topo.model import Topology

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build" / "p4"
PROGRAM_INFO = PROGRAMS / "router.p4info.txtpb"


@contextlib.contextmanager
def programmed(
    topology: Topology, *, logs: Path, domain: Domain | None = None, captures: Path | None = None
) -> Iterator[tuple[LiveNetwork, Mapping[str, Session]]]:
    """The network and the session with each of its routers, by name.

    With a telemetry domain the routers run the program that speaks INT and are nodes of it.
    """
    name = "router" if domain is None else "int_router"
    # Read before anything is built: a program that was never compiled is the user's first mistake.
    program = P4Info.load(PROGRAMS / f"{name}.p4info.txtpb")
    config = (PROGRAMS / f"{name}.json").read_bytes()
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(LiveNetwork(topology, logs=logs, captures=captures))
        if live.cleaned:
            print(f"[vitrine] {live.cleaned}", file=sys.stderr)
        sessions = {}
        for switch in topology.switches:
            session = stack.enter_context(
                Session.connect(live.address(switch.name), device_id=switch.device_id)
            )
            session.load(program, config)
            router.program(session, topology, switch)
            if domain is not None:
                telemetry.program(session, domain, topology, switch)
            stack.enter_context(router.serving(session, switch))
            sessions[switch.name] = session
        yield live, sessions
