"""A network with TOOLCHAIN=p4lang, where our own programs stand in for the P4 project's.

vitrine-p4c and vitrine-switch take the flags of p4c-bm2-ss and simple_switch_grpc, Thrift included.
So everything around that switch is tested without it: compiling, cables, set-up, and the instrument
that sees its queues from outside.
"""

import os
import threading

import pytest

from controller import toolchain
from controller.queues import Queues
from controller.toolchain import ROOT, Toolchain
from labs.settings import Settings
from labs.worlds.live import network
from tests.first_lab import Bottleneck
from topo import wait

PINGS = 20
DEADLINE_S = 60.0
BIN = ROOT / "build" / "bin"


@pytest.fixture
def up(tmp_path, monkeypatch):
    if not (BIN / "vitrine-switch").exists():
        pytest.skip("the switch is not built: run `make build`")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "p4c-bm2-ss").symlink_to(BIN / "vitrine-p4c")
    (tools / "simple_switch_grpc").symlink_to(BIN / "vitrine-switch")
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    # Programs compiled here must not be taken for p4c's afterwards.
    monkeypatch.setattr(toolchain, "ROOT", tmp_path)
    topology = Bottleneck(Settings(toolchain=Toolchain.P4LANG)).topology()
    with network.programmed(topology, logs=tmp_path, toolchain=Toolchain.P4LANG) as (
        live,
        sessions,
    ):
        yield live, sessions


def test_its_queues_are_set_through_thrift_and_the_report_says_how(up):
    live, sessions = up
    ports = {port.port: port for port in Queues(sessions["s1"]).describe().ports}
    fast, slow = ports[1].config.queues[0], ports[2].config.queues[0]
    # 1 Gb/s and 10 Mb/s in full frames of 1514 bytes.
    assert fast.shaper.packets.rate_pps == 82563
    assert (slow.limit.packets, slow.shaper.packets.rate_pps) == (50, 826)
    assert "10,000,000 b/s became 826 packets a second" in live.switch("s1").remarks[1]


def test_every_packet_through_it_is_seen_from_outside(up):
    live, sessions = up
    samples = []
    with live.switch("s1").readings(sessions["s1"]).watch(10, [2]) as readings:
        reader = threading.Thread(target=lambda: samples.extend(readings))
        reader.start()
        said = live.host("h1").run(["ping", "-c", str(PINGS), "-i", "0.02", "10.0.2.1"], DEADLINE_S)
        assert f"{PINGS} received" in said
        # 14 bytes of Ethernet, 20 of IP, 64 of ICMP in each frame.
        wait.until(
            lambda: bool(samples) and samples[-1].ports[2].departed_packets == PINGS,
            "the last request in the samples",
            DEADLINE_S,
        )
    reader.join()
    last = samples[-1].ports[2]
    assert last.departed_bytes == PINGS * 98
    assert (last.held_packets, last.dropped_packets) == (0, {})
    # At every instant: what came is inside or has left.
    assert all(
        0 <= each.ports[2].held_packets <= PINGS - each.ports[2].departed_packets
        for each in samples
    )


def test_super_packets_come_to_it_as_frames_and_reach_the_host_whole(up):
    live, _ = up
    h1, h2 = live.host("h1"), live.host("h2")
    server = h2.start(["iperf3", "-s", "-1"], live.logs / "server.log")
    wait.until(lambda: h2.listens_on(5201), "iperf3 listening", DEADLINE_S)
    # 3,000,000 bytes; what iperf3 says it has received is what was sent.
    said = h1.run(["iperf3", "-c", "10.0.2.1", "-n", "3000000", "--json"], DEADLINE_S)
    assert '"error"' not in said
    # It writes the last of this as it ends, which is after the client has ended.
    assert "receiver" in server.wait("iperf3 of h2", DEADLINE_S)
