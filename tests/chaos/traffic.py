"""The programs of the network's hosts: they send recognizable data, and count what arrives of
it.

    python -m tests.chaos.traffic receive-tcp FILE
    python -m tests.chaos.traffic send-tcp ADDRESS

One TCP connection is to outlive everything: whoever sends ends with an error when it breaks. Each
byte of the stream and each datagram is known from its place, so the receivers know what is wrong,
twice there, or from another place.
"""

from __future__ import annotations

import array
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from apps.domain import REPORT_PORT
from controller.telemetry.collection import Collection
from controller.telemetry.packet import DSCP_INT, Marker
from controller.telemetry.receive import Receiver
from controller.telemetry.semantics import KIT_SEMANTICS, load_semantics
from tests.chaos.tallies import Tallies

TCP_PORT, UDP_PORT, NOBODYS_PORT = 7001, 7002, 7003
TCP = ("bytes", "wrong", "connections")
UDP = ("received", "wrong", "out_of_order")
REPORTS = ("received", "malformed")

# A prime number of bytes: what is lost or repeated in whole segments does not fit again.
BLOCK = random.Random(24).randbytes(65_521)
_REPEATED = BLOCK * 3
_CHUNK_BYTES = 1 << 16
# A datagram begins with its number and when it was sent, on the one clock of all hosts.
_HEAD = struct.Struct("!QQ")
_DATAGRAM_BYTES_MAX = 1200
_BETWEEN_DATAGRAMS_S = 0.005
_FLOOD_BYTES = 1372
_REPORT_WAIT_S = 0.2


def is_right(chunk: bytes, position: int) -> bool:
    """Whether these are the bytes of the stream from `position` on."""
    start = position % len(BLOCK)
    return chunk == _REPEATED[start : start + len(chunk)]


def payload_of(number: int) -> bytes:
    """A datagram's payload after its head; its length differs from its neighbours'."""
    start = number * 7919 % len(BLOCK)
    return _REPEATED[start : start + number * 31 % (_DATAGRAM_BYTES_MAX - _HEAD.size)]


def receive_tcp(file: Path) -> None:
    """Counts the bytes that are right, and those that are not."""
    tallies = Tallies(file, TCP)
    with socket.create_server(("", TCP_PORT)) as server:
        while True:
            connection, _ = server.accept()
            tallies.add("connections")
            with connection:
                position = 0
                while chunk := connection.recv(_CHUNK_BYTES):
                    tallies.add("bytes" if is_right(chunk, position) else "wrong", len(chunk))
                    position += len(chunk)


def send_tcp(address: str) -> None:
    """Sends the stream for ever; as fast as the network takes it."""
    with socket.create_connection((address, TCP_PORT)) as connection:
        while True:
            connection.sendall(BLOCK)


def receive_udp(file: Path) -> None:
    """Counts datagrams; how long each was under way is in a file beside, in microseconds."""
    tallies = Tallies(file, UDP)
    last = -1
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        delays_beside(file).open("ab", buffering=0) as delays,
    ):
        receiver.bind(("", UDP_PORT))
        while True:
            datagram = receiver.recv(2048)
            now_ns = time.monotonic_ns()
            number, sent_ns = _HEAD.unpack_from(datagram)
            if datagram[_HEAD.size :] != payload_of(number):
                tallies.add("wrong")
            elif number <= last:
                tallies.add("out_of_order")
            else:
                last = number
                delays.write(array.array("I", [(now_ns - sent_ns) // 1000]).tobytes())
                tallies.add("received")


def delays_beside(file: Path) -> Path:
    """Where the delays of datagrams are that were counted in `file`."""
    return file.with_suffix(".delays")


def send_udp(address: str) -> None:
    """Sends a datagram every few milliseconds; one that the kernel refuses is as good as lost."""
    pause = threading.Event()
    number = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while not pause.wait(_BETWEEN_DATAGRAMS_S):
            try:
                sender.sendto(
                    _HEAD.pack(number, time.monotonic_ns()) + payload_of(number),
                    (address, UDP_PORT),
                )
            except OSError:
                # The cable is out.
                continue
            finally:
                number += 1


def flood_udp(address: str) -> None:
    """Sends as fast as it can to a port without a listener."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while True:
            try:
                sender.sendto(bytes(_FLOOD_BYTES), (address, NOBODYS_PORT))
            except OSError:
                # Nobody listens, or the cable is out.
                continue


def collect(file: Path) -> None:
    """Takes the reports of telemetry, and counts those that cannot be read."""
    tallies = Tallies(file, REPORTS)
    collection = Collection(Marker(dscp=DSCP_INT), load_semantics(KIT_SEMANTICS))
    receiver = Receiver("0.0.0.0", REPORT_PORT)
    while True:
        batch = receiver.receive(_REPORT_WAIT_S)
        if batch is not None:
            collection.take(batch)
            tallies.put("received", collection.datagrams)
            tallies.put("malformed", collection.malformed)


PROGRAMS: dict[str, Callable[[], None]] = {
    "receive-tcp": lambda: receive_tcp(Path(sys.argv[2])),
    "send-tcp": lambda: send_tcp(sys.argv[2]),
    "receive-udp": lambda: receive_udp(Path(sys.argv[2])),
    "send-udp": lambda: send_udp(sys.argv[2]),
    "flood-udp": lambda: flood_udp(sys.argv[2]),
    "collect": lambda: collect(Path(sys.argv[2])),
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
