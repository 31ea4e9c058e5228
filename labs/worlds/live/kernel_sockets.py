"""The kernel's data of a host's TCP connections, read as `ss -ti` reads them, but without `ss`.

    with KernelSockets(pid) as sockets:
        sockets.connections()

`ss` sends SOCK_DIAG_BY_FAMILY through a netlink socket (sock_diag(7)) and writes out `struct
tcp_info`. A socket stays in the network namespace in which it was opened, so one is opened in the
host's and asked from here, and no program has to be started for each look.
"""

from __future__ import annotations

import ctypes
import ipaddress
import os
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from vitrine.v1 import world_pb2

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY = 4, 20
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_INET_DIAG_INFO, _INET_DIAG_CONG = 2, 4
_TCP_ESTABLISHED = 1
_CLONE_NEWNET = 0x40000000
# struct nlmsghdr: length, type, flags, sequence, who.
_HEAD = struct.Struct("=IHHII")
# struct inet_diag_req_v2: family, protocol, extensions, padding, states; any socket's id.
_REQUEST = struct.Struct("=BBBxI48x")
# struct inet_diag_msg: family, state; then ports and addresses; then what is of no interest here.
_ANSWER = struct.Struct("=BB2x2s2s16s16s32x")
_ATTRIBUTE = struct.Struct("=HH")
# struct tcp_info of linux/tcp.h, as far as it has been for many years: eight bytes (backoff is the
# fifth, app_limited the lowest bit of the eighth), numbers of 32 bits, then as below.
_INFO = struct.Struct("=8B24I4Q6I4Q2IQ")
_RECEIVE_BYTES = 1 << 16
# ssthresh and min_rtt while there is none.
_NONE_SSTHRESH, _NONE_RTT = 0x7FFFFFFF, 0xFFFFFFFF
_PS_PER_US = 1_000_000


class KernelSockets:
    """The established TCP connections in the network namespace of a process."""

    def __init__(self, pid: int) -> None:
        """Needs root, as everything around live networks does."""
        self._pid = pid
        self._socket: socket.socket

    def __enter__(self) -> KernelSockets:
        # Only this thread goes into the other namespace, and it ends there.
        failed: list[OSError] = []

        def open_there() -> None:
            try:
                self._socket = _opened_in(self._pid)
            except OSError as error:
                failed.append(error)

        thread = threading.Thread(target=open_there, name="netns")
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def connections(self) -> list[world_pb2.Connection]:
        """All of them, each as it is now."""
        return [
            connection(answer)
            for family in (socket.AF_INET, socket.AF_INET6)
            for answer in self._answers(family)
        ]

    def _answers(self, family: int) -> Iterator[bytes]:
        extensions = 1 << (_INET_DIAG_INFO - 1) | 1 << (_INET_DIAG_CONG - 1)
        request = _REQUEST.pack(family, socket.IPPROTO_TCP, extensions, 1 << _TCP_ESTABLISHED)
        flags = _NLM_F_REQUEST | _NLM_F_DUMP
        head = _HEAD.pack(_HEAD.size + len(request), _SOCK_DIAG_BY_FAMILY, flags, family, 0)
        self._socket.send(head + request)
        while True:
            data = self._socket.recv(_RECEIVE_BYTES)
            while data:
                length, kind, *_ = _HEAD.unpack_from(data)
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    (number,) = struct.unpack_from("=i", data, _HEAD.size)
                    raise OSError(-number, os.strerror(-number))
                yield data[_HEAD.size : length]
                data = data[_aligned(length) :]


def _opened_in(pid: int) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    with Path(f"/proc/{pid}/ns/net").open() as namespace:
        if libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)


def _aligned(length: int) -> int:
    return length + 3 & ~3


def connection(answer: bytes) -> world_pb2.Connection:
    """An answer of the kernel as hosts in virtual time tell it."""
    family, _, source_port, target_port, source, target = _ANSWER.unpack_from(answer)
    found = world_pb2.Connection(
        local=_end(family, source, source_port),
        peer=_end(family, target, target_port),
        state=world_pb2.Connection.ESTABLISHED,
    )
    at = _ANSWER.size
    while at + _ATTRIBUTE.size <= len(answer):
        length, kind = _ATTRIBUTE.unpack_from(answer, at)
        value = answer[at + _ATTRIBUTE.size : at + length]
        if kind == _INET_DIAG_CONG:
            found.congestion = value.rstrip(b"\0").decode(errors="replace")
        elif kind == _INET_DIAG_INFO:
            # An older kernel's is shorter: what it does not have is 0.
            _tell(found, _INFO.unpack_from(value.ljust(_INFO.size, b"\0")))
        at += _aligned(length)
    return found


def _end(family: int, address: bytes, port: bytes) -> str:
    number = int.from_bytes(port)
    if family == socket.AF_INET:
        return f"{ipaddress.IPv4Address(address[:4])}:{number}"
    found = ipaddress.IPv6Address(address)
    # A socket of both kinds has the other end's IPv4 address in an IPv6 one.
    return f"{found.ipv4_mapped}:{number}" if found.ipv4_mapped else f"[{found}]:{number}"


def _tell(found: world_pb2.Connection, info: tuple[int, ...]) -> None:
    small, words, rates = info[:8], info[8:32], info[32:36]
    counts, times, more = info[36:42], info[42:46], info[46:]
    found.backoff, found.app_limited = small[4], bool(small[7] & 1)
    rto_us, _, found.mss_bytes = words[:3]
    found.unacked, found.sacked, found.lost, found.retrans = words[4:8]
    found.pmtu_bytes, rtt_us, rttvar_us, ssthresh, found.cwnd = words[13], *words[15:19]
    found.reordering, found.retrans_total = words[20], words[23]
    found.rto_ps = rto_us * _PS_PER_US
    if rtt_us:
        found.rtt_ps, found.rttvar_ps = rtt_us * _PS_PER_US, rttvar_us * _PS_PER_US
    if ssthresh < _NONE_SSTHRESH:
        found.ssthresh = ssthresh
    pacing, _, found.bytes_acked, found.bytes_received = rates
    # Bytes a second; of a connection that is not paced the largest number there is.
    if pacing and pacing < 1 << 60:
        found.pacing_rate_bps = 8 * pacing
    found.segs_out, _, found.notsent_bytes, min_rtt_us, found.data_segs_in, _ = counts
    if 0 < min_rtt_us < _NONE_RTT:
        found.minrtt_ps = min_rtt_us * _PS_PER_US
    if times[0]:
        found.delivery_rate_bps = 8 * times[0]
    found.delivered, found.delivered_ce, found.bytes_sent = more
