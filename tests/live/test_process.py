"""The process's work that needs root: captures of real ports, and giving up being root."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.queues import Queues
from controller.session import Session
from tests.process.switch import BINARIES, dropin, free_port, running
from topo import wait

# Ports 1 and 2 forward to each other; the program is written here in P4 so that nothing of a lab
# can change under the test.
PATCH_CABLE = """
#include <core.p4>
#include <v1model.p4>
struct headers_t {}
struct metadata_t {}
parser P(packet_in packet, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control V(inout headers_t h, inout metadata_t m) { apply {} }
control I(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { s.egress_spec = s.ingress_port ^ 3; }
}
control E(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers_t h, inout metadata_t m) { apply {} }
control D(packet_out packet, in headers_t h) { apply {} }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""
FRAMES = [bytes([2, 0, 0, 0, 0, 9]) + bytes(6) + b"\x88\xb5" + bytes([n] * 100) for n in range(3)]
ETH_P_ALL, SO_RCVBUFFORCE = 3, 33
DEADLINE_S = 60.0
# The frames that a port receives at one turn, before the check for room.
RECEIVE_BATCH = 64
CAP_DAC_OVERRIDE, CAP_NET_ADMIN, CAP_NET_RAW = 1 << 1, 1 << 12, 1 << 13


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patch-cable")
    (folder / "cable.p4").write_text(PATCH_CABLE)
    compiled = folder / "cable.json"
    subprocess.run([BINARIES / "vitrine-p4c", "-o", compiled, folder / "cable.p4"], check=True)
    return compiled


@pytest.fixture
def cables() -> Iterator[tuple[str, str]]:
    """Two veth pairs, `NAME` for the switch and `NAMEh` for the test."""
    names = (f"vtp{os.getpid() % 10000}a", f"vtp{os.getpid() % 10000}b")
    for name in names:
        _ip("link", "add", name, "type", "veth", "peer", "name", f"{name}h")
        for end in (name, f"{name}h"):
            silence = Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6")
            if silence.exists():
                silence.write_text("1")
            _ip("link", "set", end, "up")

    # The kernel starts a link a moment after its second end is up.
    def are_up() -> bool:
        states = (Path(f"/sys/class/net/{name}/operstate").read_text() for name in names)
        return all(state.strip() == "up" for state in states)

    wait.until(are_up, "the start of the cables", DEADLINE_S)
    yield names
    for name in names:
        _ip("link", "delete", name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _exchange(sender: str, receiver: str) -> list[bytes]:
    """Sends the frames into one cable and returns what comes out of the other."""
    with (
        # Protocol 0 hears nothing until it is bound to its cable.
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as out,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as back,
    ):
        out.bind((sender, 0))
        back.bind((receiver, ETH_P_ALL))
        back.settimeout(DEADLINE_S)
        for frame in FRAMES:
            out.send(frame)
        return [back.recv(2000) for _ in FRAMES]


def _records(capture: Path) -> list[bytes]:
    """The frames of a capture, as any reader of the format finds them."""
    data = capture.read_bytes()
    magic, _major, _minor, _zone, _accuracy, _snap, link = struct.unpack("=IHHIIII", data[:24])
    assert (magic, link) == (0xA1B2C3D4, 1)
    frames, at = [], 24
    while at < len(data):
        _seconds, _micros, kept, length = struct.unpack("=IIII", data[at : at + 16])
        assert kept == length
        frames.append(data[at + 16 : at + 16 + kept])
        at += 16 + kept
    return frames


def test_captures_hold_what_each_port_received_and_sent(
    tmp_path: Path, program: Path, cables: tuple[str, str]
):
    port = free_port()
    a, b = cables
    flags = ["-i", f"1@{a}", "-i", f"2@{b}", "--pcap", str(tmp_path), str(program)]
    log = tmp_path / "log"
    with dropin(*flags, "--log-console", port=port, log=log, folder=tmp_path):
        assert _exchange(f"{a}h", f"{b}h") == FRAMES
        # Each record is in its file when the frame is on its way: no need to stop the switch first.
        assert _records(tmp_path / f"{a}_in.pcap") == FRAMES
        assert _records(tmp_path / f"{b}_out.pcap") == FRAMES
        assert _records(tmp_path / f"{a}_out.pcap") == []
    # And the log has the life of each packet.
    said = log.read_text()
    for step in (
        "Processing packet received on port 1",
        "Pipeline 'ingress': start",
        "Transmitting packet of size 114 out of port 2",
    ):
        assert said.count(step) == len(FRAMES), said


def test_under_the_other_name_a_port_hears_what_programs_send_at_the_switchs_own_end(
    tmp_path: Path, program: Path, cables: tuple[str, str]
):
    a, b = cables
    flags = ("-i", f"1@{a}", "-i", f"2@{b}", str(program))
    log, port = tmp_path / "log", free_port()
    with dropin(*flags, "--log-console", port=port, log=log, folder=tmp_path):
        assert _exchange(a, f"{b}h") == FRAMES
        # Then from the far end, so that there has been time for frames that come back.
        assert _exchange(f"{a}h", f"{b}h") == FRAMES
    # The ports did not hear what the switch itself sent there.
    assert log.read_text().count("Processing packet received on port") == 2 * len(FRAMES)


def _status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def _threads(pid: int) -> list[dict[str, str]]:
    return [_status(thread) for thread in Path(f"/proc/{pid}/task").iterdir()]


def _rights(pid: int, kind: str) -> list[int]:
    """The rights of all threads, sorted."""
    return sorted(int(status[kind], 16) for status in _threads(pid))


def test_root_becomes_somebody_whose_threads_keep_what_they_need_and_goes_on_forwarding(
    tmp_path: Path, program: Path, cables: tuple[str, str]
):
    port = free_port()
    a, b = cables
    flags = ["-i", f"1@{a}", "-i", f"2@{b}", "--user", "nobody", str(program)]
    address = ("--grpc", f"127.0.0.1:{port}")
    log = tmp_path / "log"
    with running(*flags, *address, port=port, log=log) as process:
        # The line comes when all is done; the address answers a moment earlier.
        wait.until(lambda: "listening" in log.read_text(), "the line", DEADLINE_S)
        # One opens devices and files, one has the packets, one writes the log into files that may
        # be another user's; those that speak gRPC keep nothing.
        devices, files = CAP_NET_ADMIN | CAP_NET_RAW, CAP_DAC_OVERRIDE
        wanted = [0] * (len(_threads(process.pid)) - 3) + [files, devices, devices | files]
        # A thread gives up what it does not need as the first thing that it does.
        for kind in ("CapPrm", "CapEff"):
            wait.until(
                lambda kind=kind: _rights(process.pid, kind) == wanted,
                f"{kind} given up",
                DEADLINE_S,
            )
        for status in _threads(process.pid):
            assert "0" not in status["Uid"].split() + status["Gid"].split()
            assert status["Groups"].strip() == ""
        assert _status(Path(f"/proc/{process.pid}"))["NoNewPrivs"].strip() == "1"
        assert _exchange(f"{a}h", f"{b}h") == FRAMES
        process.terminate()
        assert process.wait(DEADLINE_S) == 0


def test_a_line_that_is_slower_than_its_port_holds_packets_in_the_routers_queue(
    tmp_path: Path, program: Path, cables: tuple[str, str]
):
    port = free_port()
    a, b = cables
    if not _shape(b, "add", rate="8kbit"):
        pytest.skip("this kernel has no HTB to make a line slow with")
    flags = ["-i", f"1@{a}", "-i", f"2@{b}", "--log-console", "-L", "debug", str(program)]
    log = tmp_path / "log"
    count, received = 300, 0
    with (
        dropin(*flags, port=port, log=log, folder=tmp_path),
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as out,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as back,
    ):
        out.bind((f"{a}h", 0))
        back.bind((f"{b}h", ETH_P_ALL))
        back.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 20)
        back.setblocking(False)

        def said(words: str) -> int:
            return log.read_text().count(words)

        def take_in() -> int:
            nonlocal received
            with contextlib.suppress(BlockingIOError):
                while back.recv(2000):
                    received += 1
            return received

        for _ in range(count):
            out.send(FRAMES[0] + bytes(1400))
        arrival = "Processing packet received on port 1"
        wait.until(lambda: said(arrival) == count, "the arrival of every packet", DEADLINE_S)
        # A frame takes a second and a half: few are through, whatever else the machine does. The
        # port shows those that are behind the queue by now.
        shown_bytes = _sending_bytes(f"127.0.0.1:{port}", 2)
        early = take_in()
        assert _shape(b, "change", rate="100mbit")
        wait.until(
            lambda: take_in() + said("Dropping packet: queue_limit") == count,
            "the end of every packet",
            DEADLINE_S,
        )
    # 64 waited in the queue. Behind it were some thirty in the kernel, and before these the frames
    # of the turn in which the switch found it full. All others were dropped, by name.
    behind = received - early - 64
    assert 0 <= behind <= 30 + RECEIVE_BATCH, (received, early)
    assert shown_bytes >= behind * (len(FRAMES[0]) + 1400), (shown_bytes, behind)


def _sending_bytes(address: str, port: int) -> int:
    """A port's packets that its device has not taken yet."""
    with Session.observe(address) as session:
        (described,) = Queues(session).describe([port]).ports
    return int(described.netdev.sending_bytes)


def _shape(device: str, verb: str, *, rate: str) -> bool:
    """Gives a line this rate; false where the kernel has no HTB."""
    root = ["tc", "qdisc", verb, "dev", device, "root", "handle", "1:", "htb", "default", "1"]
    if verb == "add" and subprocess.run(root, capture_output=True).returncode != 0:
        return False
    leaf = ["tc", "class", verb, "dev", device, "parent", "1:", "classid", "1:1", "htb"]
    subprocess.run([*leaf, "rate", rate], check=True)
    return True
