"""Fills the kit's router (p4src/programs/router.p4) from a topology: routes and own addresses.

    session.insert(router.routes(topology, switch))
    session.modify(router.defaults(program))
    with router.serving(session, topology, switch):
        ...the router answers ARP, neighbour discovery and pings, sends ICMP errors and fragments...
    with router.serving_in(world, session, topology, switch):
        ...the same in virtual time...

Every destination of the topology becomes one route toward the next router or host on the way, so
no packet in a lab's picture is a routing protocol's.
"""

from __future__ import annotations

import contextlib
import ipaddress
import threading
import time
from collections.abc import Iterable, Iterator

from apps import fragments, replies
from apps.replies import Address, Own
from controller.entities import Item
from controller.entries import Call, Choice, Entry, Exact, Lpm, Match
from controller.errors import ControllerError
from controller.p4info import P4Info
from controller.session import Packet, Session
from controller.world import World
from topo import paths
from topo.model import Network, Switch, Topology

ROUTES = {4: "ipv4_routes", 6: "ipv6_routes"}
GROUPS = "next_hop_groups"
# Neighbour discovery speaks to groups of this link.
_LINK_GROUPS = ipaddress.IPv6Network("ff02::/16")
# How long the service waits for a packet before it looks whether it is to end.
_TURN_S = 0.2
# ICMP errors a second at most, and at once after a pause (RFC 1812, 4.3.2.8).
_ERRORS_PER_S = 100.0


def defaults(program: P4Info) -> list[Item]:
    """Packets that lead nowhere are reported to their senders by the service, where one runs."""
    names = {table.name.rpartition(".")[2] for table in program.tables}
    return [Entry(table, None, Call("no_route")) for table in ROUTES.values() if table in names]


def can_serve(program: P4Info) -> bool:
    """Whether a program sends and takes what the service needs."""
    fields = {
        header.name: {field.name for field in header.fields} for header in program.packet_headers
    }
    wanted = {"packet_in": {"ingress_port", "reason"}, "packet_out": {"egress_port"}}
    return all(names <= fields.get(header, set()) for header, names in wanted.items())


def routes(topology: Topology, switch: Switch) -> list[Item]:
    """The entries of one router's tables: groups of next hops first, then what refers to them."""
    found = paths.routes(topology, switch)
    numbers = groups(found)
    longest_bytes = max(link.mtu_bytes for link in topology.links)
    items: list[Item] = [
        Entry(
            GROUPS,
            {"meta.next_hop_group": Exact(number)},
            Choice(tuple((_next_hop(hop, longest_bytes), 1) for hop in hops)),
        )
        for hops, number in numbers.items()
    ]
    for route in found:
        call = _next_hop(route.hops[0], longest_bytes)
        if route.hops in numbers:
            call = Call("set_next_hop_group", group_id=numbers[route.hops])
        items.append(_route(route.prefix, call))
    own = [ipaddress.ip_network(address) for address in sorted(addresses(switch), key=str)]
    if any(prefix.version == 6 for prefix in own):
        own.append(_LINK_GROUPS)
    items += [_route(prefix, Call("deliver")) for prefix in own]
    return items


def groups(routes: Iterable[paths.Route]) -> dict[tuple[paths.Hop, ...], int]:
    """The number of each group of next hops that several routes may share."""
    shared = sorted({route.hops for route in routes if len(route.hops) > 1}, key=str)
    return {hops: number for number, hops in enumerate(shared, start=1)}


def addresses(switch: Switch) -> frozenset[Address]:
    """The router's own addresses, on all its ports."""
    return frozenset(each.ip for port in switch.ports for each in port.addresses)


@contextlib.contextmanager
def serving(session: Session, topology: Topology, switch: Switch) -> Iterator[Service]:
    """Answers for the router's own addresses for the length of a `with` block."""
    service = Service(session, topology, switch)
    thread = threading.Thread(target=service.run, name=f"router {switch.name}", daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.stop()
        thread.join()


@contextlib.contextmanager
def serving_in(
    world: World, session: Session, topology: Topology, switch: Switch
) -> Iterator[Service]:
    """The same in virtual time, whenever `world` advances: every answer leaves at once."""
    service = Service(session, topology, switch)
    with world.answering(service.catch_up):
        yield service


class Service:
    """A router's answers in its own name; every one is `replies.answer`'s."""

    def __init__(self, session: Session, topology: Topology, switch: Switch) -> None:
        self._session = session
        self._routes = paths.routes(topology, switch)
        self._ports = {
            port.number: Own(port.mac, tuple(each.ip for each in port.addresses))
            for port in switch.ports
        }
        self._addresses = addresses(switch)
        self._stopping = threading.Event()
        self._budget = _ERRORS_PER_S
        # When the last packet was handled.
        self._filled_s = 0.0
        # Packets answered, packets sent on in fragments, and ICMP errors that were not sent because
        # there were too many.
        self.answered = 0
        self.fragmented = 0
        self.held_back = 0

    def run(self) -> None:
        """Answers until `stop`; a switch that is away for a while is waited for."""
        while not self._stopping.is_set():
            packet = self._session.receive(_TURN_S)
            if packet is not None:
                self._handle(packet, time.monotonic())

    def catch_up(self, now_s: float) -> None:
        """Answers all that the router has sent, at an instant of a network that waits for it."""
        self._session.settle()
        while (packet := self._session.receive(0.0)) is not None:
            self._handle(packet, now_s)
        self._session.settle()

    def stop(self) -> None:
        """Ends `run` within a turn."""
        self._stopping.set()

    def _handle(self, packet: Packet, now_s: float) -> None:
        if not packet.metadata.keys() >= {"ingress_port", "reason"}:
            # A program of a user's own, which sends packets for reasons of its own.
            return
        port, reason = (int(str(packet.metadata[key])) for key in ("ingress_port", "reason"))
        own = self._ports.get(port)
        if own is None:
            return
        mtu_bytes = 0
        if reason == replies.Reason.TOO_LONG:
            route = self._route(packet.payload)
            if route is None:
                return
            # The program has chosen one of the hops; what fits the narrowest fits that one.
            mtu_bytes = min(hop.mtu_bytes for hop in route.hops)
            if self._sent_in_fragments(packet.payload, route.hops[0], mtu_bytes):
                self.fragmented += 1
                return
        reply = replies.answer(packet.payload, reason, own, self._addresses, mtu_bytes)
        if not reply:
            return
        if replies.is_error(reply) and not self._may_send_error(now_s):
            self.held_back += 1
            return
        self._send(reply, port)
        self.answered += 1

    def _route(self, frame: bytes) -> paths.Route | None:
        """The route of a frame's destination, the longest prefix that holds it."""
        destination = replies.destination(frame)
        fitting = [route for route in self._routes if destination in route.prefix]
        return max(fitting, key=lambda route: route.prefix.prefixlen, default=None)

    def _sent_in_fragments(self, frame: bytes, hop: paths.Hop, mtu_bytes: int) -> bool:
        """Sends an IPv4 packet on in pieces, unless its sender forbids it."""
        pieces = fragments.cut(frame, mtu_bytes)
        for piece in pieces:
            self._send(hop.dst_mac.packed + hop.src_mac.packed + piece[12:], hop.port)
        return bool(pieces)

    def _send(self, frame: bytes, port: int) -> None:
        # The answer for a switch that has gone away meanwhile is dropped.
        with contextlib.suppress(ControllerError):
            self._session.send(Packet(frame, {"egress_port": port}))

    def _may_send_error(self, now_s: float) -> bool:
        """A token bucket of one second's worth."""
        self._budget = min(_ERRORS_PER_S, self._budget + (now_s - self._filled_s) * _ERRORS_PER_S)
        self._filled_s = now_s
        if self._budget < 1:
            return False
        self._budget -= 1
        return True


def _next_hop(hop: paths.Hop, longest_bytes: int) -> Call:
    """The call for a hop of a network whose links take packets of up to `longest_bytes`."""
    call = Call("set_next_hop", port=hop.port, src_addr=hop.src_mac, dst_addr=hop.dst_mac)
    if hop.mtu_bytes < longest_bytes:
        return Call("set_next_hop_within", **call.args, mtu=hop.mtu_bytes)
    return call


def _route(prefix: Network, call: Call) -> Entry:
    match: dict[str, Match] = {}
    # A prefix of no bits is said by leaving the key out.
    if prefix.prefixlen > 0:
        key = f"hdr.ipv{prefix.version}.dst_addr"
        match[key] = Lpm(prefix.network_address, prefix.prefixlen)
    return Entry(ROUTES[prefix.version], match, call)
