"""Frames and messages as bytes. This file is finished; `control.py` is yours.

Addresses are `ipaddress.IPv4Address`, networks `ipaddress.IPv4Network`, MAC addresses 6 bytes.
"""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

ARP, IPV4 = 0x0806, 0x0800
ICMP, LINK_STATE = 1, 253
BROADCAST = bytes([255] * 6)
# Whom routers speak to when they speak to all neighbours, and its MAC address (RFC 1112, 6.4).
ALL_ROUTERS = IPv4Address("224.0.0.5")
ALL_ROUTERS_MAC = bytes([0x01, 0x00, 0x5E, 0x00, 0x00, 0x05])


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of bytes whose checksum field is 0."""
    padded = data + bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(target: bytes, source: bytes, ether_type: int, payload: bytes) -> bytes:
    """A frame."""
    return target + source + struct.pack("!H", ether_type) + payload


def ipv4(
    source: IPv4Address, target: IPv4Address, protocol: int, payload: bytes, ttl: int = 64
) -> bytes:
    """A packet, with its checksum."""
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, ttl, protocol, 0)
    head += source.packed + target.packed
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


# ---- messages of the routing protocol; the handout has their layout ------------------------------


@dataclass(frozen=True)
class Hello:
    """'I am here': to all neighbours, five times a second."""

    router: IPv4Address

    def pack(self) -> bytes:
        """Its bytes."""
        return b"\x01" + self.router.packed


@dataclass(frozen=True)
class Advert:
    """What one router says of itself, for all the others."""

    origin: IPv4Address
    # The higher one is the newer one.
    sequence: int
    # Its neighbours, and what the way to each costs.
    links: tuple[tuple[IPv4Address, int], ...]
    # The networks at its ports.
    networks: tuple[IPv4Network, ...]

    def pack(self) -> bytes:
        """Its bytes."""
        head = struct.pack("!I2B", self.sequence, len(self.links), len(self.networks))
        links = b"".join(each.packed + struct.pack("!H", cost) for each, cost in self.links)
        networks = (each.network_address.packed + bytes([each.prefixlen]) for each in self.networks)
        return b"\x02" + self.origin.packed + head + links + b"".join(networks)


def unpack(data: bytes) -> "Hello | Advert | None":
    """The message that bytes hold; None if they hold none."""
    try:
        if data[0] == 1:
            return Hello(IPv4Address(data[1:5]))
        if data[0] != 2:
            return None
        sequence, link_count, network_count = struct.unpack_from("!I2B", data, 5)
        at = 11
        links = []
        for _ in range(link_count):
            links.append(
                (IPv4Address(data[at : at + 4]), int.from_bytes(data[at + 4 : at + 6], "big"))
            )
            at += 6
        networks = []
        for _ in range(network_count):
            networks.append(IPv4Network((data[at : at + 4], data[at + 4])))
            at += 5
        return Advert(IPv4Address(data[1:5]), sequence, tuple(links), tuple(networks))
    except (IndexError, ValueError, struct.error):
        return None
