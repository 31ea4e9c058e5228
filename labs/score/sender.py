"""All senders and the receiver of a live run, in one process.

    python -m labs.score.sender PLAN START      # both files; START appears when the run may begin

A socket stays in the network namespace in which it was made, so one process sends for all hosts.
It sends in the order of the plan, at the monotonic clock's instants: separate processes would
compete for processors, and the packets of two hosts would overtake one another by milliseconds.
While it sends it is a real-time process. It prints how late it was, as JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import json
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labs.score.plan import Sending
from labs.worlds.live.datagrams import BURST_BYTES_MAX, UDP_SEGMENT
from topo import wait

READY = "ready"
_CLONE_NEWNET = 0x40000000
# Above the switch's, so that it does not wait for what it sends to be received.
_PRIORITY = 3
_START_DEADLINE_S = 60.0
# A longer gap is slept through but for its end: others need processors, too.
_NAP_NS, _AWAKE_NS = 400_000, 200_000
_CHUNK = bytes(1 << 16)
_SEND_BUFFER_BYTES = 4 << 20


@dataclass(frozen=True)
class Plan:
    """The sendings of one run, and where their hosts are."""

    # A process in each host.
    pids: Mapping[str, int]
    receiver: str
    address: str
    sendings: list[Sending]

    def write(self, file: Path) -> None:
        """As JSON."""
        file.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, file: Path) -> Plan:
        """From JSON."""
        told: dict[str, Any] = json.loads(file.read_text())
        return cls(**{**told, "sendings": [Sending(**each) for each in told["sendings"]]})


def command(plan: Path, start: Path) -> list[str]:
    """Starts the process, which says READY."""
    return [sys.executable, "-m", "labs.score.sender", str(plan), str(start)]


def lateness_ns(output: str) -> list[int]:
    """How late each sending of datagrams was."""
    late_ns: list[int] = json.loads(output.splitlines()[-1])
    return late_ns


@contextlib.contextmanager
def _inside(pid: int) -> Iterator[None]:
    """Sockets of this thread are made in the network of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/self/ns/net").open() as home, Path(f"/proc/{pid}/ns/net").open() as there:
        for namespace in (there, home):
            if libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
            if namespace is there:
                yield


def _receivers(plan: Plan) -> tuple[list[socket.socket], list[socket.socket]]:
    """Sockets that take what comes: of datagrams, which nobody reads, and of connections."""
    datagrams, streams = [], []
    ports = {(each.port, each.datagrams > 0) for each in plan.sendings}
    with _inside(plan.pids[plan.receiver]):
        for port, of_datagrams in sorted(ports):
            if of_datagrams:
                datagrams.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                datagrams[-1].bind((plan.address, port))
            else:
                streams.append(socket.create_server((plan.address, port), backlog=1024))
    return datagrams, streams


def _senders(plan: Plan) -> dict[int, socket.socket]:
    """A socket for each flow."""
    found: dict[int, socket.socket] = {}
    for each in plan.sendings:
        if each.flow in found:
            continue
        kind = socket.SOCK_DGRAM if each.datagrams else socket.SOCK_STREAM
        with _inside(plan.pids[each.host]):
            found[each.flow] = sender = socket.socket(socket.AF_INET, kind)
        if each.datagrams:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
            sender.setsockopt(socket.SOL_UDP, UDP_SEGMENT, each.length_bytes)
            sender.connect((plan.address, each.port))
        else:
            sender.setblocking(False)
    return found


def _send_datagrams(plan: Plan, senders: Mapping[int, socket.socket], start_ns: int) -> list[int]:
    """Sends all datagrams at their instants; how late each was, in nanoseconds."""
    late_ns = []
    prepared = [
        (start_ns + each.at_ns, senders[each.flow].send, list(_parts(each)))
        for each in plan.sendings
        if each.datagrams
    ]
    now = time.monotonic_ns
    for at_ns, send, parts in prepared:
        if at_ns - now() > _NAP_NS:
            wait.for_instant((at_ns - _AWAKE_NS) / 1e9)
        while (now_ns := now()) < at_ns:
            pass
        for part in parts:
            send(part)
        late_ns.append(now_ns - at_ns)
    return late_ns


def _parts(each: Sending) -> Iterator[memoryview]:
    """The kernel cuts each part into datagrams."""
    left, whole = each.datagrams * each.length_bytes, memoryview(_CHUNK)
    most = BURST_BYTES_MAX // each.length_bytes * each.length_bytes
    while left > 0:
        yield whole[: min(left, most)]
        left -= most


class _Streams:
    """TCP connections, all in one thread."""

    def __init__(
        self,
        plan: Plan,
        senders: Mapping[int, socket.socket],
        listeners: list[socket.socket],
        start_ns: int,
    ) -> None:
        self._address, self._senders, self._start_ns = plan.address, senders, start_ns
        self._due = [each for each in plan.sendings if not each.datagrams]
        self._left = {each.flow: each.length_bytes for each in self._due}
        self._selector = selectors.DefaultSelector()
        for listener in listeners:
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ, self._accept)

    def run(self) -> None:
        """Until the process ends."""
        while True:
            wait_s = self._open_due()
            for key, _ in self._selector.select(wait_s):
                key.data(key.fileobj)

    def _open_due(self) -> float | None:
        """Opens the connections that are due; how long it is until the next one."""
        while self._due:
            ahead_ns = self._start_ns + self._due[0].at_ns - time.monotonic_ns()
            if ahead_ns > 0:
                return ahead_ns / 1e9
            each = self._due.pop(0)
            sender = self._senders[each.flow]
            sender.connect_ex((self._address, each.port))
            self._selector.register(
                sender,
                selectors.EVENT_WRITE,
                functools.partial(self._write, each.flow),
            )
        return None

    def _write(self, flow: int, sender: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            self._left[flow] -= sender.send(_CHUNK[: self._left[flow]])
        if not self._left[flow]:
            self._selector.unregister(sender)
            sender.shutdown(socket.SHUT_WR)

    def _accept(self, listener: socket.socket) -> None:
        taken, _ = listener.accept()
        taken.setblocking(False)
        self._selector.register(taken, selectors.EVENT_READ, self._read)

    def _read(self, taken: socket.socket) -> None:
        if not taken.recv(1 << 20):
            self._selector.unregister(taken)
            taken.close()


def main(plan_file: Path, start_file: Path) -> None:
    """Sends a plan from the instant that a file has, in nanoseconds of the monotonic clock."""
    plan = Plan.read(plan_file)
    datagrams, listeners = _receivers(plan)
    senders = _senders(plan)
    print(READY, flush=True)
    wait.until(start_file.exists, "the start of the run", _START_DEADLINE_S)
    start_ns = int(start_file.read_text())
    if listeners:
        streams = _Streams(plan, senders, listeners, start_ns)
        threading.Thread(target=streams.run, daemon=True).start()
    gc.disable()
    wait.for_instant(start_ns / 1e9 - 0.001)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    late_ns = _send_datagrams(plan, senders, start_ns)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    print(json.dumps(late_ns), flush=True)
    # The receiver's sockets stay until the run is over.
    threading.Event().wait()
    del datagrams


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
