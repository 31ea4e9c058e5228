"""INT-MD as the specification has it, on whole packets: what the P4 program is held against.

Everything is computed anew with scapy, checksums included, where the program changes headers word
by word and brings checksums up to date; so the two share no way of being wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from controller.telemetry.layers import IntMd, IntShim, TelemetryGroup, TelemetryReport
from controller.telemetry.stack import IntType, decode_stack

DSCP_INT = 0x17
NODE_ID, PORTS = 0x8000, 0x4000
REPORT_PORT = 32766
REPORTED_BYTES_MAX = 256


@dataclass(frozen=True)
class Node:
    """A router of the domain: packets enter at port 1 and leave at port 2."""

    node_id: int
    mtu: int = 1500

    def words(self, bitmap: int) -> list[int]:
        """The node's metadata; only bits whose values do not depend on time."""
        found = []
        if bitmap & NODE_ID:
            found.append(self.node_id)
        if bitmap & PORTS:
            found.append(1 << 16 | 2)
        return found


def routed(frame: bytes) -> bytes:
    """The frame after one router: addresses of the next link, one hop less to live."""
    packet = Ether(frame)
    packet.src, packet.dst = "0a:00:00:00:00:01", "0a:00:00:00:00:02"
    if IP in packet:
        packet[IP].ttl -= 1
        del packet[IP].chksum
    else:
        packet[IPv6].hlim -= 1
    return bytes(packet)


def inserted(frame: bytes, node: Node, bitmap: int, hop_words: int, hops: int) -> bytes:
    """The source's frame: the headers, and its own metadata."""
    packet = Ether(frame)
    shim = IntShim(original=_dscp(packet) << 2)
    header = IntMd(hop_words=hop_words, remaining_hops=hops, bitmap=bitmap)
    if _ip_bytes(packet) + 16 > node.mtu:
        return frame
    return passed(_with_payload(packet, bytes(shim / header) + _payload(packet), DSCP_INT), node)


def with_instructions(frame: bytes, bitmap: int) -> bytes:
    """The frame of a source of INT-MX: instructions, and room for nothing."""
    packet = Ether(frame)
    shim = IntShim(type=IntType.MX, length=3, original=_dscp(packet) << 2)
    payload = bytes(shim / IntMd(remaining_hops=0, bitmap=bitmap)) + _payload(packet)
    return _with_payload(packet, payload, DSCP_INT)


def passed(frame: bytes, node: Node) -> bytes:
    """The frame after a hop with INT-MD: its metadata before the stack."""
    packet = Ether(frame)
    payload = _payload(packet)
    stack = decode_stack(payload)
    header = stack.header
    words = node.words(header.bitmap)
    layers = IntShim(payload[: stack.size_bytes])
    if header.remaining_hops == 0:
        layers[IntMd].hops_exceeded = 1
    elif len(words) != header.hop_words:
        return frame
    elif _ip_bytes(packet) + 4 * len(words) > node.mtu:
        layers[IntMd].mtu_exceeded = 1
    else:
        layers[IntMd].stack = words + layers[IntMd].stack
        layers[IntMd].remaining_hops -= 1
        layers.length = None
    return _with_payload(packet, bytes(layers) + payload[stack.size_bytes :], DSCP_INT)


def removed(frame: bytes) -> bytes:
    """The sink's frame: as if INT had never been in it."""
    packet = Ether(frame)
    payload = _payload(packet)
    stack = decode_stack(payload)
    return _with_payload(packet, payload[stack.size_bytes :], stack.shim.original_dscp)


def reported(frame: bytes, node: Node, bitmap: int, sequence: int) -> bytes:
    """The collector's report on a frame: the metadata requested of the sink, and the frame as it
    came.

    The node id stands in the group header.
    """
    own = bitmap & ~NODE_ID
    report = TelemetryReport(tracked=1, bitmap=own, metadata=node.words(own))
    group = TelemetryGroup(sequence=sequence, node_id=node.node_id, reports=[report])
    return bytes(
        Ether(src="00:00:00:00:00:01", dst="00:00:00:00:00:02")
        / IP(src="0.0.0.3", dst="0.0.0.4", id=0, flags="DF")
        / UDP(sport=REPORT_PORT, dport=REPORT_PORT, chksum=0)
        / Raw(bytes(group) + frame[:REPORTED_BYTES_MAX])
    )


def _payload(packet: Packet) -> bytes:
    transport = packet[TCP] if TCP in packet else packet[UDP]
    return bytes(transport.payload)


def _with_payload(packet: Packet, payload: bytes, dscp: int) -> bytes:
    """The same packet with another payload and DSCP; lengths and checksums are computed."""
    packet = Ether(bytes(packet))
    if IP in packet:
        packet[IP].tos = dscp << 2 | packet[IP].tos & 3
        del packet[IP].len, packet[IP].chksum
    else:
        packet[IPv6].tc = dscp << 2 | packet[IPv6].tc & 3
        del packet[IPv6].plen
    transport = packet[TCP] if TCP in packet else packet[UDP]
    transport.remove_payload()
    if UDP in packet:
        del packet[UDP].len
    # A UDP checksum of 0 says that there is none, and stays.
    if TCP in packet or packet[UDP].chksum:
        del transport.chksum
    return bytes(packet / Raw(payload))


def _dscp(packet: Packet) -> int:
    return (packet[IP].tos if IP in packet else packet[IPv6].tc) >> 2


def _ip_bytes(packet: Packet) -> int:
    return packet[IP].len if IP in packet else 40 + packet[IPv6].plen
