"""Fills the kit's IPv4 router (p4src/programs/router.p4) from a topology.

Every host becomes one /32 route: out of the port the host hangs on, from the port's Ethernet
address to the host's. So hosts need no ARP answered, and packets for anything else are dropped by
the table's default.
"""

from __future__ import annotations

from controller.entries import Call, Entry, Lpm
from controller.queues import PortQueues, Queues
from controller.session import Session
from topo.model import Switch, Topology

ROUTES = "ipv4_routes"


def routes(topology: Topology, switch: Switch) -> list[Entry]:
    """The routes of one switch to the hosts on its own ports."""
    entries = []
    for host in topology.hosts:
        behind, port = topology.attachment(host.name)
        if behind != switch:
            continue
        call = Call("set_next_hop", port=port.number, src_addr=port.mac, dst_addr=host.mac)
        entries.append(Entry(ROUTES, {"hdr.ipv4.dst_addr": Lpm(host.address.ip, 32)}, call))
    return entries


def port_queues(switch: Switch) -> dict[int, PortQueues]:
    """The line rates and queue limits that the topology gives to the switch's ports."""
    return {
        port.number: PortQueues(rate_bps=port.rate_bps, packets_max=port.queue_packets)
        for port in switch.ports
        if port.rate_bps is not None or port.queue_packets is not None
    }


def program(session: Session, topology: Topology, switch: Switch) -> None:
    """Routes and queues of one switch; the session has loaded the router program already."""
    session.insert(routes(topology, switch))
    Queues(session).configure(port_queues(switch))
