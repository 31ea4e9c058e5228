"""The queue for a cable: bounded for every neighbour, unless a file says otherwise."""

import pytest

from controller.lines import Line, Stalls
from controller.queueing import Limit
from tests.topo.examples import loaded
from topo.cables import cable

NET = """\
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24}
switches:
  s1: {ports: {1: {rate: 100 Mb/s}, 2: {}}}
  s2: {ports: {1: {}, 2: {address: 10.0.2.254/24}}}
links:
  - [h1, s1:1]
  - {ends: [s1:2, s2:1], rate: 20 Mb/s}
  - [s2:2, h2]
"""


def sender(text, tmp_path, switch, port):
    text = text.replace("10.0.1.1/24}", "10.0.1.1/24, gateway: 10.0.1.254}")
    return cable(loaded(text, tmp_path).switch(switch).port(port)).sender


def test_a_host_has_the_queue_of_a_network_card(tmp_path):
    found = sender(NET, tmp_path, "s1", 1)
    assert (found.backlog_packets_max, found.backlog_bytes_max) == (1000, None)


def test_another_router_s_cable_holds_what_a_late_router_lets_go_at_once(tmp_path):
    # 20 ms of 20 Mb/s are 50,000 bytes; of 1 Mb/s 2500, which is less than four full frames.
    assert sender(NET, tmp_path, "s2", 1).backlog_bytes_max == 50_000
    assert sender(NET.replace("20 Mb/s", "1 Mb/s"), tmp_path, "s2", 1).backlog_bytes_max == 6_000
    # A port without a rate has no line, so nothing waits for it.
    assert sender(NET.replace(", rate: 20 Mb/s", ""), tmp_path, "s2", 1).backlog_packets_max == 1000


@pytest.mark.parametrize(
    ("words", "limit"), [("unlimited", Limit()), ("3 packets", Limit(packets=3))]
)
def test_a_file_may_say_otherwise(tmp_path, words, limit):
    text = NET.replace("s2: {ports: {1: {}", f"s2: {{ports: {{1: {{receive: {{backlog: {words}}}}}")
    found = sender(text, tmp_path, "s2", 1)
    assert (found.backlog_packets_max, found.backlog_bytes_max) == (limit.packets, limit.bytes)


def test_what_a_line_does_to_frames_is_told_in_the_words_of_the_router(tmp_path):
    text = NET.replace("rate: 20 Mb/s", "delay: 5 ms, stalls: {share: 5 %, max: 1.2 ms}")
    text = text.replace("10.0.1.1/24}", "10.0.1.1/24, gateway: 10.0.1.254}")
    line = cable(loaded(text, tmp_path).switch("s1").port(2)).transmit
    assert line == Line(delay_us=5000, stalls=Stalls(share=0.05, max_us=1200))
