"""Clients that harm themselves at most: they flood a router, stall in the middle, make it hold what
they never take, or die writing.

    python -m tests.chaos.rude flood|stall|hoard|usurp ADDRESS

Each goes on until it is killed.
"""

from __future__ import annotations

import itertools
import socket
import sys
import threading

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller import device
from controller.addresses import socket_of
from controller.connection import CHANNEL_OPTIONS
from controller.entries import Call, Entry, Lpm
from controller.session import Session

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_STALLED_COUNT = 100
_FLOODING_COUNT = 4
_HOARDING_COUNT, _UNTAKEN_COUNT = 30, 100
_PACKET_BYTES = 60_000
# Refused, one by one, with an error for each.
_UPDATE_COUNT = 1000
# 203.0.113.0/24 is for documentation; no host here uses it.
USURPED = 0xCB007100


def flood(address: str) -> None:
    """Reads of everything and writes of nonsense, from several connections at once."""
    threads = [
        threading.Thread(target=_flood_once, args=(address, 1 << 40 | number))
        for number in range(_FLOODING_COUNT)
    ]
    for thread in threads:
        thread.start()


def _flood_once(address: str, election_id: int) -> None:
    nonsense = p4runtime_pb2.WriteRequest()
    nonsense.election_id.high = election_id
    for number in range(_UPDATE_COUNT):
        nonsense.updates.add(type=1).entity.table_entry.table_id = number
    everything = p4runtime_pb2.ReadRequest()
    everything.entities.add().table_entry.table_id = 0
    everything.entities.add().register_entry.register_id = 0
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        while True:
            for device_id in range(2):
                nonsense.device_id = everything.device_id = device_id
                calls = [stub.Write.future(nonsense) for _ in range(10)]
                reads = [stub.Read(everything) for _ in range(10)]
                for call in calls:
                    call.code()
                for read in reads:
                    _exhaust(read)


def _exhaust(call: grpc.Call) -> None:
    try:
        for _ in call:
            pass
    except grpc.RpcError:
        # Refused, or the router is gone.
        return


def stall(address: str) -> None:
    """Connections that send nothing, or only part of a request; reads whose answers stay unread."""
    held: list[object] = []
    for number in range(_STALLED_COUNT):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(socket_of(address)))
        connection.sendall((b"", _PREFACE, _PREFACE + _SETTINGS, b"GET / HT")[number % 4])
        held.append(connection)
    everything = p4runtime_pb2.ReadRequest()
    everything.entities.add().table_entry.table_id = 0
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        held += [stub.Read(everything) for _ in range(_STALLED_COUNT)]
        threading.Event().wait()


def hoard(address: str) -> None:
    """Makes the router buffer as much as it allows: unread answers of many connections."""
    for number in range(_HOARDING_COUNT):
        thread = threading.Thread(target=_hoard_once, args=(address, number), daemon=True)
        thread.start()
    threading.Event().wait()


def _hoard_once(address: str, number: int) -> None:
    hello, packet = p4runtime_pb2.StreamMessageRequest(), p4runtime_pb2.StreamMessageRequest()
    hello.arbitration.device_id = _find_id(address)
    # Below all others: a backup, whose packets are refused in as many bytes as they have.
    hello.arbitration.election_id.low = number + 1
    packet.packet.payload = bytes(_PACKET_BYTES)
    everything = p4runtime_pb2.ReadRequest(device_id=hello.arbitration.device_id)
    everything.entities.add().table_entry.table_id = 0
    everything.entities.add().register_entry.register_id = 0
    # Options of its own give it a connection of its own.
    options = [*CHANNEL_OPTIONS, ("vitrine.number", number)]
    with grpc.insecure_channel(address, options=options) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        held: list[object] = [stub.Read(everything) for _ in range(_UNTAKEN_COUNT)]
        held.append(stub.StreamChannel(itertools.chain([hello], itertools.repeat(packet))))
        threading.Event().wait()


def _find_id(address: str) -> int:
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        return device.find_id(channel, address)


def usurp(address: str) -> None:
    """Becomes primary and writes, batch after batch, until it is killed in the middle of one."""
    with Session.connect(address) as session:
        session.use()
        left = [each for each in session.read("ipv4_routes") if is_usurpers(each)]
        while True:
            session.replace(left, [])
            left = [
                Entry(
                    "ipv4_routes",
                    {"hdr.ipv4.dst_addr": Lpm(USURPED + number, 32)},
                    Call("no_route"),
                )
                for number in range(200)
            ]
            session.insert(left)


def is_usurpers(entry: Entry) -> bool:
    """Whether an entry was written by such a client."""
    match = entry.match and entry.match.get("hdr.ipv4.dst_addr")
    return isinstance(match, Lpm) and int(match.value) >> 8 == USURPED >> 8


if __name__ == "__main__":
    {"flood": flood, "stall": stall, "hoard": hoard, "usurp": usurp}[sys.argv[1]](sys.argv[2])
