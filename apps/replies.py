"""A router's answers in its own name: ARP, neighbour discovery, ping, ICMP errors.

    answer(frame, reason, Own(mac, addresses), everywhere)  ->  the frame to send back, or None

Pure functions of bytes. An answer goes back out of the port that the question came in by, to the
Ethernet address it came from. The rules for when to stay silent are those of RFC 1812 (4.3.2.7) and
RFC 4443 (2.4): no error about an error, about a later fragment, or about what was sent to many.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from controller.values import Mac

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class Reason(IntEnum):
    """Why the program sent a packet here: `punt_reason_t` of p4src/lib/headers.p4."""

    NEIGHBOUR = 1
    LOCAL = 2
    NO_ROUTE = 3
    TTL = 4
    TOO_LONG = 5


@dataclass(frozen=True)
class Own:
    """A port of the router: its Ethernet address and its addresses there."""

    mac: Mac
    addresses: tuple[Address, ...]


_ETHERNET_BYTES = 14
_ARP, _IPV4, _IPV6 = 0x0806, 0x0800, 0x86DD
_ARP_REQUEST, _ARP_REPLY = 1, 2
_ICMP, _UDP, _ICMPV6 = 1, 17, 58
_TTL = 64
# RFC 4861, 7.1.1: what is not a neighbour's must not look like it.
_ND_HOP_LIMIT = 255

_ECHO_REPLY, _UNREACHABLE, _ECHO_REQUEST, _TIME_EXCEEDED = 0, 3, 8, 11
_NET_UNREACHABLE, _PORT_UNREACHABLE, _FRAGMENTATION_NEEDED = 0, 3, 4
# Answers and errors of ICMP: no error is sent about those.
_ICMP_QUERIES = frozenset({8, 13, 15, 17})

_V6_UNREACHABLE, _V6_TOO_BIG, _V6_TIME_EXCEEDED = 1, 2, 3
_V6_NO_ROUTE, _V6_PORT_UNREACHABLE = 0, 4
_V6_ECHO_REQUEST, _V6_ECHO_REPLY = 128, 129
_SOLICITATION, _ADVERTISEMENT = 135, 136
# Router, solicited, override: the answer counts, from now on.
_ADVERTISEMENT_FLAGS = 0xE0000000
_TARGET_LINK_ADDRESS = 2
# How much of the packet an error carries: RFC 1812 requires as much as fits 576 bytes, RFC 4443 for
# as much as fits 1280.
_QUOTE_BYTES = 576 - 28
_V6_QUOTE_BYTES = 1280 - 48


def answer(
    frame: bytes, reason: int, own: Own, everywhere: Collection[Address], mtu_bytes: int = 0
) -> bytes | None:
    """The frame to send back; `everywhere` are the router's addresses on all its ports.

    `mtu_bytes` is what a packet that is too long should have fit.
    """
    if len(frame) < _ETHERNET_BYTES:
        return None
    packet, (ether_type,) = frame[_ETHERNET_BYTES:], struct.unpack_from("!H", frame, 12)
    try:
        if ether_type == _ARP:
            reply = _arp_reply(packet, own)
        elif ether_type == _IPV4:
            reply = _ipv4_reply(packet, reason, own, everywhere, mtu_bytes)
        elif ether_type == _IPV6:
            reply = _ipv6_reply(packet, reason, own, everywhere, mtu_bytes)
        else:
            return None
    except (struct.error, IndexError, ValueError):
        # Cut short or broken: nothing to answer.
        return None
    if reply is None:
        return None
    return frame[6:12] + own.mac.packed + frame[12:14] + reply


def destination(frame: bytes) -> Address | None:
    """The destination of an IP packet; none for other or truncated frames."""
    ether_type = int.from_bytes(frame[12:14], "big")
    packet = frame[_ETHERNET_BYTES:]
    if ether_type == _IPV4 and len(packet) >= 20:
        return ipaddress.IPv4Address(packet[16:20])
    if ether_type == _IPV6 and len(packet) >= 40:
        return ipaddress.IPv6Address(packet[24:40])
    return None


def is_error(frame: bytes) -> bool:
    """Whether an answer of ours is an ICMP error, which must not be sent without bounds."""
    ether_type = int.from_bytes(frame[12:14], "big")
    if ether_type == _IPV4:
        return frame[_ETHERNET_BYTES + 20] in (_UNREACHABLE, _TIME_EXCEEDED)
    return ether_type == _IPV6 and frame[_ETHERNET_BYTES + 40] < 128


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of bytes."""
    padded = data + bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _arp_reply(packet: bytes, own: Own) -> bytes | None:
    head, operation, sender_mac, sender, _, target = struct.unpack_from("!6sH6s4s6s4s", packet)
    address = ipaddress.IPv4Address(target)
    if operation != _ARP_REQUEST or address not in own.addresses:
        return None
    mac = own.mac.packed
    return struct.pack("!6sH6s4s6s4s", head, _ARP_REPLY, mac, target, sender_mac, sender)


# ---- IPv4 ----------------------------------------------------------------------------------------


def _ipv4_reply(
    packet: bytes, reason: int, own: Own, everywhere: Collection[Address], mtu_bytes: int
) -> bytes | None:
    header_bytes = (packet[0] & 0x0F) * 4
    (total_len,) = struct.unpack_from("!H", packet, 2)
    source, target = (ipaddress.IPv4Address(packet[at : at + 4]) for at in (12, 16))
    protocol, body = packet[9], packet[header_bytes:total_len]
    if target in everywhere:
        if protocol == _ICMP and body[0] == _ECHO_REQUEST:
            return _ipv4(target, source, _icmp(_ECHO_REPLY, 0, body[4:]))
        if protocol != _UDP:
            return None
        kind, code = _UNREACHABLE, _PORT_UNREACHABLE
    elif reason == Reason.TTL:
        kind, code = _TIME_EXCEEDED, 0
    elif reason == Reason.TOO_LONG:
        kind, code = _UNREACHABLE, _FRAGMENTATION_NEEDED
    else:
        kind, code = _UNREACHABLE, _NET_UNREACHABLE
    is_later_fragment = struct.unpack_from("!H", packet, 6)[0] & 0x1FFF != 0
    is_answer = protocol == _ICMP and body[0] not in _ICMP_QUERIES
    if is_later_fragment or is_answer or not _may_be_told(source, target):
        return None
    from_address = _own_address(own, everywhere, 4)
    if from_address is None:
        return None
    # The word that says what fits (RFC 1191, 4) is 0 in all other errors.
    quote = struct.pack("!I", mtu_bytes) + packet[:total_len][:_QUOTE_BYTES]
    return _ipv4(from_address, source, _icmp(kind, code, quote))


def _icmp(kind: int, code: int, rest: bytes) -> bytes:
    """`rest` begins behind the checksum: 4 bytes of the kind's own, then its data."""
    plain = struct.pack("!BBH", kind, code, 0) + rest
    return plain[:2] + struct.pack("!H", checksum(plain)) + plain[4:]


def _ipv4(source: Address, target: Address, body: bytes) -> bytes:
    plain = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, _TTL, _ICMP, 0, source.packed, target.packed
    )
    return plain[:10] + struct.pack("!H", checksum(plain)) + plain[12:] + body


# ---- IPv6 ----------------------------------------------------------------------------------------


def _ipv6_reply(
    packet: bytes, reason: int, own: Own, everywhere: Collection[Address], mtu_bytes: int
) -> bytes | None:
    payload_len, protocol = struct.unpack_from("!HB", packet, 4)
    source, target = (ipaddress.IPv6Address(packet[at : at + 16]) for at in (8, 24))
    body = packet[40 : 40 + payload_len]
    if protocol == _ICMPV6 and body[0] == _SOLICITATION:
        return _advertisement(source, body, own)
    if target in everywhere:
        if protocol == _ICMPV6 and body[0] == _V6_ECHO_REQUEST:
            return _ipv6(target, source, _V6_ECHO_REPLY, 0, body[4:])
        if protocol != _UDP:
            return None
        kind, code = _V6_UNREACHABLE, _V6_PORT_UNREACHABLE
    elif reason == Reason.TTL:
        kind, code = _V6_TIME_EXCEEDED, 0
    elif reason == Reason.TOO_LONG:
        kind, code = _V6_TOO_BIG, 0
    else:
        kind, code = _V6_UNREACHABLE, _V6_NO_ROUTE
    # Errors have types below 128; neighbour discovery and the like is for the link alone.
    is_answer = protocol == _ICMPV6 and body[0] != _V6_ECHO_REQUEST
    from_address = _own_address(own, everywhere, 6)
    if is_answer or from_address is None or not _may_be_told(source, target):
        return None
    quote = struct.pack("!I", mtu_bytes) + packet[: 40 + payload_len][:_V6_QUOTE_BYTES]
    return _ipv6(from_address, source, kind, code, quote)


def _advertisement(source: ipaddress.IPv6Address, body: bytes, own: Own) -> bytes | None:
    target = ipaddress.IPv6Address(body[8:24])
    # A request without a source checks whether the address is free; only its owner would object.
    if target not in own.addresses or source.is_unspecified:
        return None
    option = struct.pack("!BB", _TARGET_LINK_ADDRESS, 1) + own.mac.packed
    rest = struct.pack("!I", _ADVERTISEMENT_FLAGS) + target.packed + option
    return _ipv6(target, source, _ADVERTISEMENT, 0, rest, _ND_HOP_LIMIT)


def _ipv6(
    source: Address, target: Address, kind: int, code: int, rest: bytes, hop_limit: int = _TTL
) -> bytes:
    """An ICMPv6 packet; its checksum covers the addresses too (RFC 8200, 8.1)."""
    plain = struct.pack("!BBH", kind, code, 0) + rest
    pseudo = source.packed + target.packed + struct.pack("!II", len(plain), _ICMPV6)
    body = plain[:2] + struct.pack("!H", checksum(pseudo + plain)) + plain[4:]
    head = struct.pack("!IHBB", 6 << 28, len(body), _ICMPV6, hop_limit)
    return head + source.packed + target.packed + body


# ---- both ----------------------------------------------------------------------------------------


def _may_be_told(source: Address, target: Address) -> bool:
    """Whether an error about a packet may be sent: one sender, one receiver."""
    is_limited_broadcast = target == ipaddress.IPv4Address("255.255.255.255")
    to_many = target.is_multicast or is_limited_broadcast
    return not (to_many or source.is_multicast or source.is_unspecified or source.is_loopback)


def _own_address(own: Own, everywhere: Collection[Address], version: int) -> Address | None:
    """The source of an error: the port's address, or any of the router's if it has none."""
    candidates: Sequence[Address] = [*own.addresses, *sorted(everywhere, key=str)]
    return next((each for each in candidates if each.version == version), None)
