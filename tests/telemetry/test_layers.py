"""The scapy layers build the bytes that the decoders read, and read the bytes back."""

from __future__ import annotations

import itertools

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from controller.telemetry.layers import (
    IntMd,
    IntShim,
    TelemetryGroup,
    TelemetryReport,
    bind_int,
    bind_reports,
)
from controller.telemetry.packet import Marker, decode_packet
from controller.telemetry.report import InnerType, decode_reports
from controller.telemetry.stack import decode_stack

from .golden import DROPPED, GROUP, IPV4_TCP_MARKED, TRACKED, TWO_HOPS

MARKED = 0x17 << 2
REPORT_PORT = 32766

bind_int()
bind_reports(REPORT_PORT)


def two_hops():
    return IntShim() / IntMd(
        hop_words=2, remaining_hops=6, bitmap=0x9000, stack=[2, 0x19, 1, 0x03000007]
    )


def test_the_layers_build_the_golden_bytes():
    assert bytes(two_hops()) == TWO_HOPS
    shim = IntShim(npt=1, length=7, original=5001)
    assert bytes(shim) == bytes.fromhex("14071389")
    exceeded = IntMd(hops_exceeded=1, hop_words=2, remaining_hops=0, bitmap=0x9000)
    assert bytes(exceeded) == bytes.fromhex("24000200 90000000 00000000")
    group = TelemetryGroup(
        hardware_id=1,
        sequence=5,
        node_id=3,
        reports=[
            TelemetryReport(
                inner_type=4, length=14, tracked=1, bitmap=0x5000, metadata=[0x00030007, 0x02000019]
            )
        ],
    )
    assert bytes(group) == GROUP + TRACKED


@pytest.mark.parametrize(
    ("network", "transport"),
    list(
        itertools.product(
            [IP(src="10.0.0.1", dst="10.0.0.2", tos=MARKED), IPv6(src="::1", dst="::2", tc=MARKED)],
            [TCP(sport=5001, dport=80, options=[("NOP", None)] * 4), UDP(sport=5001, dport=80)],
        )
    ),
)
def test_a_packet_with_int_is_read_back_layer_by_layer(network, transport):
    frame = bytes(Ether() / network / transport / two_hops() / Raw(b"the host's own bytes"))

    read = Ether(frame)
    assert read[IntMd].stack == [2, 0x19, 1, 0x03000007]
    assert bytes(read[IntMd].payload) == b"the host's own bytes"
    assert decode_packet(InnerType.ETHERNET, frame, Marker()).stack == decode_stack(TWO_HOPS)
    assert bytes(read) == frame


def test_a_packet_without_the_marker_is_left_to_scapy():
    read = Ether(bytes(Ether() / IP() / UDP(dport=9) / Raw(TWO_HOPS)))
    assert IntShim not in read
    assert bytes(read[Raw]) == TWO_HOPS


def test_a_datagram_of_several_reports_is_read_back():
    packet = IPV4_TCP_MARKED
    payload = GROUP + TRACKED + packet + DROPPED + packet
    read = IP(bytes(IP() / UDP(dport=REPORT_PORT) / Raw(payload)))

    group = read[TelemetryGroup]
    assert [report.dropped for report in group.reports] == [0, 1]
    assert [bytes(report[IP])[:40] for report in group.reports] == [packet, packet]
    assert bytes(group) == payload
    assert len(decode_reports(payload)) == 2
