"""Ethernet and IPv4 frames by hand, field by field, and in words."""

from __future__ import annotations

import dataclasses
import ipaddress
import struct
from dataclasses import dataclass

ETHERNET_BYTES = 14
IPV4_BYTES = 20
ETHERTYPE_IPV4 = 0x0800
UDP = 17

# Where each field lies: its name, and its first byte and the byte behind it in the frame.
FIELDS = (
    ("destination MAC address", 0, 6),
    ("source MAC address", 6, 12),
    ("EtherType", 12, 14),
    ("version and header length", 14, 15),
    ("DSCP and ECN", 15, 16),
    ("total length", 16, 18),
    ("identification", 18, 20),
    ("flags and fragment offset", 20, 22),
    ("TTL", 22, 23),
    ("protocol", 23, 24),
    ("header checksum", 24, 26),
    ("source address", 26, 30),
    ("destination address", 30, 34),
)


@dataclass(frozen=True)
class Packet:
    """A UDP datagram over IPv4 over Ethernet."""

    source: str
    target: str
    ttl: int = 64
    payload: bytes = b""
    identification: int = 1
    dscp: int = 0
    # IPv4 options, a multiple of four bytes.
    options: bytes = b""
    # Added to the right checksum, so that it is wrong.
    checksum_error: int = 0
    from_mac: int = 0x020000000001
    to_mac: int = 0x0200000000FE

    @property
    def frame(self) -> bytes:
        """Its bytes on the wire."""
        datagram = struct.pack("!4H", 4000, 5001, 8 + len(self.payload), 0) + self.payload
        header_bytes = IPV4_BYTES + len(self.options)
        header = struct.pack(
            "!BBHHHBBH4s4s",
            0x40 | header_bytes // 4,
            self.dscp << 2,
            header_bytes + len(datagram),
            self.identification,
            0x4000,
            self.ttl,
            UDP,
            0,
            ipaddress.IPv4Address(self.source).packed,
            ipaddress.IPv4Address(self.target).packed,
        )
        header += self.options
        right = checksum(header)
        header = (
            header[:10] + struct.pack("!H", (right + self.checksum_error) & 0xFFFF) + header[12:]
        )
        ethernet = self.to_mac.to_bytes(6, "big") + self.from_mac.to_bytes(6, "big")
        return ethernet + struct.pack("!H", ETHERTYPE_IPV4) + header + datagram

    def __str__(self) -> str:
        return f"{self.source} > {self.target}, TTL {self.ttl}, UDP, {len(self.frame)} bytes"

    def but(self, **changes: object) -> Packet:
        """The same packet with these fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


def checksum(header: bytes) -> int:
    """The Internet checksum (RFC 1071) of a header whose checksum field is 0."""
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def checksum_is_right(frame: bytes) -> bool:
    """Whether the IPv4 header of a frame adds up to what RFC 1071 wants."""
    header_bytes = 4 * (frame[ETHERNET_BYTES] & 15)
    # With the checksum in it, the sum of a right header is 0xffff, and its complement 0.
    return checksum(frame[ETHERNET_BYTES : ETHERNET_BYTES + header_bytes]) == 0


def field(frame: bytes, name: str) -> bytes:
    """The bytes of a field."""
    start, end = next((start, end) for each, start, end in FIELDS if each == name)
    return frame[start:end]


def show(name: str, value: bytes) -> str:
    """The value of a field as people write it."""
    if name.endswith("MAC address"):
        return value.hex(":")
    if name in ("source address", "destination address"):
        return str(ipaddress.IPv4Address(value)) if len(value) == 4 else "nothing"
    if name in ("TTL", "protocol", "total length"):
        return str(int.from_bytes(value, "big"))
    return f"0x{value.hex()}"
