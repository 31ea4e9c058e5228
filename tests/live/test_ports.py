"""The switch between two hosts with a program that only forwards: nothing may differ from a cable,
and everything is accounted for."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import struct
import subprocess
import threading
from pathlib import Path

import pytest

from tests.bench.network import Namespace, network
from tests.bench.subjects import ROOT, SWITCH
from tests.live import super_packets
from topo import wait
from topo.process import Process

GRPC_PORT = 9559


# A virtio-net header that leaves nothing to do, and the Ethernet header of an experiment.
PLAIN = bytes(10) + bytes.fromhex("02000000000202000000000188b5")
# Behind it comes nothing more. Random packets are shorter or differ.
LAST = PLAIN + b"\xff" * 1486


class Wire:
    """A switch that forwards between its ports 1 and 2, and hosts with a device each behind it.

    Each further pair of ports is a wire of its own.
    """

    def __init__(self, net, program, *flags, pairs=1):
        numbers = range(1, 2 * pairs + 1)
        self.hosts = {number: net.namespace(f"h{number}") for number in numbers}
        self.h1, self.h2 = self.hosts[1], self.hosts[2]
        self.at = net.namespace("s1")
        argv = [str(SWITCH), str(program), "--grpc", f"127.0.0.1:{GRPC_PORT}", *flags]
        for number, host in self.hosts.items():
            net.cable(host, "eth0", self.at, f"s1-eth{number}")
            argv += ["-i", f"{number}@s1-eth{number}"]
        self.process: Process = self.at.start(argv, "s1.log")
        self.net = net
        wait.until(
            lambda: self.process.has_ended() or self.at.listens_on(GRPC_PORT), "the switch", 20
        )
        assert not self.process.has_ended(), self.process.last_words()

    def said(self, words):
        return words in self.process.log.read_text()

    def end(self):
        """Ends the switch and returns its last words: for each port, what it counted."""
        self.process.end()
        log = self.process.log.read_text()
        assert "accounted_for=true" in log, log
        numbers = {}
        for line in log.splitlines():
            if found := re.search(r" port port=(\d+) ", line):
                pairs = re.findall(r"(\w+)(?:=|: )(\d+)", line.partition("netdev=")[0])
                outside = re.findall(r"(\w+): (\d+)", line.partition("netdev=")[2])
                numbers[int(found[1])] = {
                    **{name: int(value) for name, value in pairs},
                    **{f"netdev_{name}": int(value) for name, value in outside},
                }
        return numbers


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiled = tmp_path_factory.mktemp("wire") / "wire.json"
    source = ROOT / "tests" / "live" / "wire.p4"
    compiler = ROOT / "build" / "bin" / "vitrine-p4c"
    subprocess.run([compiler, "-I", ROOT / "p4src" / "include", "-o", compiled, source], check=True)
    return compiled


@pytest.fixture
def wire(tmp_path, program):
    with network(tmp_path, mtu=1500, offloads=True) as net:
        yield Wire(net, program)


def received_over(source: Namespace, destination: Namespace, packets, count):
    """Sends packets from one host and returns the first frames that reach the other."""
    listener = super_packets.receiver(destination.name, "eth0")
    sender = super_packets.sender(source.name, "eth0")
    with listener, sender:
        sending = threading.Thread(target=lambda: [sender.send(packet) for packet in packets])
        sending.start()
        found = super_packets.frames(listener, count)
        sending.join()
    return found


def direct_frames(packets, tmp_path):
    """The frames that arrive over one cable, where the kernel itself splits super-packets."""
    with network(tmp_path, mtu=1500, offloads=False) as net:
        h1, h2 = net.namespace("c1"), net.namespace("c2")
        net.cable(h1, "eth0", h2, "eth0")
        listener = super_packets.receiver(h2.name, "eth0")
        with listener, super_packets.sender(h1.name, "eth0") as sender:
            for packet in [*packets, LAST]:
                sender.send(packet)
            found = super_packets.frames_until(listener, LAST[10:])
    return found


@pytest.mark.parametrize(
    "seed",
    [1, pytest.param(2, marks=pytest.mark.nightly), pytest.param(3, marks=pytest.mark.nightly)],
)
def test_super_packets_arrive_byte_by_byte_as_over_a_cable(wire, tmp_path, seed):
    packets = super_packets.traffic(seed, 150)
    expected = direct_frames(packets, tmp_path)
    assert len(expected) > len(packets)
    # The kernel splits what the switch merged before it delivers it, and merges nothing itself.
    wire.at.offloads("s1-eth2", on=False)
    wire.h2.offloads("eth0", on=False)
    found = received_over(wire.h1, wire.h2, packets, len(expected))
    assert len(found) == len(expected)
    for number, (got, wanted) in enumerate(zip(found, expected, strict=True)):
        assert got.hex() == wanted.hex(), f"frame {number} of {len(expected)}"

    ports = wire.end()
    assert ports[1]["received"] == ports[1]["netdev_received"] == len(expected)
    assert ports[2]["transmitted"] == ports[2]["netdev_sent"] == len(expected)
    assert ports[1]["dropped"] == ports[2]["dropped"] == 0


def test_a_transfer_arrives_unharmed_and_every_packet_is_accounted_for(wire):
    data = random.Random(7).randbytes(8 << 20)
    for host, address in ((wire.h1, "10.9.0.1"), (wire.h2, "10.9.0.2")):
        host.run(["ip", "address", "add", f"{address}/24", "dev", "eth0"])
    with super_packets.inside(wire.h2.name):
        server = super_packets.socket.create_server(("10.9.0.2", 5000))
    digests = []

    def serve():
        connection, _ = server.accept()
        with connection:
            digest = hashlib.sha256()
            while block := connection.recv(1 << 16):
                digest.update(block)
            digests.append(digest.hexdigest())
            connection.sendall(b"done")

    serving = threading.Thread(target=serve)
    serving.start()
    with server:
        with super_packets.inside(wire.h1.name):
            client = super_packets.socket.create_connection(("10.9.0.2", 5000), timeout=300)
        with client:
            client.sendall(data)
            client.shutdown(super_packets.socket.SHUT_WR)
            assert client.recv(4) == b"done"
        serving.join(timeout=300)
    assert digests == [hashlib.sha256(data).hexdigest()]

    ports = wire.end()
    # 8 MB in segments of 1448 bytes are 5794 frames; what was sent again comes on top.
    assert ports[1]["received"] >= 5794
    for here, there in ((1, 2), (2, 1)):
        assert ports[here]["received"] == ports[there]["transmitted"] + ports[here]["dropped"]
        assert ports[here]["netdev_received"] == ports[here]["received"]
        reasons = ("down", "full", "too_long", "other")
        refused = sum(ports[here][f"netdev_refused_{why}"] for why in reasons)
        assert ports[here]["netdev_sent"] + refused == ports[here]["transmitted"]


def test_a_host_that_asks_for_pieces_of_one_byte_costs_other_ports_no_packet(tmp_path, program):
    polite = [PLAIN + struct.pack("!H44x", number) for number in range(3000)]
    crumbs, pause = super_packets.crumbs(60_000), threading.Event()
    with network(tmp_path, mtu=1500, offloads=True) as net:
        wire = Wire(net, program, pairs=2)
        rude = super_packets.sender(wire.hosts[1].name, "eth0")
        sender = super_packets.sender(wire.hosts[3].name, "eth0")
        listener = super_packets.receiver(wire.hosts[4].name, "eth0")
        with rude, sender, listener:
            # A thousand a second, beside 18 of the other host's, which are a million frames.
            for number, packet in enumerate(polite):
                if number % 55 == 0:
                    rude.send(crumbs)
                sender.send(packet)
                pause.wait(0.001)
            found = super_packets.frames(listener, len(polite))
        ports = wire.end()
    # The rude host's requests are served as far as there is time; it waits for itself alone.
    assert ports[1]["received"] >= 10 * 60_000
    assert len(found) == len(polite)
    assert found == [packet[10:] for packet in polite]
    assert ports[3]["received"] == ports[4]["netdev_sent"] == len(polite)


def test_a_port_comes_back_with_its_device_and_keeps_its_counts(wire):
    plain = [PLAIN + bytes(46)]
    assert len(received_over(wire.h1, wire.h2, plain * 3, 3)) == 3

    wire.at.run(["ip", "link", "delete", "s1-eth2"])
    wait.until(lambda: wire.said("the network device is gone"), "the end of the device", 10)
    wire.net.cable(wire.h2, "eth0", wire.at, "s1-eth2")
    wait.until(lambda: wire.said("port is up"), "the return of the device", 10)
    assert len(received_over(wire.h1, wire.h2, plain * 4, 4)) == 4

    ports = wire.end()
    assert ports[1]["received"] == 7
    assert ports[2]["netdev_sent"] == 7


def test_a_frame_for_a_port_that_is_down_is_counted_as_such(wire):
    wire.at.run(["ip", "link", "set", "s1-eth2", "down"])
    wait.until(lambda: wire.said("port is down"), "the news", 10)
    listener = super_packets.receiver(wire.h1.name, "eth0")
    frame = PLAIN + bytes(46)
    with listener, super_packets.sender(wire.h1.name, "eth0") as sender:
        sender.send(frame)
    wire.at.run(["ip", "link", "set", "s1-eth2", "up"])
    wait.until(lambda: wire.said("port is up"), "the news", 10)
    ports = wire.end()
    assert (ports[1]["received"], ports[1]["dropped"]) == (1, 1)


@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="this kernel has no tap devices")
def test_a_tap_device_is_a_port_like_any_other(tmp_path, program):
    with network(tmp_path, mtu=1500, offloads=True) as net:
        wire = Wire(net, program)
        wire.at.run(["ip", "link", "delete", "s1-eth1"])
        with super_packets.tap(wire.at.name, "s1-eth1") as tap:
            wire.at.run(["ip", "link", "set", "s1-eth1", "up"])
            wait.until(lambda: wire.said("port is up"), "the tap device", 10)
            frame = PLAIN[10:] + bytes(100)
            listener = super_packets.receiver(wire.h2.name, "eth0")
            with listener, super_packets.sender(wire.h2.name, "eth0") as sender:
                tap.write(frame)
                assert super_packets.frames(listener, 1) == [frame]
                sender.send(bytes(10) + frame)
                assert tap.read(2000) == frame
            wire.end()


def test_frames_beyond_the_mtu_are_named_and_counted(wire):
    wire.at.run(["ip", "link", "set", "s1-eth2", "mtu", "600"])
    short = PLAIN + bytes(500)
    long = short + bytes(500)
    assert len(received_over(wire.h1, wire.h2, [long, short, long, short], 2)) == 2
    assert wire.said("longer than the device's MTU allows")
    ports = wire.end()
    assert (ports[2]["netdev_sent"], ports[2]["netdev_refused_too_long"]) == (2, 2)


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_a_capture_tells_of_queue_verdict_and_reason(tmp_path, program):
    capture = tmp_path / "s1.pcapng"
    with network(tmp_path, mtu=1500, offloads=True) as net:
        wire = Wire(net, program, "--capture", str(capture))
        received_over(wire.h1, wire.h2, [PLAIN + bytes(46)], 1)
        wire.at.run(["ip", "link", "set", "s1-eth2", "down"])
        wait.until(lambda: wire.said("port is down"), "the news", 10)
        with super_packets.sender(wire.h1.name, "eth0") as sender:
            sender.send(PLAIN + bytes(60))
        # The news of the device come behind the frame.
        wire.at.run(["ip", "link", "set", "s1-eth2", "up"])
        wait.until(lambda: wire.said("port is up"), "the news", 10)
        wire.end()
    fields = ("interface_name", "len", "interface_queue", "verdict.ebpf_xdp", "comment")
    argv = ["tshark", "-r", str(capture), "-T", "fields"]
    argv += [word for name in fields for word in ("-e", f"frame.{name}")]
    shown = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    assert shown.splitlines() == [
        "s1-eth1\t60\t\t2\tcame in by port 1",
        "s1-eth2\t60\t0\t3\tleft by port 2 from queue 0; in by port 1",
        "s1-eth1\t74\t\t2\tcame in by port 1",
        "s1-eth2\t74\t0\t1\tdropped: port_down; for port 2, queue 0; in by port 1",
    ]
