"""The INT headers inside a packet are read as the specification lays them out."""

from __future__ import annotations

import pytest

from controller.telemetry.instructions import PACKET_INSTRUCTIONS, words_of
from controller.telemetry.stack import MalformedError, decode_stack

from .golden import TWO_HOPS


@pytest.mark.parametrize(
    ("bitmap", "words"),
    [
        (0x8000, 1),
        (0x9000, 2),
        (0xC000, 2),
        (0xF000, 4),
        # Times are two words each: node, ports, ingress time, egress time.
        (0xCC00, 6),
        # Bits 0 to 8: six of one word, three of two.
        (0xFF80, 12),
        # The same and the checksum complement.
        (0xFF81, 13),
    ],
)
def test_a_bitmap_alone_says_how_many_words_a_hop_adds(bitmap, words):
    assert words_of(bitmap, PACKET_INSTRUCTIONS) == words


def test_the_newest_hop_stands_first():
    stack = decode_stack(TWO_HOPS)

    assert stack.hops == (
        {"node_id": 2, "queue_id": 0, "queue_occupancy": 25},
        {"node_id": 1, "queue_id": 3, "queue_occupancy": 7},
    )
    # 4 of the shim + 12 of the header + 2 hops of 2 words.
    assert stack.size_bytes == 4 + 12 + 16
    assert stack.header.remaining_hops == 6


def test_flags_are_told_apart():
    exceeded = decode_stack(bytes.fromhex("10030000 24000200 90000000 00000000")).header
    assert (exceeded.hops_exceeded, exceeded.mtu_exceeded, exceeded.discard) == (True, False, False)
    too_long = decode_stack(bytes.fromhex("10030000 22000208 90000000 00000000")).header
    assert (too_long.hops_exceeded, too_long.mtu_exceeded, too_long.discard) == (False, True, False)


def test_the_shim_remembers_what_the_marker_replaced():
    dscp = decode_stack(bytes.fromhex("100300b8 20000206 90000000 00000000"))
    assert dscp.shim.original_dscp == 46
    port = decode_stack(bytes.fromhex("14031389 20000206 90000000 00000000"))
    assert port.shim.original == 5001


def test_a_value_of_ones_is_unknown():
    ones = bytes.fromhex("10050000 20000206 90000000 00000000 00000002 ffffffff")
    assert decode_stack(ones).hops == ({"node_id": 2, "queue_id": None, "queue_occupancy": None},)


def test_a_reserved_bit_that_is_set_takes_one_word_and_shifts_nothing():
    # Bits 0 and 9 and 15: node id, one reserved word, complement.
    data = bytes.fromhex("10060000 20000306 80410000 00000000 00000007 ffffffff 00001234")
    assert decode_stack(data).hops == ({"node_id": 7, "checksum_complement": 0x1234},)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("10070000 2000", "take 16 bytes, there are 6"),
        ("50030000 20000206 90000000 00000000", "type is 5"),
        ("10030000 10000206 90000000 00000000", "version is 1, 2 is known"),
        ("10020000 20000206 90000000 00000000", "announces 2 words, the INT header alone takes 3"),
        ("10070000 20000206 90000000 00000000 00000001", "announces 7 words, but only 16 bytes"),
        ("10060000 20000206 90000000 00000000" + "00000001" * 3, "no multiple of 8 bytes a hop"),
        ("10050000 20000106 90000000 00000000" + "00000001" * 2, "take 2 words a hop, the header"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place(data, sentence):
    with pytest.raises(MalformedError, match=sentence):
        decode_stack(bytes.fromhex(data))


def test_no_input_does_anything_but_decode_or_be_refused():
    # Every prefix, and every single byte replaced, of a good stack.
    for end in range(len(TWO_HOPS)):
        _decodes_or_is_refused(TWO_HOPS[:end])
    for position in range(len(TWO_HOPS)):
        for value in (0x00, 0x7F, 0xFF):
            damaged = TWO_HOPS[:position] + bytes([value]) + TWO_HOPS[position + 1 :]
            _decodes_or_is_refused(damaged)


def _decodes_or_is_refused(data):
    try:
        stack = decode_stack(data)
    except MalformedError:
        return
    assert stack.size_bytes <= len(data)
