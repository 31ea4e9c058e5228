"""The same packet on different links: what of its bytes a router must not change."""

from __future__ import annotations

from dataclasses import dataclass

ETHERNET_BYTES = 14
IPV4_BYTES, IPV6_BYTES, UDP_BYTES = 20, 40, 8
TCP, UDP = 6, 17
DSCP_INT = 0x17


@dataclass(frozen=True)
class Packet:
    """A TCP or UDP packet of IPv4 without options, or of IPv6."""

    version: int
    protocol: int
    # Whole packets, from the IP header on.
    data: bytes

    @property
    def transport(self) -> int:
        """Where TCP or UDP begins."""
        return IPV4_BYTES if self.version == 4 else IPV6_BYTES

    @property
    def payload(self) -> int:
        """Where the bytes behind TCP or UDP begin."""
        words = self.data[self.transport + 12] >> 4
        return self.transport + (4 * words if self.protocol == TCP else UDP_BYTES)

    @property
    def dscp(self) -> int:
        """Six bits of the second byte, or of the first two."""
        if self.version == 4:
            return self.data[1] >> 2
        return int.from_bytes(self.data[:2], "big") >> 6 & 0x3F

    @property
    def addresses(self) -> bytes:
        """Source and destination."""
        return self.data[12:20] if self.version == 4 else self.data[8:40]

    @property
    def identity(self) -> tuple[bytes, ...]:
        """The parts of the packet that are the same on every link, with INT in it and without.

        Lengths, DSCP and the checksum differ while INT is in it. IPv4 counts its packets in the
        header, TCP's numbers tell IPv6's packets apart, and the tests number their datagrams.
        """
        data, transport, payload = self.data, self.transport, self.payload
        if self.dscp == DSCP_INT:
            # The shim's second byte is the length behind it, in words.
            payload += 4 + 4 * data[payload + 1]
        network = data[4:8] if self.version == 4 else b""
        if self.protocol == TCP:
            header = data[transport : transport + 16] + data[transport + 18 : self.payload]
        else:
            header = data[transport : transport + 4]
        return (self.addresses, network, header, data[payload:])

    @property
    def unrouted(self) -> bytes:
        """The packet without the fields that each router changes: hop limit and IPv4's checksum.

        A TCP checksum of zero is 0x0000 or 0xffff, which mean the same. Linux sends 0xffff; the
        sink, which updates the checksum by what it takes out, cannot know that, and sends 0x0000.
        """
        data, checksum = self.data, self.transport + 16
        if self.protocol == TCP and data[checksum : checksum + 2] == b"\xff\xff":
            data = data[:checksum] + b"\x00\x00" + data[checksum + 2 :]
        if self.version == 4:
            return data[:8] + data[9:10] + data[12:]
        return data[:7] + data[8:]


def of_frame(frame: bytes) -> Packet | None:
    """The packet in an Ethernet frame, without padding; None if it is neither TCP nor UDP."""
    ether_type = frame[12:ETHERNET_BYTES]
    data = frame[ETHERNET_BYTES:]
    if ether_type == b"\x08\x00":
        packet = Packet(4, data[9], data[: int.from_bytes(data[2:4], "big")])
    elif ether_type == b"\x86\xdd":
        size = IPV6_BYTES + int.from_bytes(data[4:6], "big")
        packet = Packet(6, data[6], data[:size])
    else:
        return None
    return packet if packet.protocol in (TCP, UDP) else None
