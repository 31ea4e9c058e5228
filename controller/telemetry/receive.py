"""Datagrams from a UDP socket, thousands with one system call, and a count of those that got lost.

The kernel drops what arrives while the socket's buffer is full. It says how many with every
datagram that it does deliver, so nothing is lost in silence.

Python's socket module receives one datagram a call, which alone takes four microseconds each; the
kernel's recvmmsg takes a table of buffers. The table is a numpy array with the layout of the
kernel's `struct mmsghdr` on 64-bit Linux, so reading it back is reading columns.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import socket
import time

import numpy as np

from controller.telemetry.bulk import Batch

# A report holds a packet's headers and its INT stack; 2 KB take every report of a standard MTU.
DATAGRAM_BYTES_MAX = 2048
BATCH_DATAGRAMS = 4096
# The kernel's queue in front of the collector: half a second of 100,000 reports a second.
SOCKET_BUFFER_BYTES = 64 * 1024 * 1024
# Linux: deliver the count of datagrams dropped on this socket beside each datagram.
SO_RXQ_OVFL = 40

_VECTOR = np.dtype([("base", np.uint64), ("length", np.uint64)])
_MESSAGE = np.dtype(
    {
        "names": ["vectors", "vector_count", "control", "control_length", "flags", "length"],
        "formats": [np.uint64, np.uint64, np.uint64, np.uint64, np.int32, np.uint32],
        "offsets": [16, 24, 32, 40, 48, 56],
        "itemsize": 64,
    }
)
# A control message: length (8 bytes), level and type (4 each), the count, padding.
_CONTROL = np.dtype([("header", np.uint8, 16), ("dropped", np.uint32), ("padding", np.uint32)])

_libc = ctypes.CDLL(None, use_errno=True)


class Receiver:
    """A bound UDP socket that hands over whole batches."""

    def __init__(self, address: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            _enlarge(self.socket)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
            self.socket.bind((address, port))
        except OSError:
            self.socket.close()
            raise
        self._space = np.zeros((BATCH_DATAGRAMS, DATAGRAM_BYTES_MAX), dtype=np.uint8)
        self._controls = np.zeros(BATCH_DATAGRAMS, dtype=_CONTROL)
        self._vectors = np.zeros(BATCH_DATAGRAMS, dtype=_VECTOR)
        self._messages = np.zeros(BATCH_DATAGRAMS, dtype=_MESSAGE)
        self._point_at_buffers()
        self._overflow = 0
        # Datagrams the kernel dropped because the collector was late, and ones cut at the maximum.
        self.dropped = 0
        self.oversized = 0

    def receive(self, wait_s: float) -> Batch | None:
        """All datagrams that are there, up to a batch; None if none came within the wait.

        The batch is good until the next call.
        """
        if not select.select([self.socket], [], [], wait_s)[0]:
            return None
        # The kernel writes over the lengths of the messages it delivers.
        self._messages["control_length"] = _CONTROL.itemsize
        count = _libc.recvmmsg(
            self.socket.fileno(),
            ctypes.c_void_p(self._messages.ctypes.data),
            BATCH_DATAGRAMS,
            socket.MSG_DONTWAIT,
            None,
        )
        if count < 0:
            number = ctypes.get_errno()
            if number in (errno.EAGAIN, errno.EINTR):
                return None
            raise OSError(number, os.strerror(number))
        messages = self._messages[:count]
        self._count_overflow(messages, int(self._controls["dropped"][count - 1]))
        self.oversized += int((messages["flags"] & socket.MSG_TRUNC != 0).sum())
        received_ns = np.full(count, time.time_ns(), dtype=np.uint64)
        return Batch(self._space[:count], messages["length"].astype(np.int64), received_ns)

    def close(self) -> None:
        """Gives the port back."""
        self.socket.close()

    def _point_at_buffers(self) -> None:
        slots = np.arange(BATCH_DATAGRAMS, dtype=np.uint64)
        self._vectors["base"] = self._space.ctypes.data + slots * DATAGRAM_BYTES_MAX
        self._vectors["length"] = DATAGRAM_BYTES_MAX
        self._messages["vectors"] = self._vectors.ctypes.data + slots * _VECTOR.itemsize
        self._messages["vector_count"] = 1
        self._messages["control"] = self._controls.ctypes.data + slots * _CONTROL.itemsize

    def _count_overflow(self, messages: np.ndarray, total: int) -> None:
        # There is a count beside a datagram only after the first drop.
        if messages["control_length"][-1]:
            self.dropped += (total - self._overflow) & 0xFFFFFFFF
            self._overflow = total


def _enlarge(receiver: socket.socket) -> None:
    """Asks for a large buffer; root gets it, others what the system allows."""
    force = getattr(socket, "SO_RCVBUFFORCE", 33)
    try:
        receiver.setsockopt(socket.SOL_SOCKET, force, SOCKET_BUFFER_BYTES)
    except PermissionError:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
