"""The router application: entries from a topology, and what it answers."""

import threading
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether

from apps import router
from controller.entities import to_entity
from controller.entries import Call, Choice, Entry, Exact, Lpm
from controller.lines import BurstyLoss, Line, Sender
from controller.p4info import P4Info
from controller.session import Packet
from controller.values import Mac
from labs.settings import Settings
from tests.controller.real_switch import PROGRAM_INFO
from tests.first_lab import Bottleneck
from tests.topo.examples import DIAMOND, NARROW, loaded
from topo import cables, wait

TOPOLOGY = Bottleneck(Settings()).topology()
S1 = TOPOLOGY.switch("s1")


@pytest.fixture
def diamond(tmp_path):
    return loaded(DIAMOND, tmp_path)


@pytest.fixture
def narrow(tmp_path):
    return loaded(NARROW, tmp_path)


def by_prefix(items):
    return {
        next(iter(item.match.values())): item.call
        for item in items
        if isinstance(item, Entry) and item.table in router.ROUTES.values()
    }


def test_every_host_gets_a_route_out_of_the_port_it_hangs_on():
    routes = by_prefix(router.routes(TOPOLOGY, S1))
    assert routes[Lpm(IPv4Address("10.0.2.1"), 32)] == Call(
        "set_next_hop",
        port=2,
        src_addr=Mac.parse("00:aa:00:00:00:02"),
        dst_addr=Mac.parse("00:00:0a:00:02:01"),
    )
    assert routes[Lpm(IPv4Address("10.0.1.1"), 32)].args["port"] == 1


def test_the_routers_own_addresses_go_to_the_controller(diamond):
    routes = by_prefix(router.routes(diamond, diamond.switch("s1")))
    assert routes[Lpm(IPv4Address("10.0.1.254"), 32)] == Call("deliver")
    assert routes[Lpm(IPv6Address("fd00:1::fe"), 128)] == Call("deliver")
    # Neighbour discovery, where the router has an IPv6 address.
    assert routes[Lpm(IPv6Address("ff02::"), 16)] == Call("deliver")


def test_two_equal_ways_are_one_group_that_comes_before_its_routes(diamond):
    items = router.routes(diamond, diamond.switch("s1"))
    group = items[0]
    assert (group.table, group.match) == ("next_hop_groups", {"meta.next_hop_group": Exact(1)})
    assert isinstance(group.call, Choice)
    assert [(call.args["port"], weight) for call, weight in group.call.calls] == [(2, 1), (3, 1)]
    routes = by_prefix(items)
    assert routes[Lpm(IPv4Address("10.0.2.0"), 24)] == Call("set_next_hop_group", group_id=1)


def test_a_next_hop_behind_a_narrow_link_says_how_much_it_takes(narrow):
    routes = by_prefix(router.routes(narrow, narrow.switch("s1")))
    through = routes[Lpm(IPv4Address("10.0.2.0"), 24)]
    assert (through.action, through.args["mtu"]) == ("set_next_hop_within", 1300)
    # Packets from elsewhere fit the host's own link.
    assert routes[Lpm(IPv4Address("10.0.1.1"), 32)].action == "set_next_hop"


def test_the_routes_fit_the_program(diamond, narrow):
    if not PROGRAM_INFO.exists():
        pytest.skip("the router is not compiled: run `make build`")
    program = P4Info.load(PROGRAM_INFO)
    for topology, switch in [(each, it) for each in (diamond, narrow) for it in each.switches]:
        for item in router.routes(topology, switch):
            to_entity(item, program)


def test_the_cable_of_a_port_is_told_in_the_words_of_the_service(diamond):
    changed = diamond.with_transmit("s1", 2, delay_ns=20_000_000, jitter_ns=1_500, loss_ppm=100)
    cable = cables.cable(changed.switch("s1").port(2))
    assert cable.transmit == Line(delay_us=20_000, jitter_us=1.5, loss=0.0001)
    assert cable.receive == Line()
    # The neighbour sends at the port's own rate.
    assert cable.sender == Sender(None)


def test_a_loss_in_bursts_is_a_line_with_bad_spells(diamond):
    changed = diamond.with_transmit("s1", 2, loss_ppm=200_000, loss_burst_packets=8)
    loss = cables.cable(changed.switch("s1").port(2)).transmit.loss
    # Bad spells of 8 frames take a fifth of the time, so good ones last 32: turns of 1/32 and 1/8.
    assert loss == BurstyLoss(turns_bad=pytest.approx(1 / 32), turns_good=1 / 8)


class SessionDouble:
    """Hands out the packets it was made with, and keeps what is sent."""

    def __init__(self, *packets):
        self._packets = list(packets)
        self.sent = []

    def receive(self, deadline_s):
        return self._packets.pop(0) if self._packets else None

    def send(self, packet):
        self.sent.append(packet)


def packet_in(frame, port, reason):
    return Packet(bytes(frame), {"ingress_port": port, "reason": reason, "padding": 0})


def serve(*packets, topology=TOPOLOGY):
    session = SessionDouble(*packets)
    service = router.Service(session, topology, topology.switch("s1"))
    thread = threading.Thread(target=service.run)
    thread.start()
    wait.until(lambda: not session._packets, "the last packet", 60)
    service.stop()
    thread.join()
    return service, session.sent


ETHERNET = Ether(src="00:00:0a:00:01:01", dst="00:aa:00:00:00:01")
LOST = ETHERNET / IP(src="10.0.1.1", dst="10.9.9.9") / ICMP()


def test_an_answer_leaves_by_the_port_the_question_came_in_by():
    request = ETHERNET / ARP(op=1, psrc="10.0.1.1", pdst="10.0.1.254")
    _, (sent,) = serve(packet_in(request, 1, 1))
    assert sent.metadata == {"egress_port": 1}
    assert ip_address(Ether(sent.payload)[ARP].psrc) == ip_address("10.0.1.254")


def test_what_comes_from_no_port_of_the_router_is_not_answered():
    service, sent = serve(packet_in(LOST, 77, 3))
    assert (service.answered, sent) == (0, [])


def test_errors_are_held_back_beyond_a_hundred_a_second_and_pings_are_not():
    ping = ETHERNET / IP(src="10.0.1.1", dst="10.0.1.254") / ICMP()
    service, sent = serve(
        *(packet_in(LOST, 1, 3) for _ in range(500)), *(packet_in(ping, 1, 2) for _ in range(200))
    )
    errors = [packet for packet in sent if Ether(packet.payload)[ICMP].type == 3]
    # A hundred at once, and some more for the time that the test takes.
    assert 100 <= len(errors) < 500
    assert service.held_back == 500 - len(errors)
    assert len(sent) - len(errors) == 200


def test_a_packet_too_long_for_the_next_link_is_told_to_its_sender_or_sent_on_in_pieces(narrow):
    whole = IP(src="10.0.1.1", dst="10.0.2.1") / UDP(sport=5, dport=6) / bytes(1400)
    firm = IP(src="10.0.1.1", dst="10.0.2.1", flags="DF") / UDP(sport=5, dport=6) / bytes(1400)
    service, sent = serve(
        packet_in(ETHERNET / firm, 1, 5), packet_in(ETHERNET / whole, 1, 5), topology=narrow
    )
    error, *pieces = sent
    assert error.metadata == {"egress_port": 1}
    assert Ether(error.payload)[ICMP].nexthopmtu == 1300
    # 1408 bytes behind the header; 1280 of them fit 1300 in whole units of 8.
    assert [piece.metadata for piece in pieces] == [{"egress_port": 2}] * 2
    assert [len(Ether(piece.payload)[IP]) for piece in pieces] == [1300, 148]
    assert Ether(pieces[0].payload).dst == str(narrow.switch("s2").port(1).mac)
    assert (service.answered, service.fragmented) == (1, 1)


def test_a_packet_too_long_for_a_link_that_no_route_takes_is_forgotten(narrow):
    lost = ETHERNET / IP(src="10.0.1.1", dst="10.9.9.9") / ICMP() / bytes(1400)
    service, sent = serve(packet_in(lost, 1, 5), topology=narrow)
    assert (service.answered, sent) == (0, [])
