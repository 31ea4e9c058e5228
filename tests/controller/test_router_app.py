"""The router application: entries and queue settings from a topology."""

from ipaddress import IPv4Address

from controller.apps import router
from controller.entries import Lpm, to_message
from controller.values import Mac
from labs.bottleneck.lab import Bottleneck
from labs.settings import Settings
from tests.program import INFO

TOPOLOGY = Bottleneck(Settings()).topology()
S1 = TOPOLOGY.switch("s1")


def test_every_host_gets_a_route_out_of_the_port_it_hangs_on():
    to_h1, to_h2 = router.routes(TOPOLOGY, S1)
    assert to_h2.match == {"hdr.ipv4.dst_addr": Lpm(IPv4Address("10.0.2.1"), 32)}
    assert to_h2.call.args == {
        "port": 2,
        "src_addr": Mac.parse("00:aa:00:00:00:02"),
        "dst_addr": Mac.parse("00:00:0a:00:02:01"),
    }
    assert to_h1.call.args["port"] == 1


def test_the_routes_fit_the_program():
    for entry in router.routes(TOPOLOGY, S1):
        to_message(entry, INFO)
