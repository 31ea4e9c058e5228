"""Fills the kit's router (p4src/programs/router.p4) from a topology: routes, queues, fabric.

Every destination of the topology becomes one route toward the next router or host on the way, so
no packet in a lab's picture is a routing protocol's. Packets for anything else are dropped by the
table's default.
"""

from __future__ import annotations

from controller.entries import Call, Entry, Lpm
from controller.queues import Queues
from controller.session import Session
from topo import paths
from topo.model import Switch, Topology

IPV4_ROUTES = "ipv4_routes"


def routes(topology: Topology, switch: Switch) -> list[Entry]:
    """The entries of one router's route table."""
    entries = []
    for route in paths.routes(topology, switch):
        if route.prefix.version != 4:
            continue
        hop = route.hops[0]
        match = {"hdr.ipv4.dst_addr": Lpm(route.prefix.network_address, route.prefix.prefixlen)}
        call = Call("set_next_hop", port=hop.port, src_addr=hop.src_mac, dst_addr=hop.dst_mac)
        entries.append(Entry(IPV4_ROUTES, match, call))
    return entries


def program(session: Session, topology: Topology, switch: Switch) -> None:
    """Routes and queues of one switch; the session has loaded the router program already."""
    session.insert(routes(topology, switch))
    Queues(session).configure(switch.settings)
