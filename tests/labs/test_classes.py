"""Rules of a lab become entries that the compiled router takes."""

import ipaddress

import pytest

from controller.entries import Ternary, to_message
from controller.p4info import P4Info
from labs import network
from labs.classes import ICMP, Rule, entries


def test_the_first_rule_that_agrees_holds():
    first, second = entries([Rule(2, src_port=80), Rule(1, protocol=ICMP)])
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


def test_the_router_program_takes_every_kind_of_rule():
    if not network.PROGRAM_INFO.exists():
        pytest.skip("the router is not compiled: run `make build`")
    net = ipaddress.IPv4Network("10.0.1.1/32")
    rule = Rule(7, src=net, dst=net, protocol=6, dscp=1, src_port=5201, dst_port=80)
    (entry,) = entries([rule])
    message = to_message(entry, P4Info.load(network.PROGRAM_INFO))
    assert len(message.match) == 6
