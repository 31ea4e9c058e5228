"""Networks around a submission: hosts, routers, cables, and time that passes.

They are in virtual time, or, where the case is checked so, on live routers between hosts of this
machine: `course.tools.net` says what can be done in both.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from controller.entries import Call, Entry, Lpm
from controller.p4info import P4Info
from controller.session import Session
from controller.values import Mac
from course.exercise import Work
from course.tools.net import Load, Network
from course.tools.tracer import Program
from topo import load as loading
from topo import paths
from topo import world as messages
from topo.document import Place
from topo.model import End, Switch, Topology


def topology(text: str) -> Topology:
    """A topology that stands in a check."""
    return messages.numbered(loading.read(Place.of_text(text, Path("the check's topology"))))


def network(
    work: Work, of: Topology, load: Load, *, seed: int = 1, film: str = ""
) -> contextlib.AbstractContextManager[Network]:
    """A network in the world in which the case is checked; `load` fills its routers.

    What is refused inside gets the moment: the network's name is `film`, and the instant is now.
    """
    if work.place.is_live:
        # It wants Mininet, which a machine without root need not have.
        from course.tools.live import live_network

        return live_network(work, of, load, seed=seed, film=film)
    if sys.platform == "emscripten":
        from course.page.network import page_network

        return page_network(work, of, load, seed=seed, film=film)
    from course.tools.virtual import virtual_network

    return virtual_network(work, of, load, seed=seed, film=film)


# ---- what routers run ----------------------------------------------------------------------------


def runs(program: Program, fill: Load) -> Load:
    """Every router runs the submission; `fill` writes its entries."""
    info, config = P4Info.load(program.p4info), program.compiled.read_bytes()

    def load(switch: Switch, session: Session) -> None:
        session.load(info, config)
        fill(switch, session)

    return load


def kits_router(of: Topology) -> Load:
    """Every router runs the kit's own program, with routes to everywhere."""

    from apps.programming import Router, source_of

    def load(switch: Switch, session: Session) -> None:
        Router(session, of, switch, source_of(switch, None, None)).start()

    return load


def routes(of: Topology) -> Load:
    """Entries of a table `routes` with an action `forward`, as P4 exercises have them."""

    def fill(switch: Switch, session: Session) -> None:
        session.insert(
            Entry(
                "routes",
                {"hdr.ipv4.dst_addr": Lpm(route.prefix.network_address, route.prefix.prefixlen)},
                Call("forward", port=hop.port, src_addr=hop.src_mac, dst_addr=hop.dst_mac),
            )
            for route in paths.routes(of, switch)
            for hop in route.hops[:1]
        )

    return fill


def neighbour_mac(of: Topology, router: str, port: int) -> Mac:
    """The Ethernet address at the other end of a port's cable."""
    far = of.neighbour(End(router, port))
    if far.port is None:
        return of.host(far.node).mac
    return of.switch(far.node).port(far.port).mac
