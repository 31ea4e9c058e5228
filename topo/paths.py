"""Which way packets go: for every router and destination, all next hops on shortest paths.

A destination is a network where one port of one router holds all of it, and else the single
addresses of its hosts. A router that is connected to a network sends to its hosts one by one,
because it needs to know their Ethernet addresses; all others send to the network.

Every link counts the same, so shortest means fewest routers. Several next hops share the flows.
"""

from __future__ import annotations

import ipaddress
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass

from controller.values import Mac
from topo.model import End, Host, Interface, Network, Port, Switch, Topology


@dataclass(frozen=True)
class Hop:
    """The next node: the port toward it, both Ethernet addresses of the cable, and its MTU."""

    port: int
    src_mac: Mac
    dst_mac: Mac
    mtu_bytes: int


@dataclass(frozen=True)
class Route:
    """A destination and the hops that lead to it, in the order of their ports; at least one."""

    prefix: Network
    hops: tuple[Hop, ...]


def routes(topology: Topology, switch: Switch) -> list[Route]:
    """The routes of one router, in the order of their prefixes; its own addresses are not in it."""
    found: dict[Network, tuple[Hop, ...]] = {}
    for host, home, port in _attachments(topology):
        for address in host.addresses:
            if home == switch:
                found[_single(address)] = (_hop(topology, switch, port, host.mac),)
    for prefix, home in _remote(topology):
        if home != switch:
            found[prefix] = tuple(_toward(topology, switch, home))
    own = {_single(address) for port in switch.ports for address in port.addresses}
    order = sorted(found.keys() - own, key=lambda prefix: (prefix.version, prefix))
    return [Route(prefix, found[prefix]) for prefix in order if found[prefix]]


def _attachments(topology: Topology) -> Iterator[tuple[Host, Switch, Port]]:
    for host in topology.hosts:
        yield host, *topology.attachment(host.name)


def _remote(topology: Topology) -> Iterator[tuple[Network, Switch]]:
    """The routes of the routers that are not connected to a destination."""
    places = _places(topology)

    def prefix(address: Interface) -> Network:
        return address.network if places[address.network] == 1 else _single(address)

    for switch in topology.switches:
        for port in switch.ports:
            for address in port.addresses:
                yield prefix(address), switch
    for host, home, _ in _attachments(topology):
        for address in host.addresses:
            yield prefix(address), home


def _places(topology: Topology) -> Counter[Network]:
    """On how many cables each network lies; more than one, and its prefix says too little."""
    cables: dict[Network, set[frozenset[End]]] = {}
    for switch in topology.switches:
        for port in switch.ports:
            here = End(switch.name, port.number)
            cable = frozenset({here, topology.neighbour(here)})
            for address in port.addresses:
                cables.setdefault(address.network, set()).add(cable)
    return Counter({network: len(ends) for network, ends in cables.items()})


def _toward(topology: Topology, switch: Switch, target: Switch) -> Iterator[Hop]:
    """The hops of `switch` that are one router nearer to `target`."""
    distance = _distances(topology, target)
    for port, neighbour, far_port in _neighbours(topology, switch):
        nearer = distance.get(neighbour.name)
        if nearer is not None and nearer == distance.get(switch.name, 0) - 1:
            yield _hop(topology, switch, port, far_port.mac)


def _hop(topology: Topology, switch: Switch, port: Port, far_mac: Mac) -> Hop:
    cable = topology.link(End(switch.name, port.number))
    return Hop(port.number, port.mac, far_mac, cable.mtu_bytes)


def _distances(topology: Topology, target: Switch) -> dict[str, int]:
    """Routers between each router and `target`; those that cannot reach it are missing."""
    distance = {target.name: 0}
    waiting = deque([target])
    while waiting:
        here = waiting.popleft()
        for _, neighbour, _ in _neighbours(topology, here):
            if neighbour.name not in distance:
                distance[neighbour.name] = distance[here.name] + 1
                waiting.append(neighbour)
    return distance


def _neighbours(topology: Topology, switch: Switch) -> Iterator[tuple[Port, Switch, Port]]:
    """The routers on the other ends of a router's cables: near port, router, far port."""
    for port in sorted(switch.ports, key=lambda each: each.number):
        far = topology.neighbour(End(switch.name, port.number))
        if far.port is not None:
            neighbour = topology.switch(far.node)
            yield port, neighbour, neighbour.port(far.port)


def _single(address: Interface) -> Network:
    """The prefix of one address alone."""
    return ipaddress.ip_network(address.ip)
