"""Fragments of IPv4; scapy, another implementation, puts them together again."""

import random

import pytest
from scapy.layers.inet import IP, UDP, IPOption_NOP, IPOption_Router_Alert, defragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.plist import PacketList

from apps.fragments import cut

HOST, ROUTER = "00:00:0a:00:01:01", "00:aa:00:00:00:01"


def ethernet(packet):
    return bytes(Ether(src=HOST, dst=ROUTER) / packet)


def datagram(size_bytes, **fields):
    packet = IP(src="10.0.1.1", dst="10.0.2.1", id=7, **fields) / UDP(sport=5, dport=6)
    return packet / random.Random(size_bytes).randbytes(size_bytes)


def together(frames):
    (whole,) = defragment(PacketList([Ether(frame) for frame in frames]))
    return bytes(whole[IP])


@pytest.mark.parametrize("size_bytes", [573, 1000, 1471, 1472, 1473, 8992, 65507])
@pytest.mark.parametrize("mtu_bytes", [68, 576, 577, 1500 - 8])
def test_the_fragments_are_the_packet(size_bytes, mtu_bytes):
    packet = datagram(size_bytes)
    frames = cut(ethernet(packet), mtu_bytes)
    assert all(len(frame) <= 14 + mtu_bytes for frame in frames)
    # Each carries as many units of 8 bytes as fit behind 20 bytes of header.
    room_bytes = (mtu_bytes - 20) // 8 * 8
    body_bytes = size_bytes + 8
    if body_bytes > mtu_bytes - 20:
        assert len(frames) in (-(-body_bytes // room_bytes), -(-body_bytes // room_bytes) - 1)
    assert together(frames) == bytes(packet)
    for frame in frames:
        sent = Ether(frame)
        del sent[IP].chksum
        assert bytes(sent) == frame


def test_a_fragment_is_cut_again_where_the_next_link_takes_less():
    packet = datagram(4000)
    again = [piece for frame in cut(ethernet(packet), 1500) for piece in cut(frame, 600)]
    assert together(again) == bytes(packet)


def test_options_to_be_copied_stand_in_every_fragment_and_others_in_the_first():
    packet = datagram(200, options=[IPOption_NOP(), IPOption_Router_Alert()])
    first, *others = (Ether(frame)[IP] for frame in cut(ethernet(packet), 100))
    # A router alert has the bit "copied", doing nothing has not. 5 bytes are two words, 4 are one.
    assert (first.ihl, {each.ihl for each in others}) == (7, {6})
    assert {type(option) for each in others for option in each.options} == {IPOption_Router_Alert}
    assert sum(len(each.payload) for each in (first, *others)) == 208


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(ethernet(datagram(2000, flags="DF")), id="its sender forbids it"),
        pytest.param(ethernet(IPv6() / UDP() / bytes(2000)), id="IPv6"),
        pytest.param(ethernet(datagram(2000))[:30], id="half a header"),
        pytest.param(ethernet(datagram(2000, ihl=15))[:40], id="half of its options"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_what_cannot_be_cut_is_left_alone(frame):
    assert cut(frame, 576) == []


def test_a_link_without_room_for_eight_bytes_gets_nothing():
    assert cut(ethernet(datagram(2000)), 27) == []
