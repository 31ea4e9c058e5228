"""Telemetry reports are read as version 2.0 of their specification lays them out."""

from __future__ import annotations

import pytest

from controller.telemetry.packet import Flow, Marker, decode_packet
from controller.telemetry.report import InnerType, decode_reports
from controller.telemetry.stack import MalformedError

from .golden import DROPPED, ETHERNET_IPV4, GROUP, IPV4_TCP_MARKED, TRACKED, TWO_HOPS

INNER = IPV4_TCP_MARKED


def test_a_tracked_packet_is_reported_with_ports_and_queue():
    (report,) = decode_reports(GROUP + TRACKED + INNER)

    assert (report.hardware_id, report.sequence, report.node_id) == (1, 5, 3)
    assert (report.dropped, report.congested, report.tracked) == (False, False, True)
    assert report.values == {
        "ingress_port": 3,
        "egress_port": 7,
        "queue_id": 2,
        "queue_occupancy": 25,
    }
    assert report.inner_type == InnerType.IPV4
    assert report.inner == INNER


def test_a_drop_is_reported_with_queue_and_reason():
    (report,) = decode_reports(GROUP + DROPPED + INNER)

    assert report.dropped
    assert report.values == {
        "ingress_port": 3,
        "egress_port": 7,
        "drop_queue_id": 2,
        "drop_reason": 71,
    }


def test_one_datagram_may_hold_several_reports():
    first, second = decode_reports(GROUP + TRACKED + INNER + DROPPED + INNER)

    assert (first.tracked, first.dropped) == (True, False)
    assert (second.tracked, second.dropped) == (False, True)
    assert first.sequence == second.sequence == 5


def test_a_length_of_ones_goes_on_to_the_end_of_the_datagram():
    long_inner = INNER + bytes(1400)
    to_the_end = bytes([TRACKED[0], 0xFF]) + TRACKED[2:]
    (report,) = decode_reports(GROUP + to_the_end + long_inner)
    assert report.inner == long_inner


def test_a_report_may_hold_a_packet_and_nothing_else():
    # Type 0, IPv4, 0x21 words of packet.
    (report,) = decode_reports(GROUP + bytes.fromhex("04210020") + bytes(4 * 0x21))
    assert (report.values, len(report.inner)) == ({}, 132)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (GROUP[:7], "takes 8 bytes, there are 7"),
        (b"\x10" + GROUP[1:], "version is 1, 2 is known"),
        (GROUP + b"\x14\x0e", "2 stray bytes"),
        (GROUP + TRACKED, "at byte 8 announces 14 words, but 16 bytes follow"),
        (GROUP + bytes.fromhex("24000020"), "at byte 8 is of type 2: not INT"),
        (GROUP + bytes.fromhex("14020220 50000000 00000000"), "announces 2 words of metadata"),
        (GROUP + bytes.fromhex("14030120 50000000 00000000 00000000"), "its bitmap 0x5000 takes 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place(data, sentence):
    with pytest.raises(MalformedError, match=sentence):
        decode_reports(data)


def test_the_flow_and_the_stack_of_the_reported_packet_are_read():
    packet = decode_packet(InnerType.ETHERNET, ETHERNET_IPV4 + INNER + TWO_HOPS, Marker())

    assert packet.flow == Flow(6, "10.0.0.1", 5001, "10.0.0.2", 80)
    assert str(packet.flow) == "tcp 10.0.0.1:5001 > 10.0.0.2:80"
    assert [hop["node_id"] for hop in packet.stack.hops] == [2, 1]


def test_a_packet_without_the_marker_carries_no_stack():
    packet = decode_packet(InnerType.IPV4, INNER + TWO_HOPS, Marker(dscp=0x18))
    assert packet.stack is None
    assert packet.flow.destination_port == 80


def test_a_udp_port_that_marks_is_put_back():
    ipv4 = bytes.fromhex("4500 0034 0001 4000 40 11 0000 0a000001 0a000002")
    udp = bytes.fromhex("04d2 7d00 0020 0000")
    stack = bytes.fromhex("14031389 20000206 90000000 00000000")
    packet = decode_packet(InnerType.IPV4, ipv4 + udp + stack, Marker(dscp=None, udp_port=32000))
    assert packet.flow == Flow(17, "10.0.0.1", 1234, "10.0.0.2", 5001)


def test_a_packet_cut_anywhere_is_read_as_far_as_it_goes():
    frame = ETHERNET_IPV4 + INNER + TWO_HOPS
    for end in range(len(frame)):
        assert decode_packet(InnerType.ETHERNET, frame[:end], Marker()).stack is None


def test_a_packet_that_claims_to_carry_int_and_does_not_is_refused():
    with pytest.raises(MalformedError, match="version is 1"):
        decode_packet(
            InnerType.IPV4, INNER + b"\x10\x03" + bytes([0, 0, 0x10] + [0] * 11), Marker()
        )
