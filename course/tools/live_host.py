"""Applications for the hosts of a live check: the kernel's UDP, TCP and ping.

It reads an order a line from its input, and answers each with a line; at the end of its input it
ends, with all that it has started. It needs nothing but Python.
"""

from __future__ import annotations

import json
import math
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

# asm-generic/socket.h.
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
RECEIVE_BUFFER_BYTES = 16 * 1024 * 1024
# linux/tcp.h: of struct tcp_info, segments sent again and bytes acknowledged.
TCP_INFO_BYTES, RETRANSMITS_AT, ACKED_AT = 232, 100, 120
_TURN_S = 0.05
_CHUNK = bytes(1 << 16)
# Each datagram begins with its number and with when it was sent, in nanoseconds since 1970.
_STAMP = struct.Struct(">IQ")
_TIME = struct.Struct("@qq")
_NS_PER_S = 1_000_000_000


class Sink:
    """Takes datagrams, and notes by source what is missing and how long each was under way."""

    def __init__(self, port: int) -> None:
        self._flows: dict[str, Flow] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.bind(("", port))
        _in_thread(self._take)

    def _take(self) -> None:
        while True:
            data, more, _, (address, port) = self._socket.recvmsg(2048, 128)
            # When the kernel had it, however late we are woken.
            came_ns = next(
                seconds * _NS_PER_S + rest
                for level, kind, told in more
                if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS)
                for seconds, rest in [_TIME.unpack(told)]
            )
            self._flows.setdefault(f"{address}:{port}", Flow()).take(data, came_ns)

    def report(self) -> dict[str, Any]:
        """All sources."""
        return {"flows": {name: flow.report() for name, flow in dict(self._flows).items()}}


class Flow:
    """The datagrams of one source."""

    def __init__(self) -> None:
        self._received = self._bytes = self._out_of_order = 0
        self._next = 0
        self._least_ns, self._most_ns, self._sum_ns = math.inf, 0, 0

    def take(self, data: bytes, came_ns: int) -> None:
        """One more."""
        number, sent_ns = _STAMP.unpack_from(data)
        self._received += 1
        self._bytes += len(data)
        if number < self._next:
            self._out_of_order += 1
        self._next = max(self._next, number + 1)
        delay_ns = max(0, came_ns - sent_ns)
        self._sum_ns += delay_ns
        self._least_ns, self._most_ns = min(self._least_ns, delay_ns), max(self._most_ns, delay_ns)

    def report(self) -> dict[str, int]:
        """As in vitrine.v1's DatagramFlow."""
        if not self._received:
            return {}
        return {
            "received": self._received,
            "received_bytes": self._bytes,
            "lost": self._next - self._received,
            "out_of_order": self._out_of_order,
            "delay_min_ps": int(self._least_ns) * 1000,
            "delay_mean_ps": self._sum_ns // self._received * 1000,
            "delay_max_ps": self._most_ns * 1000,
        }


class Datagrams:
    """Sends UDP in bursts of `burst` datagrams, at equal intervals."""

    def __init__(
        self, to: str, port: int, rate_bps: float, span_s: float, payload: int, after_s: float,
        burst: int,
    ) -> None:  # fmt: skip
        self._sent = 0
        # By how much the worst was late: a machine that is busy sends another load.
        self._late_s = 0.0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((to, port))
        self._burst, self._payload = burst, payload
        self._interval_s = burst * payload * 8 / rate_bps
        self._turns = max(1, math.ceil(span_s / self._interval_s - 1e-9))
        self._from_s = time.monotonic() + after_s
        _in_thread(self._send)

    def _send(self) -> None:
        filling = bytes(self._payload - _STAMP.size)
        for turn in range(self._turns):
            due_s = self._from_s + turn * self._interval_s
            _pause(due_s - time.monotonic())
            self._late_s = max(self._late_s, time.monotonic() - due_s)
            for _ in range(self._burst):
                stamp = _STAMP.pack(self._sent, time.time_ns())
                try:
                    self._socket.send(stamp + filling)
                except ConnectionRefusedError:
                    # This reports an earlier datagram: its port had no listener.
                    self._socket.send(stamp + filling)
                self._sent += 1

    def report(self) -> dict[str, Any]:
        """As in vitrine.v1's DatagramSourceReport; and how late it was."""
        return {"sent": self._sent, "late_s": self._late_s}


class Listener:
    """Takes whatever comes over TCP."""

    def __init__(self, port: int) -> None:
        self._received = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("", port))
        self._socket.listen(256)
        _in_thread(self._accept)

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            _in_thread(partial(self._take, connection))

    def _take(self, connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(1 << 18):
                    self._received += len(data)
            except OSError:
                return

    def report(self) -> dict[str, Any]:
        """As in vitrine.v1's ListenerReport."""
        return {"received_bytes": self._received}


class Bulk:
    """Sends as much as TCP can."""

    def __init__(
        self, to: str, port: int, span_s: float, length: int, congestion: str, connections: int,
        after_s: float,
    ) -> None:  # fmt: skip
        self._to, self._congestion, self._length = (to, port), congestion, length
        self._from_s = time.monotonic() + after_s
        self._until_s = self._from_s + span_s if span_s else math.inf
        self._open: set[socket.socket] = set()
        self._changing = threading.Lock()
        # Of connections that are over.
        self._acked = self._retransmits = self._failed = 0
        for _ in range(connections):
            _in_thread(self._send)

    def _send(self) -> None:
        _pause(self._from_s - time.monotonic())
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
            if self._congestion:
                wanted = self._congestion.encode()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, wanted)
            try:
                connection.connect(self._to)
                with self._changing:
                    self._open.add(connection)
                connection.settimeout(_TURN_S)
                self._fill(connection)
            except OSError:
                with self._changing:
                    self._failed += 1
            self._close(connection)

    def _fill(self, connection: socket.socket) -> None:
        left = self._length or math.inf
        while left and time.monotonic() < self._until_s:
            try:
                left -= connection.send(_CHUNK[: int(min(left, len(_CHUNK)))])
            except TimeoutError:
                continue
        while self._length and _info(connection)[0] < self._length:
            _pause(_TURN_S)

    def _close(self, connection: socket.socket) -> None:
        with self._changing:
            if connection in self._open:
                self._open.remove(connection)
                acked, retransmits = _info(connection)
                self._acked += acked
                self._retransmits += retransmits
        # Data still in the kernel must not be sent after the end.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def report(self) -> dict[str, Any]:
        """As in vitrine.v1's BulkReport."""
        with self._changing:
            told = [_info(each) for each in self._open]
            return {
                "acked_bytes": self._acked + sum(acked for acked, _ in told),
                "retransmits": self._retransmits + sum(again for _, again in told),
                "failed": self._failed,
            }


def _info(connection: socket.socket) -> tuple[int, int]:
    """Bytes acknowledged, and segments sent again."""
    told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    (acked,), (again,) = (
        struct.unpack_from("=Q", told, ACKED_AT),
        struct.unpack_from("=I", told, RETRANSMITS_AT),
    )
    return acked, again


class Ping:
    """The system's ping."""

    def __init__(self, to: str, count: int, interval_s: float) -> None:
        self._rtts_ms: list[float] = []
        self._unreachable = 0
        self._child = subprocess.Popen(
            ["ping", "-n", "-c", str(count), "-i", f"{interval_s:g}", "-W", "5", to],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        _in_thread(self._read)

    def _read(self) -> None:
        assert self._child.stdout is not None, "it was asked for"
        for line in self._child.stdout:
            answer = re.search(r"time=([\d.]+) ms", line)
            if answer:
                self._rtts_ms.append(float(answer.group(1)))
            # ping's own words where a router has answered with ICMP, and not the host itself.
            self._unreachable += "Unreachable" in line or "Time to live exceeded" in line

    def end(self) -> None:
        """Ends it."""
        self._child.kill()

    def report(self) -> dict[str, Any]:
        """As in vitrine.v1's PingReport."""
        return {"rtts_ms": list(self._rtts_ms), "unreachable": self._unreachable}


KINDS: dict[str, Callable[..., Any]] = {
    "sink": Sink,
    "datagrams": Datagrams,
    "listener": Listener,
    "bulk": Bulk,
    "ping": Ping,
}


def _pause(seconds: float) -> None:
    """Nothing happens meanwhile that anybody here waits for."""
    if seconds > 0:
        threading.Event().wait(seconds)


def _in_thread(run: Callable[[], None]) -> None:
    threading.Thread(target=run, daemon=True).start()


def main() -> None:
    """Carries out orders until the end of the input."""
    apps: dict[int, Any] = {}
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if order["do"] == "report":
                answer = apps[order["app"]].report()
            else:
                apps[order["app"]] = KINDS[order["do"]](**order["how"])
                answer = {}
        except OSError as error:
            answer = {"error": f"{order['do']}: {error.strerror}"}
        print(json.dumps(answer), flush=True)
    for app in apps.values():
        if isinstance(app, Ping):
            app.end()


if __name__ == "__main__":
    main()
