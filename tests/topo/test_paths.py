"""Routes from topologies: who is reached through whom."""

from ipaddress import IPv4Network, IPv6Network, ip_network

import pytest

from tests.topo.examples import DIAMOND, loaded
from topo.paths import routes


@pytest.fixture
def topology(tmp_path):
    return loaded(DIAMOND, tmp_path)


def ports_by_prefix(topology, switch):
    found = routes(topology, topology.switch(switch))
    return {route.prefix: [hop.port for hop in route.hops] for route in found}


def test_two_shortest_ways_are_both_taken(topology):
    assert ports_by_prefix(topology, "s1")[IPv4Network("10.0.2.0/24")] == [2, 3]
    assert ports_by_prefix(topology, "s4")[IPv4Network("10.0.1.0/24")] == [1, 2]


def test_a_hop_has_the_ethernet_addresses_of_both_ends_of_its_cable(topology):
    (route,) = (r for r in routes(topology, topology.switch("s2")) if "10.0.2" in str(r.prefix))
    (hop,) = route.hops
    assert hop.src_mac == topology.switch("s2").port(2).mac
    assert hop.dst_mac == topology.switch("s4").port(1).mac


def test_the_router_next_to_a_host_knows_the_host_and_the_others_its_network(topology):
    near, far = ports_by_prefix(topology, "s1"), ports_by_prefix(topology, "s4")
    assert near[IPv4Network("10.0.1.1/32")] == [1]
    assert IPv4Network("10.0.1.0/24") not in near
    assert IPv6Network("fd00:1::1/128") in near
    assert IPv6Network("fd00:1::/64") in far


def test_hosts_of_one_network_behind_two_routers_are_routed_one_by_one(tmp_path):
    text = DIAMOND.replace("10.0.2.1/24", "10.0.1.2/24").replace("10.0.2.254", "10.0.1.253")
    found = ports_by_prefix(loaded(text, tmp_path), "s2")
    assert found[ip_network("10.0.1.1/32")] == [1]
    assert found[ip_network("10.0.1.2/32")] == [2]
    assert ip_network("10.0.1.0/24") not in found


def test_the_own_addresses_of_a_router_are_no_routes(topology):
    assert ip_network("10.0.1.254/32") not in ports_by_prefix(topology, "s1")
