"""A topology that is up with its routers programmed: what labs and the prompt begin with."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from controller.apps import router
from controller.p4info import P4Info
from controller.session import Session
from topo.live import LiveNetwork
from topo.model import Topology

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "p4" / "router.json"
PROGRAM_INFO = ROOT / "build" / "p4" / "router.p4info.txtpb"


@contextlib.contextmanager
def programmed(
    topology: Topology, *, logs: Path
) -> Iterator[tuple[LiveNetwork, Mapping[str, Session]]]:
    """The network and the session with each of its routers, by name."""
    # Read before anything is built: a program that was never compiled is the user's first mistake.
    program, config = P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes()
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(LiveNetwork(topology, logs=logs))
        if live.cleaned:
            print(f"[vitrine] {live.cleaned}", file=sys.stderr)
        sessions = {}
        for switch in topology.switches:
            session = stack.enter_context(
                Session.connect(live.address(switch.name), device_id=switch.device_id)
            )
            session.load(program, config)
            router.program(session, topology, switch)
            stack.enter_context(router.serving(session, switch))
            sessions[switch.name] = session
        yield live, sessions
