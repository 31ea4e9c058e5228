"""The packet inside a report: whose flow it is, and the INT headers it carries.

A report holds the packet's first bytes only, so everything here may be cut short: what is missing
is left out, never guessed. Whether a packet carries INT is a convention of the domain, a DSCP value
or a UDP port; `Marker` says which.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

from controller.telemetry.report import InnerType
from controller.telemetry.stack import IntStack, decode_stack, is_whole

ETHERNET_BYTES = 14
VLAN_TAG_BYTES = 4
ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_IPV6 = 0x86DD
ETHERTYPES_VLAN = (0x8100, 0x88A8)
IPV4_BYTES_MIN = 20
IPV6_BYTES = 40
PROTOCOL_TCP = 6
PROTOCOL_UDP = 17
UDP_BYTES = 8
TCP_BYTES_MIN = 20
PORTS_BYTES = 4

# The first header of a reported packet without an Ethernet header.
_ETHERTYPE_OF: dict[int, int] = {InnerType.IPV4: ETHERTYPE_IPV4, InnerType.IPV6: ETHERTYPE_IPV6}

# The DSCP value that the examples of the INT specification use.
DSCP_INT = 0x17


@dataclass(frozen=True)
class Marker:
    """How a domain marks packets that carry INT; exactly one of the two is set."""

    dscp: int | None = DSCP_INT
    udp_port: int | None = None

    def __post_init__(self) -> None:
        if (self.dscp is None) == (self.udp_port is None):
            raise ValueError("INT packets are marked by a DSCP or by a UDP port: give one of them")


@dataclass(frozen=True, order=True)
class Flow:
    """Packets with the same addresses, protocol and ports; ports are 0 where there are none."""

    protocol: int
    source: str
    source_port: int
    destination: str
    destination_port: int

    def __str__(self) -> str:
        name = {PROTOCOL_TCP: "tcp", PROTOCOL_UDP: "udp"}.get(self.protocol, str(self.protocol))
        return (
            f"{name} {_endpoint(self.source, self.source_port)}"
            f" > {_endpoint(self.destination, self.destination_port)}"
        )


@dataclass(frozen=True)
class InnerPacket:
    """The readable parts of a reported packet."""

    flow: Flow | None
    stack: IntStack | None


@dataclass(frozen=True)
class _Network:
    """The fields of an IP header that the rest of the packet is read by."""

    dscp: int
    protocol: int
    source: str
    destination: str
    # Where the L4 header begins; None in a fragment that is not the first.
    transport: int | None


def decode_packet(inner_type: int, data: bytes, marker: Marker) -> InnerPacket:
    """Reads flow and INT stack of a reported packet.

    Raises `MalformedError` if the packet is marked as INT and its INT headers are wrong.
    """
    network = _network(inner_type, data)
    if network is None:
        return InnerPacket(None, None)
    ports = (0, 0)
    start = network.transport
    has_ports = network.protocol in (PROTOCOL_TCP, PROTOCOL_UDP)
    if has_ports and start is not None and len(data) >= start + PORTS_BYTES:
        ports = struct.unpack_from("!HH", data, start)
    flow = Flow(network.protocol, network.source, ports[0], network.destination, ports[1])
    if start is None or not _is_marked(network, ports[1], marker):
        return InnerPacket(flow, None)
    payload = _payload(network.protocol, data, start)
    if payload is None:
        return InnerPacket(flow, None)
    if not is_whole(data[payload:]):
        return InnerPacket(flow, None)
    stack = decode_stack(data[payload:])
    return InnerPacket(_original(flow, stack, marker), stack)


def _network(inner_type: int, data: bytes) -> _Network | None:
    offset = 0
    ethertype = _ETHERTYPE_OF.get(inner_type, 0)
    if inner_type == InnerType.ETHERNET:
        offset = ETHERNET_BYTES
        ethertype = int.from_bytes(data[offset - 2 : offset], "big")
        while ethertype in ETHERTYPES_VLAN:
            offset += VLAN_TAG_BYTES
            ethertype = int.from_bytes(data[offset - 2 : offset], "big")
    if ethertype == ETHERTYPE_IPV4 and len(data) >= offset + IPV4_BYTES_MIN:
        return _ipv4(data, offset)
    if ethertype == ETHERTYPE_IPV6 and len(data) >= offset + IPV6_BYTES:
        return _Network(
            dscp=int.from_bytes(data[offset : offset + 2], "big") >> 6 & 0x3F,
            protocol=data[offset + 6],
            source=str(ipaddress.IPv6Address(data[offset + 8 : offset + 24])),
            destination=str(ipaddress.IPv6Address(data[offset + 24 : offset + 40])),
            transport=offset + IPV6_BYTES,
        )
    return None


def _ipv4(data: bytes, offset: int) -> _Network:
    fragment_offset = int.from_bytes(data[offset + 6 : offset + 8], "big") & 0x1FFF
    return _Network(
        dscp=data[offset + 1] >> 2,
        protocol=data[offset + 9],
        source=str(ipaddress.IPv4Address(data[offset + 12 : offset + 16])),
        destination=str(ipaddress.IPv4Address(data[offset + 16 : offset + 20])),
        transport=None if fragment_offset else offset + 4 * (data[offset] & 0xF),
    )


def _is_marked(network: _Network, destination_port: int, marker: Marker) -> bool:
    if network.protocol not in (PROTOCOL_TCP, PROTOCOL_UDP):
        return False
    if marker.dscp is not None:
        return network.dscp == marker.dscp
    return network.protocol == PROTOCOL_UDP and destination_port == marker.udp_port


def _payload(protocol: int, data: bytes, transport: int) -> int | None:
    """Where the bytes behind the L4 header begin; None if the header is cut."""
    if protocol == PROTOCOL_UDP:
        end = transport + UDP_BYTES
    elif len(data) >= transport + TCP_BYTES_MIN:
        end = transport + 4 * (data[transport + 12] >> 4)
    else:
        return None
    return end if end <= len(data) else None


def _original(flow: Flow, stack: IntStack, marker: Marker) -> Flow:
    """The flow as its hosts know it: a UDP port used as marker is put back."""
    if marker.udp_port is None:
        return flow
    return Flow(flow.protocol, flow.source, flow.source_port, flow.destination, stack.shim.original)


def _endpoint(address: str, port: int) -> str:
    shown = f"[{address}]" if ":" in address else address
    return f"{shown}:{port}" if port else shown
