"""Bursts of datagrams at given instants, and how many of them arrived.

    python -m labs.worlds.live.datagrams send ADDRESS PORT BYTES BURST INSTANT...
    python -m labs.worlds.live.datagrams receive PORT

A burst is one system call: the kernel cuts a buffer into datagrams (UDP segmentation offload) and
hands all of them to the interface at once, so no other program of the machine can come between
them. Instants are the monotonic clock's. Both print JSON: the sender when each burst went out, the
receiver, when it is ended, how many datagrams came from each sender.
"""

from __future__ import annotations

import json
import select
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from topo import wait

# linux/udp.h: the length of each datagram that a longer buffer is cut into.
UDP_SEGMENT = 103
# asm-generic/socket.h: a receive buffer beyond what the system allows users; hosts are root's.
SO_RCVBUFFORCE = 33
# The kernel cuts no more out of one buffer, and a buffer is no longer than a datagram may be.
BURST_DATAGRAMS_MAX = 64
BURST_BYTES_MAX = 65_000
RECEIVE_BUFFER_BYTES = 64 * 1024 * 1024
DATAGRAM_BYTES_MAX = 1 << 16
IDLE_WAIT_S = 0.2


def send_command(
    address: str, port: int, *, size_bytes: int, burst: int, instants: Sequence[float]
) -> list[str]:
    """Sends a burst at each of these instants of the monotonic clock."""
    assert burst <= BURST_DATAGRAMS_MAX
    assert burst * size_bytes <= BURST_BYTES_MAX
    numbers = [str(port), str(size_bytes), str(burst), *(f"{at:.6f}" for at in instants)]
    return [sys.executable, "-m", "labs.worlds.live.datagrams", "send", address, *numbers]


def receive_command(port: int) -> list[str]:
    """Counts what arrives at a port."""
    return [sys.executable, "-m", "labs.worlds.live.datagrams", "receive", str(port)]


def went_out(output: str) -> Sequence[float]:
    """When the bursts of a sender went out, by the monotonic clock."""
    instants_s: list[float] = json.loads(output)
    return instants_s


def received(output: str) -> Mapping[str, int]:
    """How many datagrams came from each sender's address."""
    counts: dict[str, int] = json.loads(output.splitlines()[-1])
    return counts


def _send(address: str, port: int, size_bytes: int, burst: int, instants: Sequence[float]) -> None:
    went_out = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_UDP, UDP_SEGMENT, size_bytes)
        sender.connect((address, port))
        for instant in instants:
            wait.for_instant(instant)
            went_out.append(time.monotonic())
            sender.send(bytes(size_bytes * burst))
    print(json.dumps(went_out))


def _receive(port: int) -> None:
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    counts: Counter[str] = Counter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)
        receiver.bind(("", port))
        print("receiving", flush=True)
        while True:
            last = bool(ending)
            if select.select([receiver], [], [], IDLE_WAIT_S)[0]:
                _, (address, _) = receiver.recvfrom(DATAGRAM_BYTES_MAX)
                counts[address] += 1
            elif last:
                break
    print(json.dumps(counts))


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    if command == "send":
        where, *numbers = words
        port, size_bytes, burst = map(int, numbers[:3])
        _send(where, port, size_bytes, burst, list(map(float, numbers[3:])))
    else:
        _receive(int(words[0]))
