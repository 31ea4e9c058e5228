"""Makes a router a node of a telemetry domain: fills the tables of p4src/programs/int_router.p4.

The edges of the domain are the ports with hosts. Reports leave by the port toward the collector,
from the router's own address there, as copies in a clone session of their own.
"""

from __future__ import annotations

import ipaddress
from dataclasses import replace

from apps.domain import REPORT_PORT, Domain, Flows, Mode, Watch
from controller import classes
from controller.classes import UDP, Rule
from controller.entities import CloneSession
from controller.entries import Call, Entry, Exact, Match, Ternary
from controller.errors import ControllerError
from controller.queueing import RouterSettings
from controller.queues import Queues
from controller.session import Session
from topo import paths
from topo.model import End, Switch, Topology

# Clone sessions of the kit's programs are numbered by their users; this one is for reports.
REPORT_SESSION = 900
QUEUES_PER_PORT = 8
INT_TYPES = {Mode.MD: 1, Mode.MX: 3}
# The source address of a router without any (RFC 7600, 4.8); hosts refuse 0.0.0.0.
NO_ADDRESS = ipaddress.IPv4Address("192.0.0.8")
# Above everything that a domain or a lab says of flows.
REPORTS_PRIORITY = 1 << 20


class DomainError(ControllerError):
    """The domain does not fit the topology; the sentence names what is missing."""


def mirror_drops(session: Session, domain: Domain) -> None:
    """Lets what the queues drop become reports in the same way as what leaves them.

    Only our switch can do that, so others are asked for it only where the domain wants it.
    """
    if domain.drops:
        Queues(session).configure(RouterSettings(drop_mirror=REPORT_SESSION))


def report_session(domain: Domain, topology: Topology, switch: Switch) -> CloneSession:
    """Where the copies go that become reports."""
    port = _toward_collector(domain, topology, switch).port
    return CloneSession(REPORT_SESSION, (port,), class_=domain.report_queue)


def tables(domain: Domain, topology: Topology, switch: Switch) -> tuple[list[Entry], list[Entry]]:
    """The default entries of the tables without keys, and the entries of the others."""
    if switch.name not in domain.nodes:
        raise DomainError(f"the domain has no node {switch.name!r}: give it a node id.")
    node_id = domain.nodes[switch.name]
    defaults = [
        Entry("int_node", None, Call("set_node", node_id=node_id, report_session=REPORT_SESSION)),
        Entry("int_collector", None, _collector(domain, topology, switch)),
    ]
    if domain.drops:
        call = Call(
            "report_drops", every_us=domain.drops.every_us, all_flows=int(domain.drops.all_flows)
        )
        defaults.append(Entry("int_drop_reports", None, call))
    return defaults, [
        *_ports(domain, topology, switch),
        *_queues(domain, switch),
        *_reports_in_transit(domain, topology),
        *(entry for index, watch in enumerate(domain.watch) for entry in _watch(watch, index)),
    ]


def _collector(domain: Domain, topology: Topology, switch: Switch) -> Call:
    hop = _toward_collector(domain, topology, switch)
    # The port's own address, or another one of the router.
    ports = sorted(switch.ports, key=lambda port: port.number != hop.port)
    sources = [ip.ip for port in ports for ip in port.addresses if ip.version == 4]
    return Call(
        "set_collector",
        src_mac=hop.src_mac,
        dst_mac=hop.dst_mac,
        src_addr=sources[0] if sources else NO_ADDRESS,
        dst_addr=topology.host(domain.collector).address.ip,
        udp_port=REPORT_PORT,
        packet_bytes=domain.reported_bytes,
    )


def _toward_collector(domain: Domain, topology: Topology, switch: Switch) -> paths.Hop:
    address = topology.host(domain.collector).address.ip
    for route in paths.routes(topology, switch):
        if address in route.prefix:
            return route.hops[0]
    raise DomainError(f"{switch.name} has no route to the collector {domain.collector}.")


def _ports(domain: Domain, topology: Topology, switch: Switch) -> list[Entry]:
    hosts = {host.name for host in topology.hosts}
    entries = []
    for port in switch.ports:
        end = End(switch.name, port.number)
        is_edge = topology.neighbour(end).node in hosts
        mtu_bytes = domain.mtu_bytes or topology.link(end).mtu_bytes
        call = Call("set_port", is_edge=int(is_edge), mtu=mtu_bytes)
        match = {"standard_metadata.egress_port": Exact(port.number)}
        entries.append(Entry("int_egress_ports", match, call))
    return entries


def _queues(domain: Domain, switch: Switch) -> list[Entry]:
    if domain.congestion is None:
        return []
    entries = []
    for port in switch.ports:
        for queue in range(QUEUES_PER_PORT):
            call = Call(
                "watch_queue",
                threshold=domain.congestion.above_bytes,
                reports_max=domain.congestion.reports_max,
                slot_idx=port.number * QUEUES_PER_PORT + queue,
            )
            match: dict[str, Match] = {
                "standard_metadata.egress_port": Exact(port.number),
                "meta.telemetry.hop.queue_id": Exact(queue),
            }
            entries.append(Entry("int_congested_queues", match, call))
    return entries


def _reports_in_transit(domain: Domain, topology: Topology) -> list[Entry]:
    """The reports of other nodes are not watched, whatever is, and wait where reports wait.

    A watched report would be reported by every node on its way, and so on.
    """
    collector = ipaddress.ip_network(topology.host(domain.collector).address.ip)
    reports = Flows(destination=collector, protocol=UDP, destination_port=REPORT_PORT)
    unwatched = Entry(
        "int_flows_ipv4", _match(reports, 4), Call("NoAction"), priority=REPORTS_PRIORITY
    )
    if not domain.report_queue:
        return [unwatched]
    rule = Rule(domain.report_queue, dst=collector, protocol=UDP, dst_port=REPORT_PORT)
    return [
        unwatched,
        *(replace(entry, priority=REPORTS_PRIORITY) for entry in classes.entries([rule])),
    ]


def _watch(watch: Watch, index: int) -> list[Entry]:
    if watch.mode is Mode.DROPS_ONLY:
        call = Call("watch")
    elif watch.mode is Mode.POSTCARDS:
        call = Call("send_postcards", bitmap=watch.bitmap, domain_id=0)
    else:
        call = Call(
            "start_int",
            int_type=INT_TYPES[watch.mode],
            bitmap=watch.bitmap,
            hop_words=watch.hop_words,
            remaining_hops=watch.hops,
            domain_id=0,
        )
    # Where two watches match, the one that stands first in the file wins.
    priority = 1000 - index
    return [
        Entry(f"int_flows_ipv{version}", _match(watch.flows, version), call, priority=priority)
        for version in watch.flows.versions
    ]


def _match(flows: Flows, version: int) -> dict[str, Match]:
    """The keys that a flow gives; a key that is left out matches anything."""
    match: dict[str, Match] = {}
    for field, network in (("src_addr", flows.source), ("dst_addr", flows.destination)):
        if network is not None and network.prefixlen:
            mask = int(network.netmask)
            match[f"hdr.ipv{version}.{field}"] = Ternary(int(network.network_address), mask)
    if flows.protocol:
        name = "protocol" if version == 4 else "next_header"
        match[f"hdr.ipv{version}.{name}"] = Ternary(flows.protocol, 0xFF)
    for field, port in (("src", flows.source_port), ("dst", flows.destination_port)):
        if port:
            match[f"meta.l4.{field}"] = Ternary(port, 0xFFFF)
    return match
