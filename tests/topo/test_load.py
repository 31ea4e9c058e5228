"""Topology files: what is read, what is filled in, and where a mistake is said to be."""

import re
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from pathlib import Path

import pytest

from controller.queueing import InputQueueing, Limit, QueueSettings
from controller.values import Mac
from topo import kernel
from topo.errors import ModelError
from topo.load import load
from topo.model import Cable, End, Impairment, Sender, TcpBuffer

LAB = Path(__file__).parents[2] / "labs" / "bottleneck" / "topology.yaml"

# Two routers in a row. The line numbers that the tests expect are those of this text.
NET = """\
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24, gateway: 10.0.2.254}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24, rate: 1 Gb/s}
      2: {rate: 10 Mb/s, queue: 50 packets}
  s2:
    ports:
      1: {}
      2: {mac: 00:00:00:00:02:02}
links:
  - [h1, s1:1]
  - {ends: [s1:2, s2:1], delay: 20 ms, loss: 0.01 %}
  - {ends: [s2:2, h2], delay: 5 ms, rate: 100 Mb/s}
"""


@pytest.fixture
def load_text(tmp_path):
    def write_and_load(text):
        path = tmp_path / "net.yaml"
        path.write_text(text)
        return load(path)

    return write_and_load


@pytest.fixture
def net(load_text):
    return load_text(NET)


def test_the_first_lab_is_read_as_it_is_written():
    topology = load(LAB)
    assert [host.name for host in topology.hosts] == ["h1", "h2"]
    switch, port = topology.attachment("h2")
    assert (switch.name, port.number) == ("s1", 2)
    assert (port.rate_bps, port.queue_packets) == (10_000_000, 50)


# ---- what is filled in ---------------------------------------------------------------------------


def test_a_hosts_gateway_is_the_address_of_its_port_and_the_other_way_round(net):
    assert net.host("h1").gateway == IPv4Address("10.0.1.254")
    assert net.switch("s2").port(2).addresses == (IPv4Interface("10.0.2.254/24"),)


def test_ethernet_addresses_come_from_the_ipv4_address_or_from_device_and_port(net):
    assert net.host("h1").mac == Mac.parse("00:00:0a:00:01:01")
    assert net.switch("s2").port(1).mac == Mac.parse("00:aa:00:01:00:01")
    assert net.switch("s2").port(2).mac == Mac.parse("00:00:00:00:02:02")


def test_device_ids_and_grpc_ports_count_up(net):
    numbers = [(switch.device_id, switch.grpc_port) for switch in net.switches]
    assert numbers == [(0, 9559), (1, 9560)]


def test_the_examples_of_the_page_on_topologies_load(load_text):
    page = (LAB.parents[2] / "docs" / "topologies.md").read_text()
    examples = re.findall(r"```yaml\n(hosts:.*?)```", page, re.S)
    assert len(examples) == 2
    for example in examples:
        load_text(example)


def test_the_schedulers_and_aqms_of_the_page_are_read(load_text):
    page = (LAB.parents[2] / "docs" / "topologies.md").read_text()
    lines = re.findall(r"^((?:aqm|scheduler|queues): +[^# \n][^#\n]*)", page, re.M)
    assert len(lines) == 11
    for line in lines:
        load_text(NET.replace("1: {}", f"1: {{classes: 3, {line.strip()}}}"))


def test_hosts_know_their_gateways_or_learn_them(load_text, net):
    assert net.knows_gateways
    assert not load_text(NET + "gateways: learned\n").knows_gateways


# ---- links ---------------------------------------------------------------------------------------


def test_a_link_between_routers_is_emulated_once_in_each_direction_by_who_sends(net):
    # 20 ms one way: s1 and s2 delay outgoing packets, neither delays incoming ones.
    way = Impairment(delay_ns=20_000_000, loss_ppm=100)
    other = Sender(is_router=True)
    assert net.switch("s1").port(2).cable == Cable(transmit=way, sender=other)
    assert net.switch("s2").port(1).cable == Cable(transmit=way, sender=other)


def test_a_link_to_a_host_is_emulated_in_both_directions_by_the_router(net):
    way = Impairment(delay_ns=5_000_000)
    port = net.switch("s2").port(2)
    assert port.cable == Cable(transmit=way, receive=way)
    assert port.rate_bps == 100_000_000


def test_what_a_port_says_itself_holds_against_its_link(load_text):
    text = NET.replace("1: {}", "1: {delay: 0 ms, rate: 5 Mb/s}")
    cable = load_text(text).switch("s2").port(1).cable
    assert cable.transmit == Impairment(delay_ns=0, loss_ppm=100)


def test_a_loss_may_come_in_bursts(load_text):
    text = NET.replace("1: {}", "1: {loss: {share: 1 %, burst: 8 packets}}")
    line = load_text(text).switch("s2").port(1).cable.transmit
    assert (line.loss_ppm, line.loss_burst_packets) == (10_000, 8)


def test_a_loss_of_every_frame_has_no_bursts(load_text):
    with pytest.raises(ModelError, match=r"bursts need good spells"):
        load_text(NET.replace("1: {}", "1: {loss: {share: 100 %, burst: 8 packets}}"))


def test_some_frames_may_come_later_than_jitter_makes_them(load_text):
    text = NET.replace("1: {}", "1: {receive: {stalls: {share: 5 %, max: 1.2 ms}}}")
    line = load_text(text).switch("s2").port(1).cable.receive
    assert (line.stall_ppm, line.stall_max_ns) == (50_000, 1_200_000)


def test_a_port_says_how_fast_its_neighbour_sends_and_what_may_wait_there(load_text):
    text = NET.replace("1: {}", "1: {receive: {rate: 1 Gb/s, backlog: 1 MB, delay: 1 ms}}")
    cable = load_text(text).switch("s2").port(1).cable
    assert (cable.sender.rate_bps, cable.sender.backlog) == (10**9, Limit(bytes=10**6))
    assert cable.receive == Impairment(delay_ns=1_000_000)


# ---- hosts and switches --------------------------------------------------------------------------


def test_hosts_have_tcp_settings_parameters_and_offloads(load_text):
    h1 = """{address: 10.0.1.1/24,
        tcp: {congestion: bbr, rmem: [10240 B, 87380 B, 16 MiB], quickack: on, ssthresh: 4 packets},
        sysctls: {net.ipv4.tcp_sack: 0}, offloads: {tso: off}}"""
    host = load_text(NET.replace("{address: 10.0.1.1/24}", h1)).host("h1")
    assert (host.tcp.congestion, host.tcp.wmem) == ("bbr", None)
    assert host.tcp.rmem == TcpBuffer(10240, 87380, 16_777_216)
    assert str(host.tcp.rmem) == "10240 87380 16777216"
    assert kernel.route_metrics(host) == ["quickack", "1", "ssthresh", "lock", "4"]
    assert host.sysctls == {"net.ipv4.tcp_sack": "0"}
    assert host.offloads == {"tso": False}


def test_ipv6_stands_beside_ipv4(load_text):
    text = NET.replace("10.0.1.1/24", "10.0.1.1/24, address6: fd00:1::1/64")
    text = text.replace("address: 10.0.1.254/24", "address: [10.0.1.254/24, fd00:1::fe/64]")
    topology = load_text(text)
    assert topology.host("h1").address6 == IPv6Interface("fd00:1::1/64")
    assert topology.host("h1").gateway6 == IPv6Address("fd00:1::fe")
    assert len(topology.switch("s1").port(1).addresses) == 2


def test_a_switch_has_a_shared_buffer_and_an_input_stage(load_text):
    text = NET.replace(
        "  s2:\n",
        "    buffer: 1 MB\n    input: {queueing: voq, rate: 1 Gb/s, speedup: 3/2}\n  s2:\n",
    )
    settings = load_text(text).switch("s1").settings
    assert settings.buffer_bytes == 1_000_000
    assert settings.input.queueing is InputQueueing.VOQ
    assert settings.input.speedup == Fraction(3, 2)


def test_a_link_has_the_mtu_of_the_file_and_else_that_of_ethernet(load_text):
    net = load_text(NET.replace("[h1, s1:1]", "{ends: [h1, s1:1], mtu: 1400 B}"))
    assert net.link(End("h1")) == net.link(End("s1", 1))
    assert net.link(End("h1")).mtu_bytes == 1400
    assert net.link(End("s1", 2)).mtu_bytes == 1500


# ---- changed copies ------------------------------------------------------------------------------


def test_a_lab_changes_a_port_and_the_file_stays_as_it_was(net):
    ten = QueueSettings(limit=Limit(packets=10))
    changed = net.with_settings("s1", 2, every_queue=ten).with_transmit("s1", 2, loss_ppm=0)
    port = changed.switch("s1").port(2)
    assert (port.queue_packets, port.rate_bps) == (10, 10_000_000)
    assert port.cable.transmit == Impairment(delay_ns=20_000_000)
    assert net.switch("s1").port(2).queue_packets == 50


def test_hosts_are_changed_all_or_by_name(net):
    assert all(host.sysctls for host in net.with_hosts(sysctls={"net.a": "1"}).hosts)
    changed = net.with_hosts("h2", sysctls={"net.a": "1"})
    assert [bool(host.sysctls) for host in changed.hosts] == [False, True]
    with pytest.raises(ModelError, match="no host 'h9'"):
        net.with_hosts("h9", sysctls={})


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("10.0.1.1/24", "10.0.1/24", r"net\.yaml:2: hosts\.h1\.address: "),
        ("gateway: 10.0.2.254", "gateway: 10.0.9.1", "net.yaml:3: .* outside its network"),
        ("gateway: 10.0.2.254", "gateway: 10.0.2.1", "net.yaml:3: .* the host's own address"),
        (", gateway: 10.0.2.254", "", "net.yaml:3: hosts.h2 lacks 'gateway', and its port has no"),
        ("h1: {address", "h1: {adress", "net.yaml:2: hosts.h1 .*'ad"),
        ("h1: {address", "averylonghost: {address", "'averylonghost' is no name for a node"),
        ("10.0.2.1/24, gateway: 10.0.2.254", "10.0.1.1/24, gateway: 10.0.1.254", "used 2 times"),
        ("00:00:00:00:02:02", "1:2", "net.yaml:12: switches.s2.ports.2.mac: '1:2' is no Ethernet"),
        ("rate: 1 Gb/s}", "rate: 1}", "net.yaml:7: switches.s1.ports.1.rate: '1' is not a rate"),
        ("50 packets", "50", "net.yaml:8: .*queue: '50' is not a limit: write a number and a unit"),
        ("50 packets", "0 packets", "net.yaml:8: switches.s1.ports.2.queue is 0"),
        (
            "      2: {rate",
            "      x: {rate",
            "net.yaml:8: switches.s1.ports.x is no port: ports are",
        ),
        ("      2: {rate", "      512: {rate", "net.yaml:8: switches.s1.ports.512 is no port"),
        ("delay: 20 ms", "delay: 20", r"net.yaml:15: links\[1\].delay: '20' is not a length"),
        (
            "loss: 0.01 %",
            "stalls: 5 %",
            r"net.yaml:15: links\[1\].stalls must be a mapping",
        ),
        ("0.01 %", "101 %", r"net.yaml:15: links\[1\].loss: .* more than 100 %"),
        ("[h1, s1:1]", "[h1]", r"net.yaml:14: links\[0\] must have two ends, and has 1"),
        ("[h1, s1:1]", "[h1, s1]", "net.yaml:14: .* say which port of the switch"),
        (
            "[h1, s1:1]",
            "[h1, s1:x]",
            r"links\[0\]\[1\]: 's1:x' is no end",
        ),
        ("[h1, s1:1]", "[h1:1, s1:1]", "net.yaml:14: .* a host has one interface"),
        ("[h1, s1:1]", "[h1, s1:3]", "net.yaml:14: link end s1 port 3: s1 has no port 3"),
        ("[h1, s1:1]", "[h1, s9:1]", "net.yaml:14: .* no host or switch 's9'"),
        ("[h1, s1:1]", "[h1, s1:2]", "link end s1 port 2 is used 2 times"),
        (
            "[h1, s1:1]",
            "{ends: [h1, s1:1], mtu: 100 B}",
            "net.yaml:14: an MTU of 100 bytes: it must be from 576 to 65535",
        ),
        ("[h1, s1:1]", "[h1, h2]", "net.yaml:14: the link joins two hosts"),
        ("links:\n", "links: {}\nx:\n", "net.yaml:15: the document has an unknown key 'x'"),
        ("  s2:\n", "  s1:\n", "net.yaml:9: switches has the key 's1' twice"),
        ("      1: {}\n", "      1: {}\n      3: {}\n", "net.yaml:12: port 3 of s2 is on no link"),
    ],
)
def test_a_mistake_is_refused_with_its_file_line_and_place(load_text, right, wrong, complaint):
    assert right in NET
    with pytest.raises(ModelError, match=complaint):
        load_text(NET.replace(right, wrong, 1))


def test_a_host_without_a_link_is_refused(load_text):
    text = NET.replace("switches:", "  h3: {address: 10.0.3.1/24, gateway: 10.0.3.2}\nswitches:")
    with pytest.raises(ModelError, match=r"net.yaml:4: host h3 is on no link"):
        load_text(text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelError, match="none.yaml cannot be read: No such file"):
        load(tmp_path / "none.yaml")


def test_a_file_that_is_no_yaml_is_named_with_the_line(load_text):
    with pytest.raises(ModelError, match=r"net.yaml:2: not YAML"):
        load_text("hosts:\n  [")


def test_brackets_without_end_are_refused_in_a_sentence(load_text):
    with pytest.raises(ModelError, match=r"net.yaml: brackets and lists are nested too deep"):
        load_text("hosts: " + "[" * 5000)


def test_an_empty_file_is_refused(load_text):
    with pytest.raises(ModelError, match="net.yaml is empty"):
        load_text("")
