"""A flow's name: addresses, protocol and ports, as packets and reports carry them."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

ETHERNET_BYTES, IPV4_BYTES = 14, 20
_PROTOCOL_AT, _ADDRESSES_AT = ETHERNET_BYTES + 9, ETHERNET_BYTES + 12
_PORTS_AT = ETHERNET_BYTES + IPV4_BYTES
# Bytes of each frame that name its flow.
HEAD_BYTES = _PORTS_AT + 4


@dataclass(frozen=True, slots=True, order=True)
class Flow:
    """IPv4 without options; ports are 0 where the protocol has none."""

    source: int
    destination: int
    protocol: int
    source_port: int
    destination_port: int

    @classmethod
    def of_head(cls, head: bytes) -> Flow:
        """From the first HEAD_BYTES of a frame."""

        def number(at: int, length: int) -> int:
            return int.from_bytes(head[at : at + length], "big")

        return cls(
            number(_ADDRESSES_AT, 4),
            number(_ADDRESSES_AT + 4, 4),
            number(_PROTOCOL_AT, 1),
            number(_PORTS_AT, 2),
            number(_PORTS_AT + 2, 2),
        )

    @classmethod
    def of_cell(cls, cell: int) -> Flow:
        """From the low 104 bits of a register's cell, the fields in their order."""
        return cls(
            cell >> 72 & 0xFFFFFFFF,
            cell >> 40 & 0xFFFFFFFF,
            cell >> 32 & 0xFF,
            cell >> 16 & 0xFFFF,
            cell & 0xFFFF,
        )

    def __str__(self) -> str:
        ends = ((self.source, self.source_port), (self.destination, self.destination_port))
        return " -> ".join(f"{ipaddress.IPv4Address(ip)}:{port}" for ip, port in ends)
