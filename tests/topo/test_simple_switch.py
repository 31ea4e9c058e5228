"""simple_switch as a backend: what it starts, what it refuses before it starts anything."""

from pathlib import Path

import pytest

from controller.simple_switch import UnsupportedError
from controller.toolchain import ToolchainError
from labs.bufferbloat.lab import Bufferbloat
from labs.settings import Settings
from tests.first_lab import Bottleneck
from topo import simple_switch, vitrine_switch
from topo.simple_switch import SimpleSwitchBackend, class_count

TOPOLOGY = Bottleneck(Settings()).topology()
S1 = TOPOLOGY.switch("s1")


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A machine with both toolchains, as far as `check` looks."""
    monkeypatch.setattr("topo.simple_switch.Toolchain.check", lambda _: None)
    monkeypatch.setattr("topo.vitrine_switch.check_binary", lambda: None)
    program = tmp_path / "cable.json"
    program.write_text("{}")
    monkeypatch.setattr(simple_switch, "CABLE_PROGRAM", program)


class NetworkDouble:
    """Notes what would be started."""

    logs = Path("/nowhere")

    def __init__(self):
        self.commands = []
        self.links = []

    def start_process(self, argv, log):
        self.commands.append(argv)

    def add_link(self, name):
        self.links.append(name)


def test_a_topology_of_one_class_a_port_can_be_had(installed):
    SimpleSwitchBackend().check(TOPOLOGY)


def test_missing_tools_are_named_first(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="--toolchain p4lang needs p4c"):
        SimpleSwitchBackend().check(TOPOLOGY)


def test_what_that_switch_cannot_do_is_refused_before_anything_is_built(installed):
    fair = Bufferbloat(Settings()).topology(
        {"queue_packets": 100, "fair": True, "rate_bps": 1_500_000}
    )
    with pytest.raises(UnsupportedError, match="Port 2: it has no weights"):
        SimpleSwitchBackend().check(fair)


def test_all_its_tcp_ports_are_known_so_that_they_can_be_looked_for():
    assert SimpleSwitchBackend().tcp_ports(S1) == [9559, 10559]


def test_simple_switch_stands_between_the_cables(monkeypatch):
    set_up = []
    monkeypatch.setattr(simple_switch, "_run", lambda *argv: set_up.append(argv))
    for of in (simple_switch, vitrine_switch):
        monkeypatch.setattr(of, "await_answer", lambda *_: None)
    network = NetworkDouble()
    SimpleSwitchBackend().start(TOPOLOGY, S1, network)
    cables, switch = network.commands
    # Noted before they are made, so that a killed run leaves nothing unknown behind.
    assert network.links == ["s1-sw1", "s1-sw2"]
    assert ("ip", "link", "add", "s1-sw1", "type", "veth", "peer", "name", "s1-cb1") in set_up
    # The cable's port n is the inside, n + 256 the outside.
    assert [each for each in cables if "@" in each] == [
        "1@s1-cb1",
        "257@s1-eth1",
        "2@s1-cb2",
        "258@s1-eth2",
    ]
    assert [each for each in switch if "@" in each] == ["1@s1-sw1", "2@s1-sw2"]
    assert switch[-4:] == ["--cpu-port", "510", "--priority-queues", "1"]


def test_every_port_gets_as_many_queues_as_the_one_with_the_most():
    assert class_count(S1) == 1
    two = TOPOLOGY.with_settings("s1", 2, queue_count=2).switch("s1")
    assert class_count(two) == 2
    # Where the topology does not say, P4 programs may use all classes.
    open_ = TOPOLOGY.with_settings("s1", 2, queue_count=None).switch("s1")
    assert class_count(open_) == 8
