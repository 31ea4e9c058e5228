"""A port that is faster than the line behind it: no packet waits out of sight."""

import sys

import pytest

from controller.lines import Lines
from controller.queueing import PortSettings
from controller.queues import Queues
from tests.live.networks import programmed
from topo import wait

pytestmark = pytest.mark.live

NET = """\
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24}
switches:
  s1: {ports: {1: {address: 10.0.1.254/24}, 2: {}}}
  s2: {ports: {1: {}, 2: {address: 10.0.2.254/24}}}
links:
  - [h1, s1:1]
  - {ends: [s1:2, s2:1], rate: 20 Mb/s, queue: 50 packets}
  - [s2:2, h2]
"""


def test_what_a_router_sends_faster_than_the_line_is_refused_in_view(tmp_path):
    with programmed(NET, tmp_path) as (live, sessions):
        Queues(sessions["s1"]).configure({2: PortSettings(rate_bps=30_000_000)})
        lines = Lines(sessions["s2"])
        receiver = live.host("h2")
        receiver.start(["iperf3", "-s", "-1"], tmp_path / "receiver.log")
        wait.until(lambda: receiver.listens_on(5201), "iperf3 in h2", 10)
        flood = ["iperf3", "-c", "10.0.2.1", "-u", "-b", "40M", "-l", "1000", "-t", "3"]
        flood = live.host("h1").start(flood, tmp_path / "flood.log")
        most = 0

        def is_over():
            nonlocal most
            most = max(most, lines.read([1])[1].receive.backlog_bytes)
            return flood.has_ended()

        wait.until(is_over, "the end of the flood", 30)
        wait.until(lambda: lines.read([1])[1].receive.backlog_bytes == 0, "an empty line", 10)
        line = lines.read([1])[1].receive
        # 20 ms of the line wait at most; the third that is too much is counted there.
        assert 0 < most <= 50_000
        assert line.refused_packets > 100
        assert line.offered_packets == line.delivered_packets + line.refused_packets
        # s2's line was offered all that s1 has sent: nothing is in between.
        sent = Queues(sessions["s1"]).read([2]).ports[2]
        assert sum(queue.departed_packets for queue in sent.queues) == line.offered_packets


FLOODING = """\
import socket
to_router = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
to_router.bind(("h1-eth0", 0))
frame = bytes.fromhex("02000000000202000000000188b5") + bytes(46)
while True:
    to_router.send(frame)
"""


def test_what_the_kernel_holds_for_a_switch_is_told(tmp_path):
    with programmed(NET, tmp_path) as (live, sessions):
        queues = Queues(sessions["s1"])
        most = 0

        def held_bytes():
            nonlocal most
            now = queues.read([1]).ports[1].held_outside.get("waiting_bytes", 0)
            most = max(most, now)
            return now

        assert held_bytes() == 0
        flood = live.host("h1").start([sys.executable, "-c", FLOODING], tmp_path / "flood.log")
        # Somebody sends all the time, so that between two batches some frames wait.
        wait.until(held_bytes, "frames in front of the switch", 60)
        flood.end()
        wait.until(lambda: held_bytes() == 0, "a switch that has taken them all", 20)
        # A frame of 60 bytes takes some hundred bytes of the kernel's memory; 32 MB is the bound.
        assert 60 < most < 64 << 20
