"""Wireshark shows what the packets say, and says where one does not fit."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from controller.telemetry.semantics import load_semantics

from .golden import DROPPED, ETHERNET_IPV4, GROUP, IPV4_TCP_MARKED, TRACKED, TWO_HOPS

DISSECTOR = Path(__file__).parents[2] / "controller/telemetry/wireshark/int.lua"
MARKED = 0x17 << 2

pytestmark = pytest.mark.skipif(
    not shutil.which("tshark"), reason="tshark is not installed: apt install tshark"
)


def dissect(tmp_path, *packets, options=()):
    """The fields of each packet, by layer, as tshark prints them."""
    capture = tmp_path / "capture.pcap"
    wrpcap(str(capture), list(packets))
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", str(capture), "-T", "json"]
    shown = subprocess.run(
        [*command, "--no-duplicate-keys", *options], capture_output=True, check=True, timeout=60
    )
    return [packet["_source"]["layers"] for packet in json.loads(shown.stdout)]


def values(layer, name):
    """All values of a field, wherever it stands in a layer."""
    found = []
    if isinstance(layer, dict):
        for key, value in layer.items():
            if key == name:
                found.extend(value if isinstance(value, list) else [value])
            else:
                found.extend(values(value, name))
    elif isinstance(layer, list):
        for item in layer:
            found.extend(values(item, name))
    return found


@pytest.mark.parametrize(
    "below",
    [
        Ether() / IP(src="10.0.0.1", dst="10.0.0.2", tos=MARKED) / TCP(dport=80),
        Ether() / Dot1Q(vlan=7) / IP(src="10.0.0.1", dst="10.0.0.2", tos=MARKED) / UDP(dport=9000),
        Ether() / IPv6(src="::1", dst="::2", tc=MARKED) / TCP(options=[("NOP", None)] * 12),
    ],
)
def test_the_stack_is_shown_hop_by_hop(tmp_path, below):
    (layers,) = dissect(tmp_path, below / Raw(TWO_HOPS + b"the host's own bytes"))

    assert values(layers["int"], "int.node_id") == ["2", "1"]
    assert values(layers["int"], "int.queue_occupancy") == ["25", "7"]
    assert values(layers["int"], "int.remaining_hops") == ["6"]
    assert not values(layers, "int.malformed")


def test_a_report_is_shown_with_the_packet_and_the_stack_inside(tmp_path):
    tracked = bytes([0x13, 0xFF]) + TRACKED[2:]
    payload = GROUP + tracked + ETHERNET_IPV4 + IPV4_TCP_MARKED + TWO_HOPS
    layers = dissect(tmp_path, Ether() / IP() / UDP(sport=40000, dport=32766) / Raw(payload))[0]

    assert values(layers, "telemetry.sequence") == ["5"]
    assert values(layers, "telemetry.tracked") == ["1"]
    assert values(layers, "int.egress_port") == ["7"]
    # The stack inside, newest hop first.
    assert values(layers, "int.node_id") == ["2", "1"]


def test_a_drop_is_shown_with_queue_and_reason(tmp_path):
    payload = GROUP + DROPPED + IPV4_TCP_MARKED
    (layers,) = dissect(tmp_path, Ether() / IP() / UDP(sport=40000, dport=32766) / Raw(payload))

    assert values(layers, "telemetry.drop_queue") == ["2"]
    assert values(layers, "telemetry.drop_reason") == ["71"]
    # Marked, but cut before any INT header: nothing to complain of.
    assert not values(layers, "int.malformed")


def test_a_drop_is_explained_in_the_words_of_the_kit(tmp_path):
    reasons = load_semantics().drop_reasons
    below = Ether() / IP() / UDP(sport=40000, dport=32766)
    # 71 is the reason in the golden bytes, and stands nowhere else in them.
    place = (GROUP + DROPPED).index(71)
    packets = []
    for number in reasons:
        payload = bytearray(GROUP + DROPPED + IPV4_TCP_MARKED)
        payload[place] = number
        packets.append(below / Raw(bytes(payload)))
    capture = tmp_path / "drops.pcap"
    wrpcap(str(capture), packets)
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", str(capture), "-V"]
    shown = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60).stdout
    words = re.findall(r"Reason of the drop: (\w+) \((\d+)\)", shown)
    assert words == [(word, str(number)) for number, word in reasons.items()]


@pytest.mark.parametrize(
    "headers",
    ["1009" + "00" * 20, "50030000" + "00" * 12, "10040000 20000206 90000000 00000000 00"],
)
def test_headers_that_do_not_fit_are_marked_as_malformed(tmp_path, headers):
    packet = Ether() / IP(tos=MARKED) / TCP() / Raw(bytes.fromhex(headers))
    (layers,) = dissect(tmp_path, packet)
    assert values(layers, "int.malformed")


def test_any_cut_of_a_report_is_dissected_without_an_error_of_the_script(tmp_path):
    payload = GROUP + bytes([0x13, 0xFF]) + TRACKED[2:] + ETHERNET_IPV4 + IPV4_TCP_MARKED + TWO_HOPS
    below = Ether() / IP() / UDP(sport=40000, dport=32766)
    packets = [below / Raw(payload[:end]) for end in range(1, len(payload))]
    for layers in dissect(tmp_path, *packets):
        assert "Lua Error" not in json.dumps(layers)


def test_marker_and_port_are_preferences(tmp_path):
    packet = Ether() / IP(tos=0x18 << 2) / TCP() / Raw(TWO_HOPS)
    (layers,) = dissect(tmp_path, packet, options=["-o", "int.dscp:24"])
    assert values(layers["int"], "int.node_id") == ["2", "1"]
    report = Ether() / IP() / UDP(sport=40000, dport=5555) / Raw(GROUP + DROPPED + IPV4_TCP_MARKED)
    (layers,) = dissect(tmp_path, report, options=["-o", "telemetry.port:5555"])
    assert values(layers, "telemetry.drop_reason") == ["71"]
