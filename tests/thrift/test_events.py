"""Steps of packets as the event logger of bmv2 publishes them: real frames, clients of nanomsg."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.control.cables import Cable, cables
from tests.process.switch import dropin, free_port
from tests.thrift.switch import SERVICES, Door
from topo import preflight, wait
from topo.errors import MachineError

import bmpy_utils  # isort: skip

DEVICE_ID = 5
FRAME = (bytes.fromhex("000000000002") + bytes(6) + b"\x88\x02").ljust(60, b"\0")
# The types of messages, by their numbers in the interface.
PACKET_IN, PACKET_OUT, PARSER_START, PARSER_DONE, PARSER_EXTRACT = range(5)
DEPARSER_START, DEPARSER_DONE, DEPARSER_EMIT = range(5, 8)
PIPELINE_START, PIPELINE_DONE, TABLE_HIT, TABLE_MISS, ACTION = 9, 10, 12, 13, 14
CONFIG_CHANGE = 999
HEADER = struct.Struct("<iQIQQQ")


@pytest.fixture
def told(program: Path, tmp_path: Path) -> Iterator[tuple[Door, dict[int, Cable], Path]]:
    """A switch that publishes what becomes of packets, and where."""
    try:
        preflight.check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    place, port, grpc_port = tmp_path / "events.ipc", free_port(), free_port()
    with cables(1, 2) as laid:
        flags = [word for number, it in laid.items() for word in ("-i", f"{number}@{it.device}")]
        flags += ["--thrift-port", str(port), "--device-id", str(DEVICE_ID)]
        flags += ["--nanolog", f"ipc://{place}", str(program)]
        with dropin(*flags, port=grpc_port, log=tmp_path / "log", folder=tmp_path, thrift=port):
            clients = bmpy_utils.thrift_connect("127.0.0.1", port, SERVICES)
            switch = Door(port, grpc_port, *clients)
            switch.cli("table_add by_address send 00:00:00:00:00:02 => 2")
            yield switch, laid, place


@contextmanager
def subscribed(place: Path) -> Iterator[socket.socket]:
    """A subscriber that has said what it is."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.settimeout(0.5)
        stream.connect(str(place))
        stream.sendall(b"\0SP\0\0\x21\0\0")
        assert exactly(stream, 8) == b"\0SP\0\0\x20\0\0"
        yield stream


def exactly(stream: socket.socket, count: int) -> bytes:
    """So many bytes."""
    received = b""
    while len(received) < count:
        piece = stream.recv(count - len(received))
        assert piece, "the switch hung up"
        received += piece
    return received


def message(stream: socket.socket) -> tuple[int, int, tuple[int, ...]]:
    """The type of the next message, its packet, and its values."""
    assert exactly(stream, 1) == b"\x01"
    (length,) = struct.unpack(">Q", exactly(stream, 8))
    body = exactly(stream, length)
    kind, device, _context, _signature, packet, _copy = HEADER.unpack_from(body)
    assert device == DEVICE_ID
    values = body[HEADER.size :]
    return kind, packet, struct.unpack(f"<{len(values) // 4}i", values)


def test_what_becomes_of_a_packet_is_told_in_its_order_with_ids(
    told: tuple[Door, dict[int, Cable], Path],
) -> None:
    switch, cable, place = told
    heard: list[tuple[int, int, tuple[int, ...]]] = []
    with subscribed(place) as stream:

        def is_whole() -> bool:
            # A new subscriber may miss the first packets, so more of them come.
            cable[1].send(FRAME)
            try:
                while heard[-1:] == [] or heard[-1][0] != PACKET_OUT:
                    heard.append(message(stream))
            except TimeoutError:
                return False
            return True

        wait.until(is_whole, "the steps of a packet", 60)
    # bmv2's client ends on a change of a program that it was given by name.
    (number,) = {packet for _kind, packet, _values in heard}
    assert number > 0
    kinds = [kind for kind, _packet, _values in heard]
    assert kinds[:3] == [PACKET_IN, PARSER_START, PARSER_EXTRACT]
    assert kinds.index(PARSER_DONE) < kinds.index(PIPELINE_START) < kinds.index(TABLE_HIT)
    assert kinds.count(PIPELINE_START) == kinds.count(PIPELINE_DONE) == 2
    assert kinds[-4:] == [DEPARSER_START, DEPARSER_EMIT, DEPARSER_DONE, PACKET_OUT]
    values = {kind: given for kind, _packet, given in reversed(heard)}
    assert values[PACKET_IN] == (1,) and values[PACKET_OUT] == (2,)
    table = switch.standard.bm_get_id_from_name(0, 0, "ingress.by_address")
    assert values[TABLE_HIT] == (table, 0)


@pytest.mark.skipif(shutil.which("nanocat") is None, reason="nanomsg-utils is not installed")
def test_the_library_itself_hears_it(
    told: tuple[Door, dict[int, Cable], Path], tmp_path: Path
) -> None:
    _switch, cable, place = told
    log = tmp_path / "heard"
    command = ["nanocat", "--sub", "--connect", f"ipc://{place}", "--hex"]
    with log.open("wb") as output:
        client = subprocess.Popen(command, stdout=output)
    try:
        begin = "".join(f"\\x{byte:02x}" for byte in struct.pack("<iQ", PACKET_OUT, DEVICE_ID))

        def hears() -> bool:
            cable[1].send(FRAME)
            return begin in log.read_text()

        wait.until(hears, "a packet that goes out", 60)
    finally:
        client.kill()
        client.wait()


def test_clients_find_the_address_and_hear_of_another_program(
    told: tuple[Door, dict[int, Cable], Path], program: Path
) -> None:
    switch, cable, place = told
    assert switch.standard.bm_mgmt_get_info().elogger_socket == f"ipc://{place}"
    with subscribed(place) as stream:
        kinds: list[int] = []

        def has(kind: int) -> bool:
            cable[1].send(FRAME)
            try:
                while kind not in kinds:
                    kinds.append(message(stream)[0])
            except TimeoutError:
                return False
            return True

        wait.until(lambda: has(PACKET_OUT), "the steps of a packet", 60)
        assert CONFIG_CHANGE not in kinds
        switch.standard.bm_load_new_config(program.read_text())
        switch.standard.bm_swap_configs()
        wait.until(lambda: has(CONFIG_CHANGE), "the change of the program", 60)
