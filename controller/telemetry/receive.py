"""Datagrams from a UDP socket, many at a time, and a count of those that never got in.

The kernel drops what arrives while the socket's buffer is full. It says how many with every
datagram that it does deliver, so nothing is lost in silence.
"""

from __future__ import annotations

import socket
import struct
import time

import numpy as np

from controller.telemetry.bulk import Batch

# A report holds a packet's headers and its INT stack; 2 KB take every report of a standard MTU.
DATAGRAM_BYTES_MAX = 2048
BATCH_DATAGRAMS = 4096
# The kernel's queue in front of the collector: half a second of 100,000 reports a second.
SOCKET_BUFFER_BYTES = 64 * 1024 * 1024
# Linux: the count of datagrams dropped on this socket, delivered beside each datagram.
SO_RXQ_OVFL = 40
_COUNT = struct.Struct("=I")


class Receiver:
    """A bound UDP socket that hands over whole batches."""

    def __init__(self, address: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        _enlarge(self.socket)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
        self.socket.bind((address, port))
        self._space = np.zeros((BATCH_DATAGRAMS, DATAGRAM_BYTES_MAX), dtype=np.uint8)
        # One view a slot, made once: a datagram is received straight into its row.
        self._slots = [memoryview(row) for row in self._space]
        self._overflow = 0
        # Datagrams the kernel dropped because the collector was late, and ones cut at the maximum.
        self.dropped = 0
        self.oversized = 0

    def receive(self, wait_s: float) -> Batch | None:
        """All datagrams that are there, up to a batch; None if none came within the wait."""
        lengths = np.zeros(BATCH_DATAGRAMS, dtype=np.int64)
        count = 0
        self.socket.settimeout(wait_s)
        while count < BATCH_DATAGRAMS:
            try:
                length, ancillary, flags, _ = self.socket.recvmsg_into(
                    [self._slots[count]], socket.CMSG_SPACE(_COUNT.size)
                )
            except (BlockingIOError, TimeoutError):
                break
            if not count:
                # The first one was waited for; the rest is what has gathered meanwhile.
                self.socket.setblocking(False)
            if ancillary:
                self._count_overflow(ancillary[0][2])
            self.oversized += bool(flags & socket.MSG_TRUNC)
            lengths[count] = length
            count += 1
        if not count:
            return None
        received_ns = np.full(count, time.time_ns(), dtype=np.uint64)
        return Batch(self._space[:count], lengths[:count], received_ns)

    def close(self) -> None:
        """Gives the port back."""
        self.socket.close()

    def _count_overflow(self, data: bytes) -> None:
        total = _COUNT.unpack(data)[0]
        self.dropped += (total - self._overflow) & 0xFFFFFFFF
        self._overflow = total


def _enlarge(receiver: socket.socket) -> None:
    """Asks for a large buffer; root gets it, others what the system allows."""
    force = getattr(socket, "SO_RCVBUFFORCE", 33)
    try:
        receiver.setsockopt(socket.SOL_SOCKET, force, SOCKET_BUFFER_BYTES)
    except PermissionError:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
