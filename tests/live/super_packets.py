"""Random super-packets as a kernel hands them to a device, and packet sockets inside namespaces."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import io
import os
import random
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOL_PACKET, PACKET_AUXDATA, PACKET_VNET_HDR = 263, 8, 15
SO_RCVBUFFORCE = 33
ETH_P_ALL = 3
CLONE_NEWNET = 0x40000000
NEEDS_CHECKSUM = 1
GSO_TCPV4, GSO_TCPV6, GSO_UDP, GSO_ECN = 1, 4, 5, 0x80
FIN, PSH, ACK, ECE, CWR = 1, 8, 16, 64, 128
TCP, UDP = 6, 17

_LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Descriptors that this thread opens in the block belong to the namespace."""
    with (
        Path("/proc/self/ns/net").open() as outside,
        Path(f"/run/netns/{namespace}").open() as wanted,
    ):
        _enter(wanted.fileno())
        try:
            yield
        finally:
            _enter(outside.fileno())


def _enter(descriptor: int) -> None:
    if _LIBC.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def sender(namespace: str, device: str) -> socket.socket:
    """A socket that takes a virtio-net header before each packet."""
    with inside(namespace):
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    made.bind((device, 0))
    return made


def receiver(namespace: str, device: str) -> socket.socket:
    """A socket that gets every frame that arrives at the device."""
    with inside(namespace):
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    made.bind((device, ETH_P_ALL))
    return made


def tap(namespace: str, name: str) -> io.FileIO:
    """A tap device; what is written to the file arrives at it, what it sends can be read."""
    flags = 0x0002 | 0x1000  # IFF_TAP | IFF_NO_PI
    with inside(namespace):
        made = io.FileIO("/dev/net/tun", "r+")
        fcntl.ioctl(made, 0x400454CA, struct.pack("16sH22x", name.encode(), flags))  # TUNSETIFF
    return made


def frames_until(listener: socket.socket, last: bytes) -> list[bytes]:
    """All frames that arrive before the frame `last`, which must arrive."""
    found: list[bytes] = []
    while not found or found[-1] != last:
        (frame,) = frames(listener, 1)
        found.append(frame)
    return found[:-1]


def frames(listener: socket.socket, count: int, deadline_s: float = 60.0) -> list[bytes]:
    """The next frames, VLAN tags put back; `count` of them, or fewer if no more come in time."""
    listener.settimeout(1.0)
    end = time.monotonic() + deadline_s
    found: list[bytes] = []
    while len(found) < count and time.monotonic() < end:
        try:
            data, control, _, address = listener.recvmsg(1 << 17, 256)
        except TimeoutError:
            continue
        if address[2] != socket.PACKET_OUTGOING:
            found.append(_tag(control, data))
    return found


def _tag(control: list[tuple[int, int, bytes]], frame: bytes) -> bytes:
    """The kernel takes the first VLAN tag off a frame and tells it beside it (tpacket_auxdata)."""
    for _, _, data in control:
        status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
        if status & 0x10:
            return frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
    return frame


@dataclass
class Flow:
    """A connection whose packets follow each other."""

    protocol: int
    ipv6: bool
    vlan: int | None
    source_port: int
    sequence: int
    identification: int

    def packet(self, chance: random.Random) -> bytes:
        """The next super-packet (or plain packet) behind its virtio-net header."""
        piece = chance.randrange(200, 1400)
        pieces = chance.choice((1, 1, 2, 5, 40))
        # Sometimes the last piece is full, mostly not.
        size = piece * pieces - chance.choice((0, chance.randrange(piece)))
        payload = chance.randbytes(max(1, size))
        pieces = -(-len(payload) // piece)
        flags = ACK | chance.choice((0, 0, PSH, PSH, FIN | PSH, ECE, CWR, CWR | PSH))
        head = self._transport(flags, payload)
        head_at = 14 + (4 if self.vlan is not None else 0) + (40 if self.ipv6 else 20)
        network = self._network(head, payload)
        self.sequence += len(payload)
        self.identification += pieces
        frame = self._ethernet() + network + head + payload
        return self._offload(flags, head, head_at, piece, len(payload) > piece) + frame

    def _ethernet(self) -> bytes:
        tag = struct.pack("!HH", 0x8100, self.vlan) if self.vlan is not None else b""
        ether_type = 0x86DD if self.ipv6 else 0x0800
        return bytes.fromhex("020000000002020000000001") + tag + struct.pack("!H", ether_type)

    def _network(self, head: bytes, payload: bytes) -> bytes:
        length = len(head) + len(payload)
        if self.ipv6:
            start = struct.pack("!IHBB", 0x60000000, length, self.protocol, 64)
            return start + self._addresses()
        # Don't fragment, and the checksum that the hardware would write into each piece.
        words = struct.pack("!BBHHHBB", 0x45, 0, 20 + length, self.identification & 0xFFFF,
                            0x4000, 64, self.protocol)  # fmt: skip
        checksum = ~_sum(words + self._addresses()) & 0xFFFF
        return words + struct.pack("!H", checksum) + self._addresses()

    def _addresses(self) -> bytes:
        if self.ipv6:
            return bytes.fromhex("20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02")
        return bytes((10, 0, 1, 1, 10, 0, 2, 1))

    def _transport(self, flags: int, payload: bytes) -> bytes:
        ports = struct.pack("!HH", self.source_port, 5201)
        if self.protocol == UDP:
            length = 8 + len(payload)
            return ports + struct.pack("!HH", length, self._pseudo_header(length))
        options = bytes.fromhex("0101080a0000000100000002")
        length = 20 + len(options) + len(payload)
        numbers = struct.pack("!II", self.sequence & 0xFFFFFFFF, 99)
        rest = struct.pack("!BBHHH", 0x80, flags, 502, self._pseudo_header(length), 0)
        return ports + numbers + rest + options

    def _pseudo_header(self, length: int) -> int:
        return _sum(self._addresses() + struct.pack("!HH", self.protocol, length))

    def _offload(self, flags: int, head: bytes, at: int, piece: int, is_super: bool) -> bytes:
        kind = 0
        if is_super:
            tcp = GSO_TCPV6 if self.ipv6 else GSO_TCPV4
            kind = GSO_UDP if self.protocol == UDP else tcp
            if self.protocol == TCP and flags & CWR:
                kind |= GSO_ECN
        offset = 6 if self.protocol == UDP else 16
        sizes = (at + len(head), piece) if is_super else (0, 0)
        return struct.pack("=BBHHHH", NEEDS_CHECKSUM, kind, *sizes, at, offset)


def crumbs(length_bytes: int) -> bytes:
    """One packet of TCP that is to be sent in pieces of a byte."""
    flow = Flow(TCP, ipv6=False, vlan=None, source_port=999, sequence=1, identification=1)
    payload = bytes(length_bytes)
    head = flow._transport(ACK, payload)
    offload = flow._offload(ACK, head, 34, piece=1, is_super=True)
    return offload + flow._ethernet() + flow._network(head, payload) + head + payload


def traffic(seed: int, count: int) -> list[bytes]:
    """Packets of some flows in random order, and now and then one of no protocol at all."""
    chance = random.Random(seed)
    flows = [
        Flow(protocol, ipv6, vlan, 1000 + number, chance.getrandbits(32), chance.getrandbits(16))
        for number, (protocol, ipv6, vlan) in enumerate(
            (protocol, ipv6, vlan)
            for protocol in (TCP, UDP)
            for ipv6 in (False, True)
            for vlan in (None, 7)
        )
    ]
    packets = []
    while len(packets) < count:
        flow = chance.choice(flows)
        packets += [flow.packet(chance) for _ in range(chance.randrange(1, 4))]
        if chance.random() < 0.2:
            frame = bytes.fromhex("02000000000202000000000188b5")
            packets.append(bytes(10) + frame + chance.randbytes(chance.randrange(1, 1400)))
    return packets


def _sum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total
