"""Traffic whose every byte is known: TCP streams and numbered datagrams, in the hosts.

    python -m tests.live.truth.exchange serve PORT
    python -m tests.live.truth.exchange stream ADDRESS PORT BYTES
    python -m tests.live.truth.exchange burst ADDRESS PORT COUNT

The server answers each stream with the hash of what it got, and takes datagrams in silence.
"""

from __future__ import annotations

import hashlib
import random
import socket
import struct
import sys
import threading

DEADLINE_S = 300
# Lengths of datagrams: from one with a number alone to one that fills the link with INT in it.
DATAGRAM_BYTES = (4, 1100)


def serve(port: int) -> None:
    """Answers until it is ended."""
    datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    datagrams.bind(("::", port))
    with socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print("serving", flush=True)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    with connection:
        digest = hashlib.sha256()
        while part := connection.recv(1 << 16):
            digest.update(part)
        connection.sendall(digest.digest())


def stream(address: str, port: int, size: int) -> None:
    """Sends bytes and hears from the other end that they are the same ones there."""
    content = random.Random(size).randbytes(size)
    with socket.create_connection((address, port), timeout=DEADLINE_S) as connection:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(64):
            answer += part
    assert answer == hashlib.sha256(content).digest(), "other bytes arrived than were sent"


def burst(address: str, port: int, count: int) -> None:
    """Sends datagrams of all lengths as fast as the socket takes them."""
    chance = random.Random(count)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((address, port))
        for number in range(count):
            size = chance.randint(*DATAGRAM_BYTES)
            sender.send(struct.pack("!I", number).ljust(size, b"."))


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    if command == "serve":
        serve(int(words[0]))
    else:
        {"stream": stream, "burst": burst}[command](words[0], int(words[1]), int(words[2]))
