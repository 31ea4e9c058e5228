"""The messages of a tested router's neighbours, as bytes, and the router's own, in words."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from course.exercises.control_plane.process import Act, Sent
from course.tools.packets import checksum

ARP, IPV4 = 0x0806, 0x0800
ICMP, UDP, LINK_STATE = 1, 17, 253
BROADCAST = bytes([255] * 6)
ALL_ROUTERS = IPv4Address("224.0.0.5")
ALL_ROUTERS_MAC = bytes([0x01, 0x00, 0x5E, 0x00, 0x00, 0x05])
# Why the program sends a packet to its controller.
NEIGHBOUR, LOCAL, NO_ROUTE, TTL = 1, 2, 3, 4
ECHO_REPLY, UNREACHABLE, ECHO, EXCEEDED = 0, 3, 8, 11


@dataclass(frozen=True)
class Station:
    """Somebody at a port: a host, or a neighbouring router."""

    address: IPv4Address
    mac: bytes


@dataclass(frozen=True)
class Advert:
    """A router's advertisement."""

    origin: IPv4Address
    sequence: int
    links: tuple[tuple[IPv4Address, int], ...]
    networks: tuple[IPv4Network, ...]

    @property
    def bytes(self) -> bytes:
        """As the handout lays it out."""
        data = b"\x02" + self.origin.packed
        data += struct.pack("!I2B", self.sequence, len(self.links), len(self.networks))
        for router, cost in self.links:
            data += router.packed + struct.pack("!H", cost)
        for network in self.networks:
            data += network.network_address.packed + bytes([network.prefixlen])
        return data


def hello(router: IPv4Address) -> bytes:
    """A hello's bytes."""
    return b"\x01" + router.packed


def advert_of(frame: bytes) -> Advert | None:
    """The advert in a frame, if there is one."""
    body = frame[34:]
    if not is_link_state(frame) or len(body) < 11 or body[0] != 2:
        return None
    sequence, link_count, network_count = struct.unpack_from("!I2B", body, 5)
    if len(body) < 11 + 6 * link_count + 5 * network_count:
        return None
    links = tuple(
        (IPv4Address(body[at : at + 4]), int.from_bytes(body[at + 4 : at + 6], "big"))
        for at in range(11, 11 + 6 * link_count, 6)
    )
    first = 11 + 6 * link_count
    try:
        networks = tuple(
            IPv4Network((body[at : at + 4], body[at + 4]))
            for at in range(first, first + 5 * network_count, 5)
        )
    except ValueError:
        return None
    return Advert(IPv4Address(body[1:5]), sequence, links, networks)


def is_link_state(frame: bytes) -> bool:
    """Whether a frame carries a message of the routing protocol."""
    return len(frame) >= 35 and frame[12:14] == b"\x08\x00" and frame[23] == LINK_STATE


# ---- frames that come ----------------------------------------------------------------------------


def arp(operation: int, to_mac: bytes, sender: Station, target: Station) -> bytes:
    """An ARP packet (RFC 826)."""
    body = struct.pack("!HHBBH", 1, IPV4, 6, 4, operation)
    body += sender.mac + sender.address.packed + target.mac + target.address.packed
    return to_mac + sender.mac + struct.pack("!H", ARP) + body


def packet(
    source: Station,
    to_mac: bytes,
    target: IPv4Address,
    protocol: int,
    body: bytes,
    *,
    ttl: int = 64,
    fragment: int = 0,
) -> bytes:
    """An IPv4 packet in its frame."""
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 7, fragment, ttl, protocol, 0)
    head += source.address.packed + target.packed
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return to_mac + source.mac + struct.pack("!H", IPV4) + head + body


def icmp(kind: int, code: int, rest: bytes) -> bytes:
    """An ICMP message; `rest` begins behind its checksum."""
    plain = struct.pack("!BBH", kind, code, 0) + rest
    padded = plain + bytes(len(plain) % 2)
    return plain[:2] + struct.pack("!H", checksum(padded)) + plain[4:]


def datagram(payload: bytes = bytes(range(24))) -> bytes:
    """A UDP datagram without a checksum."""
    return struct.pack("!4H", 40000, 40001, 8 + len(payload), 0) + payload


# ---- frames that leave ---------------------------------------------------------------------------


def words(acts: Sequence[Act]) -> tuple[str, ...]:
    """A control plane's acts, one a line."""
    return tuple(
        f"sends by port {act.port}: {frame_words(act.frame)}"
        if isinstance(act, Sent)
        else f"{act.kind} {act.entry}"
        for act in acts
    )


def frame_words(frame: bytes) -> str:
    """A frame in words, as far as it goes."""
    kind, body = int.from_bytes(frame[12:14], "big"), frame[14:]
    if kind == ARP and len(body) >= 28:
        word = {1: "ARP request", 2: "ARP reply"}.get(int.from_bytes(body[6:8], "big"), "ARP")
        return (
            f"{word}, {IPv4Address(body[14:18])} is {body[8:14].hex(':')}, for "
            f"{IPv4Address(body[24:28])}, to {frame[:6].hex(':')}"
        )
    if kind != IPV4 or len(body) < 21:
        return frame.hex()
    ends = f"{IPv4Address(body[12:16])} > {IPv4Address(body[16:20])}"
    if body[9] == ICMP and len(body) >= 22:
        return f"ICMP {ends}, type {body[20]}, code {body[21]}, to {frame[:6].hex(':')}"
    found = advert_of(frame)
    if found is not None:
        return f"advert of {found.origin}, number {found.sequence}"
    return f"hello, {ends}" if body[9] == LINK_STATE else f"IPv4 {ends}, protocol {body[9]}"
