"""Replies that a router itself sends; scapy, another implementation, reads them."""

from ipaddress import ip_address

import pytest
from scapy.layers.inet import ICMP, IP, UDP, ICMPerror, IPerror
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
)
from scapy.layers.l2 import ARP, Ether

from apps.replies import Own, Reason, answer, checksum, is_error
from controller.values import Mac

HOST, ROUTER = "00:00:0a:00:01:01", "00:aa:00:00:00:01"
PORT = Own(Mac.parse(ROUTER), (ip_address("10.0.1.254"), ip_address("fd00:1::fe")))
EVERYWHERE = {*PORT.addresses, ip_address("10.0.2.254"), ip_address("fd00:2::fe")}


def reply(packet, reason=Reason.LOCAL):
    answered = answer(bytes(packet), reason, PORT, EVERYWHERE)
    if answered is None:
        return None
    frame = Ether(answered)
    assert (frame.src, frame.dst) == (ROUTER, HOST)
    check_checksums(frame)
    return frame


def check_checksums(frame):
    """Scapy computes both checksums anew; they must be those that were sent."""
    again = frame.copy()
    if IP in again:
        del again[IP].chksum
        del again[ICMP].chksum
    elif IPv6 in again:
        del again[IPv6].payload.cksum
    assert bytes(again) == bytes(frame)


def ethernet(packet, dst=ROUTER):
    return Ether(src=HOST, dst=dst) / packet


def test_an_arp_request_for_the_ports_address_is_answered():
    request = ARP(op="who-has", hwsrc=HOST, psrc="10.0.1.1", pdst="10.0.1.254")
    arp = reply(ethernet(request, "ff:ff:ff:ff:ff:ff"), Reason.NEIGHBOUR)[ARP]
    assert (arp.op, arp.hwsrc, arp.psrc) == (2, ROUTER, "10.0.1.254")
    assert (arp.hwdst, arp.pdst) == (HOST, "10.0.1.1")


@pytest.mark.parametrize("target", ["10.0.1.2", "10.0.2.254"])
def test_an_arp_request_for_another_address_is_not(target):
    request = ARP(op="who-has", hwsrc=HOST, psrc="10.0.1.1", pdst=target)
    assert reply(ethernet(request), Reason.NEIGHBOUR) is None


def test_a_solicitation_is_answered_with_the_ports_ethernet_address():
    request = IPv6(src="fd00:1::1", dst="ff02::1:ff00:fe", hlim=255) / ICMPv6ND_NS(tgt="fd00:1::fe")
    frame = reply(ethernet(request))
    assert (frame[IPv6].src, frame[IPv6].dst, frame[IPv6].hlim) == ("fd00:1::fe", "fd00:1::1", 255)
    advertisement = frame[ICMPv6ND_NA]
    assert (advertisement.R, advertisement.S, advertisement.O) == (1, 1, 1)
    assert frame[ICMPv6NDOptDstLLAddr].lladdr == ROUTER


def test_a_probe_for_a_free_address_is_not_answered():
    probe = IPv6(src="::", dst="ff02::1:ff00:fe", hlim=255) / ICMPv6ND_NS(tgt="fd00:1::fe")
    assert reply(ethernet(probe)) is None


@pytest.mark.parametrize("target", ["10.0.1.254", "10.0.2.254"])
def test_a_ping_to_any_of_the_routers_addresses_comes_back_from_there(target):
    request = IP(src="10.0.1.1", dst=target) / ICMP(id=7, seq=3) / b"payload"
    frame = reply(ethernet(request))
    assert (frame[IP].src, frame[IP].dst, frame[ICMP].type) == (target, "10.0.1.1", 0)
    assert (frame[ICMP].id, frame[ICMP].seq, bytes(frame[ICMP].payload)) == (7, 3, b"payload")


def test_a_ping_over_ipv6_comes_back():
    request = IPv6(src="fd00:1::1", dst="fd00:1::fe") / ICMPv6EchoRequest(id=7, seq=3, data=b"x")
    frame = reply(ethernet(request))
    assert (frame[IPv6].src, frame[ICMPv6EchoReply].id, frame[ICMPv6EchoReply].seq) == (
        "fd00:1::fe",
        7,
        3,
    )


def test_a_ping_whose_ttl_ends_at_the_router_it_is_for_is_answered():
    request = IP(src="10.0.1.1", dst="10.0.1.254", ttl=1) / ICMP(id=7, seq=3)
    assert reply(ethernet(request), Reason.TTL)[ICMP].type == 0


@pytest.mark.parametrize(("reason", "kind", "code"), [(Reason.TTL, 11, 0), (Reason.NO_ROUTE, 3, 0)])
def test_an_error_is_from_the_port_and_quotes_the_packet(reason, kind, code):
    packet = IP(src="10.0.1.1", dst="10.9.9.9", ttl=1) / UDP(sport=5, dport=33434) / bytes(2000)
    frame = reply(ethernet(packet), reason)
    assert (frame[IP].src, frame[ICMP].type, frame[ICMP].code) == ("10.0.1.254", kind, code)
    assert frame[IPerror].dst == "10.9.9.9"
    assert len(frame[IP]) == 576
    assert is_error(bytes(frame))


@pytest.mark.parametrize(
    ("reason", "layer"),
    [(Reason.TTL, ICMPv6TimeExceeded), (Reason.NO_ROUTE, ICMPv6DestUnreach)],
)
def test_an_error_over_ipv6_is_from_the_port_too(reason, layer):
    packet = IPv6(src="fd00:1::1", dst="fd00:9::9", hlim=1) / UDP(dport=33434) / bytes(2000)
    frame = reply(ethernet(packet), reason)
    assert frame[IPv6].src == "fd00:1::fe"
    assert layer in frame
    assert len(frame[IPv6]) == 1280
    assert is_error(bytes(frame))


def test_the_sender_of_a_packet_that_is_too_long_learns_what_fits():
    """RFC 1191 for IPv4, RFC 8201 for IPv6."""
    packet = IP(src="10.0.1.1", dst="10.0.2.1", flags="DF") / UDP(sport=5, dport=6) / bytes(1400)
    frame = Ether(answer(ethernet(packet).build(), Reason.TOO_LONG, PORT, EVERYWHERE, 1000))
    check_checksums(frame)
    assert (frame[ICMP].type, frame[ICMP].code, frame[ICMP].nexthopmtu) == (3, 4, 1000)
    assert is_error(bytes(frame))

    packet6 = IPv6(src="fd00:1::1", dst="fd00:2::1") / UDP(sport=5, dport=6) / bytes(1400)
    frame6 = Ether(answer(ethernet(packet6).build(), Reason.TOO_LONG, PORT, EVERYWHERE, 1300))
    check_checksums(frame6)
    assert frame6[ICMPv6PacketTooBig].mtu == 1300


def test_nobody_listens_at_the_router():
    packet = IP(src="10.0.1.1", dst="10.0.1.254") / UDP(dport=33434)
    assert (reply(ethernet(packet))[ICMP].type, reply(ethernet(packet))[ICMP].code) == (3, 3)


@pytest.mark.parametrize(
    "packet",
    [
        IP(src="10.0.1.1", dst="10.9.9.9") / ICMP(type=3) / bytes(28),
        IP(src="10.0.1.1", dst="10.9.9.9") / ICMP(type=0),
        IP(src="10.0.1.1", dst="10.9.9.9", frag=100) / bytes(40),
        IP(src="10.0.1.1", dst="224.0.0.5") / UDP(),
        IP(src="10.0.1.1", dst="255.255.255.255") / UDP(),
        IP(src="0.0.0.0", dst="10.9.9.9") / UDP(),
        IPv6(src="fd00:1::1", dst="ff02::2") / UDP(),
        IPv6(src="fd00:1::1", dst="fd00:9::9") / ICMPv6TimeExceeded() / bytes(48),
    ],
    ids=lambda packet: packet.summary(),
)
def test_no_error_is_sent_about_errors_fragments_and_what_goes_to_many(packet):
    assert reply(ethernet(packet), Reason.NO_ROUTE) is None


@pytest.mark.parametrize("frame", [b"", bytes(14), bytes.fromhex("00" * 12 + "0800"), bytes(20)])
def test_a_broken_frame_is_not_answered(frame):
    assert answer(frame, Reason.LOCAL, PORT, EVERYWHERE) is None


def test_the_checksum_is_that_of_rfc_1071():
    # Its example: the sum of these words is ddf2 after the carries.
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


def test_an_error_quotes_an_echo_request():
    packet = IP(src="10.0.1.1", dst="10.9.9.9") / ICMP(id=7, seq=1)
    assert reply(ethernet(packet), Reason.NO_ROUTE)[ICMPerror].id == 7
