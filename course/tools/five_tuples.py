"""Flows of packets: who sends how much, in which order."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from course.tools.packets import ETHERTYPE_IPV4, IPV4_BYTES, checksum

TCP, UDP = 6, 17


@dataclass(frozen=True)
class Flow:
    """The five-tuple of a flow."""

    source: str
    target: str
    protocol: int
    source_port: int
    target_port: int

    @property
    def frame(self) -> bytes:
        """A packet of it; all are alike."""
        payload = struct.pack("!HH", self.source_port, self.target_port) + bytes(16)
        header = struct.pack(
            "!BBHHHBBH4s4s",
            *(0x45, 0, IPV4_BYTES + len(payload), 1, 0x4000, 64, self.protocol, 0),
            ipaddress.IPv4Address(self.source).packed,
            ipaddress.IPv4Address(self.target).packed,
        )
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        ethernet = bytes.fromhex("0200000000fe020000000001") + struct.pack("!H", ETHERTYPE_IPV4)
        return ethernet + header + payload

    def __str__(self) -> str:
        name = "TCP" if self.protocol == TCP else "UDP"
        return f"{name} {self.source}:{self.source_port} > {self.target}:{self.target_port}"


def any_flow(dice: Random) -> Flow:
    """A flow between hosts of 10.0.0.0/8."""
    address = [str(ipaddress.IPv4Address((10 << 24) + dice.randrange(1 << 24))) for _ in range(2)]
    ports = dice.sample(range(1024, 60000), 2)
    return Flow(address[0], address[1], dice.choice((TCP, UDP)), ports[0], ports[1])


def neighbours(flow: Flow) -> list[tuple[str, Flow]]:
    """Flows that differ in one thing, and what that is."""
    return [
        ("source address", replace(flow, source=_next(flow.source))),
        ("destination address", replace(flow, target=_next(flow.target))),
        ("protocol", replace(flow, protocol=TCP + UDP - flow.protocol)),
        ("source port", replace(flow, source_port=flow.source_port + 1)),
        ("destination port", replace(flow, target_port=flow.target_port + 1)),
    ]


def _next(address: str) -> str:
    return str(ipaddress.IPv4Address(address) + 1)


def mixed(dice: Random, sizes: Sequence[int]) -> list[Flow]:
    """Packets of as many flows as there are sizes, shuffled."""
    packets = [flow for size in sizes for flow in [any_flow(dice)] * size]
    dice.shuffle(packets)
    return packets
