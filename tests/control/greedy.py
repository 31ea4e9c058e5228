"""Clients that make a switch hold as much as they can, and take nothing of it back.

Each attack goes on until it is told to stop. What the switch refuses is its own affair: whether it
bears them is for the test to say.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from collections.abc import Callable, Iterator, Mapping

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc
from vitrine.v1 import router_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.router_service import RouterStub
from tests.control.conftest import DEVICE_ID

WRITE = "/p4.v1.P4Runtime/Write"
# An update without anything in it: two bytes on the wire, a hundred times that once it is read.
EMPTY_UPDATE = b"\x22\x00"


def announce(address: str, stop: threading.Event) -> None:
    """Begins messages of 64 MiB, and sends a byte of each now and then."""
    with contextlib.ExitStack() as closing:
        connections = [closing.enter_context(beginning(address, 64 << 20)) for _ in range(40)]
        while not stop.wait(1):
            for connection in connections:
                _sends(connection, _frame(_DATA, 0, 1, b"\x00"))


# Frames of HTTP/2 (RFC 9113, section 6), and what a client may announce in the first.
_DATA, _HEADERS, _SETTINGS = 0, 1, 4
_INITIAL_WINDOW_SIZE, _MAX_HEADER_LIST_SIZE = 4, 6
_END_STREAM, _END_HEADERS = 1, 4


# A switch that cannot write may stop to read.
_PATIENCE_S = 0.5


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags, 0, 0, 0, stream]) + payload


def _headers(stream: int, path: str) -> bytes:
    """A call begins."""
    headers = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "s"}
    headers |= {"content-type": "application/grpc", "te": "trailers"}
    fields = b"".join(
        # A literal without indexing (RFC 7541, section 6.2.2).
        b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
        for name, value in headers.items()
    )
    return _frame(_HEADERS, _END_HEADERS, stream, fields)


def _prefix(length: int) -> bytes:
    return b"\x00" + length.to_bytes(4, "big")


@contextlib.contextmanager
def _greeted(address: str, settings: Mapping[int, int] = {}) -> Iterator[socket.socket]:
    """A connection that speaks HTTP/2, is never read, and has small buffers in the kernel."""
    host, port = address.split(":")
    announced = b"".join(
        key.to_bytes(2, "big") + value.to_bytes(4, "big") for key, value in settings.items()
    )
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(_PATIENCE_S)
        connection.connect((host, int(port)))
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(_SETTINGS, 0, 0, announced))
        yield connection


def _sends(connection: socket.socket, words: bytes) -> bool:
    """Whether the switch still takes them."""
    try:
        connection.sendall(words)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def beginning(address: str, length: int) -> Iterator[socket.socket]:
    """A connection on which a Write of this length has begun."""
    with _greeted(address) as connection:
        connection.sendall(_headers(1, WRITE) + _frame(_DATA, 0, 1, _prefix(length)))
        yield connection


def blame(address: str, stop: threading.Event) -> None:
    """Writes of a role's primary full of mistakes, and lists of errors that are not read."""
    request = p4runtime_pb2.WriteRequest(device_id=DEVICE_ID, role="blamer")
    request.election_id.low = 1
    # As long as a frame may be.
    body = request.SerializeToString() + EMPTY_UPDATE * 8000
    message = _prefix(len(body)) + body
    hello = p4runtime_pb2.StreamMessageRequest()
    hello.arbitration.device_id = DEVICE_ID
    hello.arbitration.role.name = "blamer"
    hello.arbitration.election_id.low = 1
    with contextlib.ExitStack() as closing:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(
            closing.enter_context(_channel_of_its_own(address, 0))
        )
        leading = stub.StreamChannel(_held_open(hello, stop))
        closing.callback(leading.cancel)
        next(leading)
        taking_all = {_MAX_HEADER_LIST_SIZE: 0xFFFFFFFF}
        blaming = [closing.enter_context(_greeted(address, taking_all)) for _ in range(40)]
        # A client's streams have odd numbers.
        for stream in itertools.count(1, 2):
            call = _headers(stream, WRITE) + _frame(_DATA, _END_STREAM, stream, message)
            blaming = [connection for connection in blaming if _sends(connection, call)]
            # Less than a second: a frame fits a window, and the window is open again.
            if stop.wait(0.1) or stream > 100:
                break
        stop.wait()


def ask_and_leave(address: str, stop: threading.Event) -> None:
    """Asks for the program again and again, and takes nothing of it."""
    path = "/p4.v1.P4Runtime/GetForwardingPipelineConfig"
    body = p4runtime_pb2.GetForwardingPipelineConfigRequest(device_id=DEVICE_ID)
    asked = _prefix(body.ByteSize()) + body.SerializeToString()
    with contextlib.ExitStack() as closing:
        for _ in range(40):
            connection = closing.enter_context(_greeted(address, {_INITIAL_WINDOW_SIZE: 0}))
            calls = [
                _headers(stream, path) + _frame(_DATA, _END_STREAM, stream, asked)
                for stream in range(1, 200, 2)
            ]
            _sends(connection, b"".join(calls))
        stop.wait()


def _held_open(
    hello: p4runtime_pb2.StreamMessageRequest, stop: threading.Event
) -> Iterator[p4runtime_pb2.StreamMessageRequest]:
    """The messages of a stream that is open until then."""
    yield hello
    stop.wait()


def swell(address: str, stop: threading.Event) -> None:
    """Writes that are a hundred times as large once they are read, small and large ones."""
    with grpc.insecure_channel(address, [*CHANNEL_OPTIONS]) as channel:
        write = channel.unary_unary(WRITE)
        bodies = itertools.cycle([EMPTY_UPDATE * (120 << 10), EMPTY_UPDATE * (20 << 20)])
        while not stop.is_set():
            calls = [write.future(next(bodies)) for _ in range(4)]
            for call in calls:
                call.code()


def read_and_leave(address: str, stop: threading.Event) -> None:
    """Reads of everything of which nothing is taken, from several connections."""
    everything = p4runtime_pb2.ReadRequest(device_id=DEVICE_ID)
    everything.entities.add().table_entry.table_id = 0
    everything.entities.add().register_entry.register_id = 0
    with contextlib.ExitStack() as closing:
        held = []
        for number in range(20):
            channel = closing.enter_context(_channel_of_its_own(address, number))
            stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
            held += [stub.Read(everything) for _ in range(20)]
        stop.wait()
        for call in held:
            call.cancel()


def _channel_of_its_own(address: str, number: int) -> grpc.Channel:
    """A channel that shares no connection with others."""
    return grpc.insecure_channel(address, [*CHANNEL_OPTIONS, ("vitrine.number", number)])


def complain(address: str, stop: threading.Event) -> None:
    """Packet-outs of a backup, each refused in a message that is not read."""
    packet = p4runtime_pb2.StreamMessageRequest()
    packet.packet.payload = bytes(60_000)

    def requests(number: int) -> Iterator[p4runtime_pb2.StreamMessageRequest]:
        hello = p4runtime_pb2.StreamMessageRequest()
        hello.arbitration.device_id = DEVICE_ID
        hello.arbitration.election_id.low = number + 1
        yield hello
        while not stop.is_set():
            yield packet
            stop.wait(0.01)

    with contextlib.ExitStack() as closing:
        for number in range(30):
            channel = closing.enter_context(_channel_of_its_own(address, number))
            stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
            closing.callback(stub.StreamChannel(requests(number)).cancel)
        stop.wait()


def watch_and_leave(address: str, stop: threading.Event) -> None:
    """Samples every millisecond, which are not read."""
    watching = router_pb2.WatchRequest(interval_ms=1, links=True, crossings=True)
    with grpc.insecure_channel(address) as channel:
        calls = [RouterStub(channel).watch(watching) for _ in range(32)]
        stop.wait()
        for call in calls:
            call.cancel()


def hoard(address: str, stop: threading.Event) -> None:
    """The primary of a role of its own fills a table with long metadata until it is refused.

    Where it is not told why, it says so.
    """
    hello = p4runtime_pb2.StreamMessageRequest()
    hello.arbitration.device_id = DEVICE_ID
    hello.arbitration.role.name = "hoarder"
    hello.arbitration.election_id.low = 1

    with grpc.insecure_channel(address, [*CHANNEL_OPTIONS]) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        # It ends with its last reference.
        stream = stub.StreamChannel(_held_open(hello, stop))
        next(stream)
        asked = p4runtime_pb2.GetForwardingPipelineConfigRequest(device_id=DEVICE_ID)
        info = stub.GetForwardingPipelineConfig(asked).config.p4info
        table = next(it for it in info.tables if it.preamble.alias == "exact_table")
        drop = next(it for it in info.actions if it.preamble.alias == "drop")
        written = 0
        while not stop.is_set():
            request = p4runtime_pb2.WriteRequest(device_id=DEVICE_ID, role="hoarder")
            request.election_id.low = 1
            for number in range(written, written + 20):
                update = request.updates.add(type=p4runtime_pb2.Update.INSERT)
                entry = update.entity.table_entry
                entry.table_id = table.preamble.id
                # Those of the well-behaved are below.
                entry.match.add(field_id=1).exact.value = (number + (1 << 40)).to_bytes(6, "big")
                entry.action.action.action_id = drop.preamble.id
                entry.metadata = bytes(100_000)
            try:
                stub.Write(request)
                written += 20
            except grpc.RpcError as error:
                said = f"{error.code()} {error.details()} {error.trailing_metadata()}"
                assert "no memory is left for" in said, said
                stop.wait(0.1)
        assert written > 0


def throng(address: str, stop: threading.Event) -> None:
    """Connections with a stream each, more than there are places; some lead roles of their own."""

    with contextlib.ExitStack() as closing:
        for number in range(260):
            hello = p4runtime_pb2.StreamMessageRequest()
            hello.arbitration.device_id = DEVICE_ID
            hello.arbitration.election_id.low = number + 1
            if number < 40:
                hello.arbitration.role.name = f"junk {number}"
            channel = closing.enter_context(_channel_of_its_own(address, number))
            stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
            closing.callback(stub.StreamChannel(_held_open(hello, stop)).cancel)
        stop.wait()


ATTACKS = [
    announce,
    ask_and_leave,
    blame,
    complain,
    read_and_leave,
    swell,
    throng,
    watch_and_leave,
]


@contextlib.contextmanager
def attacked(
    address: str, attacks: list[Callable[[str, threading.Event], None]]
) -> Iterator[list[BaseException]]:
    """All attacks at once, until the block ends; the list has the errors in them."""
    stop = threading.Event()
    wrong: list[BaseException] = []

    def run(attack: Callable[[str, threading.Event], None]) -> None:
        try:
            attack(address, stop)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test is to show it
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in attacks]
    for thread in threads:
        thread.start()
    try:
        yield wrong
    finally:
        stop.set()
        for thread in threads:
            thread.join()
