"""The adapter to Mininet, with a switch that forwards nothing: what is built, refused, removed."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from controller.addresses import Way
from labs.settings import Settings
from tests.first_lab import Bottleneck
from tests.live import foreground
from topo import record, wait
from topo.errors import MachineError, ProcessError, StaleRunError
from topo.live import LiveNetwork
from topo.vitrine_switch import VitrineBackend

IDLE_SWITCH = Path(__file__).with_name("idle_switch.py")
TOPOLOGY = Bottleneck(Settings()).topology()
DEADLINE_S = 120


@pytest.fixture
def network(tmp_path):
    with LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(IDLE_SWITCH)) as network:
        yield network


def test_hosts_have_the_addresses_routes_and_neighbours_of_the_topology(network):
    h1 = network.host("h1")
    assert "10.0.1.1/24" in h1.run(["ip", "-br", "address", "show", "h1-eth0"])
    assert "default via 10.0.1.254" in h1.run(["ip", "route"])
    assert "00:aa:00:00:00:01" in h1.run(["ip", "neigh", "show", "10.0.1.254"]).lower()
    assert "00:00:0a:00:01:01" in h1.run(["ip", "link", "show", "h1-eth0"])


def test_hosts_do_without_ipv6_and_keep_their_offloads(network):
    h1 = network.host("h1")
    assert h1.run(["cat", "/proc/sys/net/ipv6/conf/h1-eth0/disable_ipv6"]) == "1\n"
    assert "tcp-segmentation-offload: on" in h1.run(["ethtool", "-k", "h1-eth0"])


def test_the_switch_gets_its_ports_under_their_numbers(network):
    words = (network.logs / "s1.log").read_text()
    assert "-i 1@s1-eth1 -i 2@s1-eth2 --no-p4" in words
    for name in ("s1-eth1", "s1-eth2"):
        assert record.interface_exists(name)


def test_a_host_uses_the_congestion_control_that_was_chosen(network):
    h1 = network.host("h1")
    h1.set_congestion_control("reno")
    assert h1.run(["cat", "/proc/sys/net/ipv4/tcp_congestion_control"]) == "reno\n"
    with pytest.raises(MachineError, match="no congestion control 'unheard'"):
        h1.set_congestion_control("unheard")


def test_everything_is_gone_after_the_block(tmp_path):
    with LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(IDLE_SWITCH)):
        document = json.loads(record.path().read_text())
        pids = [pid for pid, _ in document["processes"]]
        # Two hosts and one switch.
        assert len(pids) == 3
    assert not record.path().exists()
    assert not record.interface_exists("s1-eth1")
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()


def test_an_error_inside_the_block_leaves_nothing_behind(tmp_path):
    with (
        pytest.raises(ZeroDivisionError),
        LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(IDLE_SWITCH)),
    ):
        raise ZeroDivisionError
    assert not record.interface_exists("s1-eth1")


def test_a_switch_that_ends_at_once_is_reported_with_its_last_words(tmp_path):
    broken = tmp_path / "broken-switch"
    broken.write_text("#!/bin/sh\necho unknown option --no-p4\nexit 2\n")
    broken.chmod(0o755)
    with (
        pytest.raises(ProcessError, match="s1 ended at once: unknown option --no-p4"),
        LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(broken)),
    ):
        pass
    assert not record.interface_exists("s1-eth1")
    assert not record.path().exists()


def test_a_missing_switch_is_refused_before_anything_is_built(tmp_path):
    with (
        pytest.raises(MachineError, match="no switch at .*: run `make build` first"),
        LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(tmp_path / "none")),
    ):
        pass


def test_a_port_in_use_is_refused_with_its_user_before_anything_is_built(tmp_path):
    with socket.create_server(("127.0.0.1", 9559)):
        complaint = rf"port 9559.* is in use by \S+ \(process {os.getpid()}\)"
        with (
            pytest.raises(MachineError, match=complaint),
            LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(IDLE_SWITCH, way=Way.TCP)),
        ):
            pass
        assert not record.path().exists()


def test_an_interface_of_somebody_else_is_refused_and_left_alone(tmp_path):
    subprocess.run(
        ["ip", "link", "add", "s1-eth2", "type", "veth", "peer", "name", "other0"], check=True
    )
    try:
        with (
            pytest.raises(StaleRunError, match="s1-eth2 exists already .*ip link delete s1-eth2"),
            LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(IDLE_SWITCH)),
        ):
            pass
        assert record.interface_exists("s1-eth2")
    finally:
        subprocess.run(["ip", "link", "delete", "s1-eth2"], check=True)


HOLD = """
import signal, sys
from pathlib import Path
from tests.live.test_adapter import IDLE_SWITCH, TOPOLOGY
from topo.live import LiveNetwork
from topo.vitrine_switch import VitrineBackend
with LiveNetwork(TOPOLOGY, logs=Path(sys.argv[1]), backend=VitrineBackend(IDLE_SWITCH)) as network:
    network.host("h1").start(["tail", "-f", "/dev/null"], Path(sys.argv[1]) / "tail.log")
    print("up", flush=True)
    signal.pause()
"""


@pytest.fixture
def held_network(tmp_path):
    """A network that another process has up."""
    process = foreground.start(
        [sys.executable, "-c", HOLD, str(tmp_path / "held")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout.readline() == b"up\n"
    yield process
    # By SIGTERM, which it cleans up after; a test may have ended it another way before.
    process.terminate()
    process.wait(timeout=DEADLINE_S)


def processes_of_the_record():
    return [Path(f"/proc/{pid}") for pid, _ in json.loads(record.path().read_text())["processes"]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_nothing_behind(held_network, number):
    processes = processes_of_the_record()
    assert len(processes) == 4
    held_network.send_signal(number)
    held_network.wait(timeout=DEADLINE_S)
    assert not record.path().exists()
    assert not record.interface_exists("s1-eth1")
    assert not [path for path in processes if path.exists()]


def test_a_network_that_is_up_is_not_disturbed_by_a_second_run(held_network, tmp_path):
    with (
        pytest.raises(StaleRunError, match=f"up already, made by process {held_network.pid}"),
        LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(IDLE_SWITCH)),
    ):
        pass
    assert all(path.exists() for path in processes_of_the_record())


def test_what_a_killed_run_left_behind_is_cleaned_by_the_next(held_network, tmp_path):
    left = processes_of_the_record()
    held_network.kill()
    held_network.wait()
    # The switch and the program in h1 outlive their run.
    assert sum(path.exists() for path in left) >= 2
    with LiveNetwork(TOPOLOGY, logs=tmp_path, backend=VitrineBackend(IDLE_SWITCH)) as network:
        assert network.cleaned.startswith("cleaned up after an interrupted run: ")
    assert not record.interface_exists("s1-eth1")
    assert wait.holds_within(lambda: not any(path.exists() for path in left), DEADLINE_S)


def test_make_down_ends_the_run_that_is_up(held_network):
    down = [sys.executable, "-m", "vitrine", "down"]
    first = subprocess.run(down, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert f"Ended the run of process {held_network.pid}." in first.stdout
    held_network.wait(timeout=DEADLINE_S)
    assert not record.interface_exists("s1-eth1")
    second = subprocess.run(down, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert second.stdout == "Nothing is up and nothing was left behind.\n"
