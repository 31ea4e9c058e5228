"""Rules of a lab become entries that the compiled router takes."""

import ipaddress

import pytest

from controller.classes import ICMP, Rule, entries
from controller.entries import Ternary, to_message
from controller.errors import EntryError
from controller.p4info import P4Info
from tests.controller.real_switch import PROGRAM_INFO


def test_the_first_rule_that_agrees_holds():
    first, _, second, _ = entries([Rule(2, src_port=80), Rule(1, protocol=ICMP)])
    assert (first.call.args["class_num"], second.call.args["class_num"]) == (2, 1)
    assert first.priority > second.priority > 0


def test_a_rule_matches_what_it_names_and_nothing_else():
    (entry,) = entries([Rule(1, src=ipaddress.IPv4Network("10.0.1.0/24"), dscp=46)])
    assert entry.match == {
        "hdr.ipv4.src_addr": Ternary(
            ipaddress.IPv4Address("10.0.1.0"), ipaddress.IPv4Address("255.255.255.0")
        ),
        "hdr.ipv4.dscp": Ternary(46, 0b111111),
    }


def test_a_rule_without_addresses_holds_for_both_versions():
    four, six = entries([Rule(1, protocol=6, dst_port=80)])
    assert (four.table, six.table) == ("ipv4_classes", "ipv6_classes")
    assert six.match["hdr.ipv6.next_header"] == Ternary(6, 0xFF)


def test_a_rule_that_mixes_versions_is_refused():
    four, six = ipaddress.IPv4Network("10.0.0.0/8"), ipaddress.IPv6Network("fd00::/8")
    with pytest.raises(EntryError, match="mixes IPv4 and IPv6"):
        Rule(1, src=four, dst=six)


@pytest.mark.parametrize("net", ["10.0.1.1/32", "fd00:1::/64"])
@pytest.mark.parametrize("mirror", [None, 7])
def test_the_router_program_takes_every_kind_of_rule(net, mirror):
    if not PROGRAM_INFO.exists():
        pytest.skip("the router is not compiled: run `make build`")
    net = ipaddress.ip_network(net)
    rule = Rule(7, net, net, protocol=6, dscp=1, src_port=5201, dst_port=80, mirror=mirror)
    (entry,) = entries([rule])
    message = to_message(entry, P4Info.load(PROGRAM_INFO))
    assert len(message.match) == 6
