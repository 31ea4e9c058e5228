"""The addresses of a network's routers: sockets, and TCP on request."""

import pytest

from controller.addresses import Way
from controller.errors import ConnectError
from labs.settings import Settings
from tests.first_lab import Bottleneck
from topo.errors import MachineError
from topo.load import load
from topo.simple_switch import SimpleSwitchBackend
from topo.vitrine_switch import VitrineBackend

TOPOLOGY = Bottleneck(Settings()).topology()
S1 = TOPOLOGY.switch("s1")


@pytest.fixture(autouse=True)
def run_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))


def test_a_router_answers_at_a_socket_of_its_name_and_at_no_port(tmp_path):
    assert VitrineBackend().address(S1) == f"unix:{tmp_path}/s1.sock"
    assert VitrineBackend().tcp_ports(S1) == []


def test_who_says_grpc_tcp_has_them_at_ports():
    backend = VitrineBackend(way=Way.TCP)
    assert backend.address(S1) == "127.0.0.1:9559"
    assert backend.tcp_ports(S1) == [9559]


def test_a_port_in_the_file_is_asked_for_as_well(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text(
        """
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24}
switches:
  s1: {grpc_port: 7000, ports: {1: {address: 10.0.1.254/24}, 2: {}}}
  s2: {ports: {1: {}, 2: {address: 10.0.2.254/24}}}
links: [[h1, "s1:1"], ["s1:2", "s2:1"], ["s2:2", h2]]
"""
    )
    asked, other = load(file).switches
    assert VitrineBackend().address(asked) == "127.0.0.1:7000"
    assert VitrineBackend().address(other) == f"unix:{tmp_path}/s2.sock"


def test_simple_switch_knows_ports_only():
    assert SimpleSwitchBackend().address(S1) == "127.0.0.1:9559"


def test_a_folder_too_deep_for_a_socket_is_said_before_anything_is_built(tmp_path, monkeypatch):
    binary = tmp_path / "switch"
    binary.touch(0o755)
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path / ("d" * 100)))
    with pytest.raises(MachineError, match="107 bytes at most: name a shorter folder"):
        VitrineBackend(binary).check(TOPOLOGY)
    VitrineBackend(binary, way=Way.TCP).check(TOPOLOGY)


def test_the_setting_has_two_values():
    assert Way.named(None) is Way.SOCKET
    assert Way.named("tcp") is Way.TCP
    with pytest.raises(ConnectError, match="--grpc quic: routers answer at Unix sockets, or with"):
        Way.named("quic")
