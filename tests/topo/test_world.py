"""A topology in the words of the virtual world; what it has no word for is refused."""

import pytest
from vitrine.v1 import world_pb2

from tests.topo.examples import DIAMOND, loaded
from topo import world
from topo.errors import ModelError
from topo.model import TcpBuffer, TcpSettings


@pytest.fixture
def diamond(tmp_path):
    return loaded(DIAMOND, tmp_path)


def test_hosts_routers_and_cables_are_those_of_the_file(diamond):
    message = world.message(diamond)
    assert [host.name for host in message.hosts] == ["h1", "h2"]
    assert [(router.name, router.device_id) for router in message.routers] == [
        ("s1", 0),
        ("s2", 1),
        ("s3", 2),
        ("s4", 3),
    ]
    assert [port.port for port in message.routers[0].ports] == [1, 2, 3]
    ends = [(cable.one.node, cable.other.node, cable.other.port) for cable in message.cables]
    assert ends[0] == ("h1", "s1", 1)
    assert not message.cables[0].one.HasField("port")
    assert {cable.mtu_bytes for cable in message.cables} == {1500}


def test_devices_are_numbered_from_one(diamond):
    numbered = world.numbered(diamond)
    assert [switch.device_id for switch in numbered.switches] == [1, 2, 3, 4]
    # Those that are already stay as they are.
    assert world.numbered(numbered) is numbered


def test_a_host_knows_its_addresses_and_its_gateways(diamond):
    h1, _ = world.message(diamond).hosts
    assert list(h1.addresses) == ["10.0.1.1/24", "fd00:1::1/64"]
    assert list(h1.gateways) == ["10.0.1.254", "fd00:1::fe"]
    port_mac = str(diamond.switch("s1").port(1).mac)
    assert [(each.address, each.mac) for each in h1.neighbours] == [
        ("10.0.1.254", port_mac),
        ("fd00:1::fe", port_mac),
    ]


def test_the_tcp_of_a_host_is_as_the_topology_has_it(diamond):
    tcp = TcpSettings("bbr", rmem=TcpBuffer(1, 2, 3), quickack=True, ssthresh_packets=4)
    sysctls = {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_rto_min_us": "1000"}
    changed = diamond.with_hosts("h1", tcp=tcp, sysctls=sysctls, offloads={"tso": False})
    h1, h2 = world.message(changed).hosts
    assert h1.tcp == world_pb2.TcpConfig(
        congestion_control="bbr",
        rmem=world_pb2.TcpMemory(min_bytes=1, default_bytes=2, max_bytes=3),
        segments_per_ack=1,
        initial_ssthresh=4,
        sack=False,
        rto_min_ns=1_000_000,
        tso_segments_max=1,
    )
    # Unset values are the world's own choice.
    assert h2.tcp == world_pb2.TcpConfig()


@pytest.mark.parametrize(
    ("sysctls", "said"),
    [
        ({"net.ipv4.ip_forward": "1"}, "h1: a host in virtual time has no net.ipv4.ip_forward"),
        ({"net.ipv4.tcp_sack": "yes"}, "h1: 'yes' is no value of net.ipv4.tcp_sack"),
        ({"net.ipv4.tcp_rmem": "4096"}, "h1: '4096' is no value of net.ipv4.tcp_rmem"),
    ],
)
def test_a_parameter_that_hosts_do_not_have_is_refused(diamond, sysctls, said):
    with pytest.raises(ModelError, match=said):
        world.message(diamond.with_hosts("h1", sysctls=sysctls))
