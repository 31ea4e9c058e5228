"""The kernel's data of TCP connections, read by netlink: `ss -ti` without starting a program.

with Sampler({"a1": pid}, interval_s=0.02) as sampler: ...
sampler.samples["a1"]
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _INET_DIAG_INFO = 4, 20, 2
_REQUEST_DUMP, _DONE, _CLONE_NEWNET = 0x301, 3, 0x40000000
_ESTABLISHED = 1 << 1
_MESSAGE_BYTES, _HEADER_BYTES = 72, 16
# Places in the kernel's `struct tcp_info`, which only ever grows at its end.
_AT = {"unacked": 24, "rtt_us": 68, "ssthresh": 76, "cwnd": 80, "retransmits": 100}
_ACKED_AT = 120


@dataclass(frozen=True)
class Sample:
    """One connection at one instant of the monotonic clock."""

    time_s: float
    port: int
    cwnd: int
    ssthresh: int
    rtt_us: int
    unacked: int
    retransmits: int
    acked_bytes: int


class Sampler:
    """Looks at all connections of some network namespaces for the length of a `with` block."""

    def __init__(self, pids: Mapping[str, int], *, interval_s: float) -> None:
        self._pids = pids
        self._interval_s = interval_s
        self._stopped = threading.Event()
        self.samples: dict[str, list[Sample]] = {name: [] for name in pids}

    def __enter__(self) -> Sampler:
        self._thread = threading.Thread(target=self._sample, name="tcp_info", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _sample(self) -> None:
        # A namespace is entered by this thread alone.
        sockets = {name: _socket_in(pid) for name, pid in self._pids.items()}
        while not self._stopped.wait(self._interval_s):
            for name, netlink in sockets.items():
                self.samples[name].extend(look(netlink))
        for netlink in sockets.values():
            netlink.close()


def _socket_in(pid: int) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    with Path(f"/proc/{pid}/ns/net").open() as namespace:
        if libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)


def look(netlink: socket.socket) -> list[Sample]:
    """All established IPv4 connections now."""
    extensions = 1 << (_INET_DIAG_INFO - 1)
    body = struct.pack("=BBBBI48x", socket.AF_INET, socket.IPPROTO_TCP, extensions, 0, _ESTABLISHED)
    length = _HEADER_BYTES + len(body)
    netlink.send(struct.pack("=IHHII", length, _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 0, 0) + body)
    samples: list[Sample] = []
    while True:
        answer = netlink.recv(1 << 16)
        now_s = time.monotonic()
        at = 0
        while at < len(answer):
            length, kind = struct.unpack_from("=IH", answer, at)
            if kind == _DONE:
                return samples
            samples += _parse(answer[at + _HEADER_BYTES : at + length], now_s)
            at += (length + 3) & ~3


def _parse(message: bytes, now_s: float) -> list[Sample]:
    (port,) = struct.unpack_from("!H", message, 4)
    at = _MESSAGE_BYTES
    while at < len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == _INET_DIAG_INFO:
            info = message[at + 4 : at + length]
            words = {name: struct.unpack_from("=I", info, place)[0] for name, place in _AT.items()}
            (acked,) = struct.unpack_from("=Q", info, _ACKED_AT)
            return [Sample(time_s=now_s, port=port, acked_bytes=acked, **words)]
        at += (length + 3) & ~3
    return []
