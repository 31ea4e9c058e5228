"""TCP segments and UDP datagrams with their checksums, over IPv4 over Ethernet."""

from __future__ import annotations

import dataclasses
import struct
from dataclasses import dataclass
from ipaddress import IPv4Address
from random import Random

from course.tools.packets import ETHERTYPE_IPV4, checksum

TCP, UDP = 6, 17
NAMES = {TCP: "TCP", UDP: "UDP"}
# Where the checksum is, in a segment and in a datagram.
CHECKSUM_AT = {TCP: 16, UDP: 6}
_L4_AT = 34


@dataclass(frozen=True)
class End:
    """An address and a port."""

    addr: IPv4Address
    port: int

    def __str__(self) -> str:
        return f"{self.addr}:{self.port}"


@dataclass(frozen=True)
class Segment:
    """A segment of TCP or a datagram of UDP."""

    protocol: int
    source: End
    target: End
    payload: bytes = b""
    # Added to the right checksum, so that it is wrong.
    damage: int = 0
    # UDP may be sent without one.
    has_checksum: bool = True

    def __str__(self) -> str:
        name, size = NAMES[self.protocol], len(self.payload)
        return f"{name} {self.source} > {self.target} with {size} bytes"

    def but(self, **changes: object) -> Segment:
        """The same with these things changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @property
    def checksum(self) -> int:
        """The value in its checksum's field."""
        if not self.has_checksum:
            return 0
        right = computed(self.protocol, self.source, self.target, self._l4(0))
        return (right + self.damage) & 0xFFFF

    @property
    def frame(self) -> bytes:
        """Its bytes on the wire."""
        l4 = self._l4(self.checksum)
        header = struct.pack(
            "!BBHHHBBH4s4s",
            0x45,
            0,
            20 + len(l4),
            7,
            0x4000,
            64,
            self.protocol,
            0,
            self.source.addr.packed,
            self.target.addr.packed,
        )
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        ethernet = bytes.fromhex("0200000000fe020000000001") + struct.pack("!H", ETHERTYPE_IPV4)
        return ethernet + header + l4

    def _l4(self, written: int) -> bytes:
        ports = struct.pack("!2H", self.source.port, self.target.port)
        if self.protocol == TCP:
            return ports + struct.pack("!2I4H", 1000, 2000, 0x5018, 512, written, 0) + self.payload
        return ports + struct.pack("!2H", 8 + len(self.payload), written) + self.payload


def computed(protocol: int, source: End, target: End, l4: bytes) -> int:
    """The checksum of a segment whose own field is 0 (RFC 9293, 3.1; RFC 768)."""
    pseudo = source.addr.packed + target.addr.packed + struct.pack("!2H", protocol, len(l4))
    found = checksum(pseudo + l4 + bytes(len(l4) % 2))
    # UDP's 0 would say that there is none.
    return 0xFFFF if protocol == UDP and found == 0 else found


def that_sums_to_nothing(segment: Segment) -> Segment:
    """The same datagram with a payload whose checksum comes out as 0."""
    bare = segment.but(payload=bytes(2))
    right = checksum(
        bare.source.addr.packed
        + bare.target.addr.packed
        + struct.pack("!2H", UDP, 10)
        + bare.frame[_L4_AT : _L4_AT + 6]
        + bytes(4)
    )
    # The difference to all ones, whose complement is 0.
    return segment.but(payload=struct.pack("!H", right))


def read(frame: bytes) -> tuple[End, End, int]:
    """Source, target and checksum of a frame's segment."""
    source_port, target_port = struct.unpack_from("!2H", frame, _L4_AT)
    (found,) = struct.unpack_from("!H", frame, _L4_AT + CHECKSUM_AT[frame[23]])
    return (
        End(IPv4Address(frame[26:30]), source_port),
        End(IPv4Address(frame[30:34]), target_port),
        found,
    )


def some_bytes(dice: Random, size: int) -> bytes:
    """A payload."""
    return bytes(dice.randrange(256) for _ in range(size))
