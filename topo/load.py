"""A topology from a YAML file. Every error names the file, the line and the place in it.

hosts:
  h1: {address: 10.0.1.1/24, tcp: {congestion: cubic}}
  h2: {address: 10.0.2.1/24, tcp: {congestion: cubic}}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24, rate: 1 Gb/s}
      2: {address: 10.0.2.254/24, rate: 10 Mb/s, queue: 50 packets}
links:
  - [h1, s1:1]
  - {ends: [s1:2, h2], delay: 10 ms}

What a file may leave out is filled in here, so that a `Topology` is always complete: device ids and
gRPC ports count up, Ethernet addresses come from the IPv4 address or from device and port, a host's
gateway is the address of its port and the other way round. docs/topologies.md lists every key.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from controller.queueing import Limit
from controller.values import Mac
from topo import queueing, units
from topo.document import Place
from topo.errors import ModelError
from topo.model import (
    MTU_BYTES,
    PORT_NUMBER_MAX,
    Cable,
    End,
    Host,
    Impairment,
    Interface,
    Link,
    Port,
    Sender,
    Switch,
    TcpBuffer,
    TcpSettings,
    Topology,
    check_links,
)

Address = TypeVar("Address", ipaddress.IPv4Address, ipaddress.IPv6Address)

# The port IANA gave to P4Runtime is the first switch's; the others count on from it.
_GRPC_PORT_FIRST = 9559

_IMPAIRMENT_KEYS = frozenset(
    {"delay", "jitter", "stalls", "reorder", "loss", "corruption", "duplication"}
)
# A link's settings for the ports at both of its ends, and its own.
_LINK_KEYS = _IMPAIRMENT_KEYS | {"rate", "queue", "mtu"}
_PORT_KEYS = queueing.PORT_KEYS | _IMPAIRMENT_KEYS | {"mac", "address", "receive"}
# Whether hosts know the Ethernet address of their gateway.
_GATEWAYS = {"known": True, "learned": False}
# ethtool's own short names.
_OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "lro")


def load(path: Path) -> Topology:
    """Reads and checks a topology file."""
    return read(Place.load(path))


def read(document: Place) -> Topology:
    """Reads and checks a topology that stands in a document."""
    parts = document.fields(required={"hosts", "switches", "links"}, optional={"gateways"})
    try:
        return _topology(parts)
    except ModelError as error:
        # The model's errors know the way to the place, but not the line.
        raise document.nearest(error.way).error(str(error)) if error.way else error from error


def _topology(parts: Mapping[str, Place]) -> Topology:
    links = [_link(place) for place in parts["links"].items()]
    ports = _PortReader(links)
    switches = [
        _switch(name, place, index, ports)
        for index, (name, place) in enumerate(parts["switches"].entries().items())
    ]
    host_places = parts["hosts"].entries()
    # Hosts take their gateway from the port they hang on, so the links must be right first.
    check_links(list(host_places), switches, [link.link for link in links])
    hosts = [
        _host(name, place, _port_of(name, links, switches)) for name, place in host_places.items()
    ]
    return Topology(
        hosts=tuple(hosts),
        switches=tuple(_with_gateways(switch, hosts, links) for switch in switches),
        links=tuple(link.link for link in links),
        knows_gateways=parts["gateways"].one_of(_GATEWAYS) if "gateways" in parts else True,
    )


# ---- hosts ---------------------------------------------------------------------------------------


def _host(name: str, place: Place, port: Port) -> Host:
    fields = place.fields(
        required={"address"},
        optional={"mac", "gateway", "address6", "gateway6", "tcp", "sysctls", "offloads"},
    )
    address = fields["address"].parse(ipaddress.IPv4Interface)
    address6 = None
    if "address6" in fields:
        address6 = fields["address6"].parse(ipaddress.IPv6Interface)
    gateway = _gateway(fields, "gateway", address, port, ipaddress.IPv4Address)
    if gateway is None:
        place.refuse("lacks 'gateway', and its port has no address in its network either.")
    return Host(
        name=name,
        address=address,
        gateway=gateway,
        # Two bytes of zero and the IPv4 address: readable in a packet dump, and never a group's.
        mac=_mac(fields, int(address.ip)),
        address6=address6,
        gateway6=_gateway(fields, "gateway6", address6, port, ipaddress.IPv6Address),
        tcp=_tcp(fields["tcp"]) if "tcp" in fields else TcpSettings(),
        sysctls=_sysctls(fields["sysctls"]) if "sysctls" in fields else {},
        offloads=_offloads(fields["offloads"]) if "offloads" in fields else {},
    )


def _gateway(
    fields: Mapping[str, Place],
    key: str,
    address: Interface | None,
    port: Port,
    parser: type[Address],
) -> Address | None:
    """The router's address as the file gives it, or the port's own in the host's network."""
    if key in fields:
        return fields[key].parse(parser)
    for candidate in port.addresses:
        if address is not None and candidate.network == address.network:
            return parser(int(candidate.ip))
    return None


def _tcp(place: Place) -> TcpSettings:
    fields = place.fields(optional={"congestion", "rmem", "wmem", "quickack", "ssthresh"})
    return TcpSettings(
        congestion=_congestion(fields["congestion"]) if "congestion" in fields else None,
        rmem=_buffer(fields["rmem"]) if "rmem" in fields else None,
        wmem=_buffer(fields["wmem"]) if "wmem" in fields else None,
        quickack=fields["quickack"].flag() if "quickack" in fields else False,
        ssthresh_packets=fields["ssthresh"].parse(units.packets) if "ssthresh" in fields else None,
    )


def _congestion(place: Place) -> str:
    """A name, or a Python class as seen from the topology's own folder."""
    decider = queueing.decider_of(place)
    return place.text() if decider is None else str(decider)


def _buffer(place: Place) -> TcpBuffer:
    """`[least, default, most]`, as in the kernel's tcp_rmem."""
    sizes = [each.parse(units.size_bytes) for each in place.items()]
    if len(sizes) != 3 or sizes != sorted(sizes):
        place.refuse("must be three sizes, from the least to the most: [4 KiB, 128 KiB, 16 MiB].")
    return TcpBuffer(*sizes)


def _sysctls(place: Place) -> dict[str, str]:
    values = {}
    for key, value in place.entries().items():
        if not key.startswith("net."):
            value.refuse("is not a host's own: only parameters below `net.` are.")
        values[key] = value.text()
    return values


def _offloads(place: Place) -> dict[str, bool]:
    return {key: value.flag() for key, value in place.fields(optional=_OFFLOADS).items()}


# ---- switches ------------------------------------------------------------------------------------


def _switch(name: str, place: Place, index: int, ports: _PortReader) -> Switch:
    fields = place.fields(
        required={"ports"},
        optional={*queueing.ROUTER_KEYS, "device_id", "grpc_port", "program"},
    )
    device_id = fields["device_id"].whole() if "device_id" in fields else index
    grpc_port = _GRPC_PORT_FIRST + index
    if "grpc_port" in fields:
        grpc_port = fields["grpc_port"].whole(low=1, high=65535)
    router = queueing.router_settings(fields)
    return Switch(
        name=name,
        device_id=device_id,
        grpc_port=grpc_port,
        is_on_tcp="grpc_port" in fields,
        ports=tuple(
            ports.read(name, device_id, number, port)
            for number, port in fields["ports"].entries().items()
        ),
        buffer_bytes=router.buffer_bytes,
        input=router.input,
        program=_program(fields["program"]) if "program" in fields else None,
    )


def _program(place: Place) -> str:
    """A name as it is; a file as seen from the topology's own folder."""
    text = place.text()
    if not text.endswith(".p4"):
        return text
    return str(place.folder / Path(text).expanduser())


class _PortReader:
    """Reads ports; what the link at a port says holds where the port itself says nothing."""

    def __init__(self, links: list[_LinkPlace]) -> None:
        self._links = links

    def read(self, switch: str, device_id: int, number: str, place: Place) -> Port:
        """The port under the key `number` of a switch."""
        if not (number.isascii() and number.isdigit() and 0 < int(number) <= PORT_NUMBER_MAX):
            place.refuse(f"is no port: ports are numbers from 1 to {PORT_NUMBER_MAX}.")
        own = place.fields(optional=_PORT_KEYS)
        link = self._link_at(End(switch, int(number)))
        fields = {**link.fields, **own} if link else own
        # From a host both directions are the port's to emulate; another switch does its own.
        receive = link.fields if link and link.has_host else {}
        return Port(
            number=int(number),
            mac=_mac(own, (0xAA << 32) | (device_id << 16) | int(number)),
            addresses=_addresses(own["address"]) if "address" in own else (),
            settings=queueing.port_settings(fields),
            cable=_cable(
                fields, receive, own.get("receive"), link is not None and not link.has_host
            ),
        )

    def _link_at(self, end: End) -> _LinkPlace | None:
        for link in self._links:
            if end in (link.link.a, link.link.b):
                return link
        return None


def _addresses(place: Place) -> tuple[Interface, ...]:
    """One address with the length of its network, or a list of them."""
    places = place.items() if place.is_list() else [place]
    return tuple(each.parse(ipaddress.ip_interface) for each in places)


def _cable(
    transmit: Mapping[str, Place],
    receive: Mapping[str, Place],
    own: Place | None,
    from_router: bool,
) -> Cable:
    """The lines of a port; `own` is what the port says about what comes in."""
    incoming = {} if own is None else own.fields(optional=_IMPAIRMENT_KEYS | {"rate", "backlog"})
    rate_bps = None
    if "rate" in incoming:
        # As fast as the neighbour hands frames over, like a host on a virtual cable does.
        is_unlimited = incoming["rate"].text() == "unlimited"
        rate_bps = 0 if is_unlimited else incoming["rate"].parse(units.rate_bps)
    sender = Sender(rate_bps=rate_bps, is_router=from_router)
    if "backlog" in incoming:
        place = incoming["backlog"]
        is_unlimited = not place.is_mapping() and place.text() == "unlimited"
        sender = replace(sender, backlog=Limit() if is_unlimited else queueing.limit(place))
    return Cable(_impairment(transmit), _impairment({**receive, **incoming}), sender)


def _impairment(fields: Mapping[str, Place]) -> Impairment:
    def span_ns(key: str) -> int:
        return fields[key].parse(units.span_ns) if key in fields else 0

    def share_ppm(key: str) -> int:
        return fields[key].parse(units.share_ppm) if key in fields else 0

    return Impairment(
        delay_ns=span_ns("delay"),
        jitter_ns=span_ns("jitter"),
        **({} if "stalls" not in fields else _stalls(fields["stalls"])),
        reorder=fields["reorder"].flag() if "reorder" in fields else False,
        **({} if "loss" not in fields else _loss(fields["loss"])),
        corruption_ppm=share_ppm("corruption"),
        duplication_ppm=share_ppm("duplication"),
    )


def _stalls(place: Place) -> dict[str, int]:
    """`{share: 5 %, max: 1.2 ms}`: how many frames, and by how much at the most."""
    parts = place.fields(required={"share", "max"})
    return {
        "stall_ppm": parts["share"].parse(units.share_ppm),
        "stall_max_ns": parts["max"].parse(units.span_ns),
    }


def _loss(place: Place) -> dict[str, int]:
    """A share of the frames, or `{share: 1 %, burst: 8 packets}`."""
    if not place.is_mapping():
        return {"loss_ppm": place.parse(units.share_ppm)}
    parts = place.fields(required={"share", "burst"})
    share_ppm = parts["share"].parse(units.share_ppm)
    if share_ppm == units.ALL_PPM:
        parts["share"].refuse("is every frame, and bursts need good spells between them.")
    burst_packets = parts["burst"].parse(units.packets)
    if burst_packets == 0:
        parts["burst"].refuse("is empty: say how many frames are lost in a row, 1 packet or more.")
    return {"loss_ppm": share_ppm, "loss_burst_packets": burst_packets}


def _mac(fields: Mapping[str, Place], otherwise: int) -> Mac:
    return fields["mac"].parse(Mac.parse) if "mac" in fields else Mac(otherwise)


# ---- links ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LinkPlace:
    """A link and what it says for the ports at its ends."""

    link: Link
    fields: dict[str, Place]

    @property
    def has_host(self) -> bool:
        return None in (self.link.a.port, self.link.b.port)


def _link(place: Place) -> _LinkPlace:
    """`[h1, s1:1]`, or a mapping with these `ends` and what holds for both directions."""
    fields: dict[str, Place] = {}
    mtu_bytes = MTU_BYTES
    if place.is_mapping():
        fields = place.fields(required={"ends"}, optional=_LINK_KEYS)
        place = fields.pop("ends")
        if "mtu" in fields:
            mtu_bytes = fields.pop("mtu").parse(units.size_bytes)
    ends = place.items()
    if len(ends) != 2:
        place.refuse(f"must have two ends, and has {len(ends)}.")
    a, b = (each.parse(end) for each in ends)
    return _LinkPlace(Link(a, b, mtu_bytes), fields)


def end(text: str) -> End:
    """`h1`, or `s1:2` for port 2 of s1."""
    node, colon, port = text.partition(":")
    if colon and not port.isdigit():
        raise ModelError(f"{text!r} is no end of a link: write h1, or s1:2 for port 2 of s1.")
    return End(node, int(port) if colon else None)


def _port_of(host: str, links: list[_LinkPlace], switches: list[Switch]) -> Port:
    """The port a host hangs on."""
    (end,) = _far_ends(host, links)
    (switch,) = (switch for switch in switches if switch.name == end.node)
    return switch.port(end.port or 0)


def _far_ends(node: str, links: list[_LinkPlace]) -> list[End]:
    pairs = [(each.link.a, each.link.b) for each in links]
    pairs += [(b, a) for a, b in pairs]
    return [there for here, there in pairs if here.node == node]


def _with_gateways(switch: Switch, hosts: list[Host], links: list[_LinkPlace]) -> Switch:
    """Ports without an address of a family get the gateway that their host knows them by."""

    def completed(port: Port) -> Port:
        addresses: list[Interface] = list(port.addresses)
        known = {address.version for address in addresses}
        for host in hosts:
            if End(switch.name, port.number) not in _far_ends(host.name, links):
                continue
            pairs: list[tuple[Any, Any]] = [
                (host.gateway, host.address),
                (host.gateway6, host.address6),
            ]
            addresses += [
                ipaddress.ip_interface(f"{gateway}/{address.network.prefixlen}")
                for gateway, address in pairs
                if address is not None and gateway is not None and address.version not in known
            ]
        return replace(port, addresses=tuple(addresses))

    return replace(switch, ports=tuple(completed(port) for port in switch.ports))
