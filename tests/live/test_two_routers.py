"""Two routers in a row from a topology file: routes, queues and TCP settings on a live network."""

import contextlib
from pathlib import Path

import pytest

from controller.apps import router
from controller.p4info import P4Info
from controller.queueing import Limit
from controller.queues import Queues
from controller.session import Session
from topo.live import LiveNetwork
from topo.load import load

BUILD = Path(__file__).parents[2] / "build" / "p4"

TOPOLOGY = """\
hosts:
  h1: {address: 10.0.1.1/24, tcp: {congestion: reno, rmem: [4 KiB, 64 KiB, 1 MiB]}}
  h2: {address: 10.0.2.1/24, offloads: {tso: off}}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24}
      2: {rate: 10 Mb/s, queue: 20 packets, scheduler: {drr: {0: 1, 1: 3}}}
  s2:
    ports:
      1: {}
      2: {address: 10.0.2.254/24}
links:
  - [h1, s1:1]
  - [s1:2, s2:1]
  - [s2:2, h2]
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two-routers")
    file = folder / "topology.yaml"
    file.write_text(TOPOLOGY)
    program, config = (
        P4Info.load(BUILD / "router.p4info.txtpb"),
        (BUILD / "router.json").read_bytes(),
    )
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("VITRINE_RUN_DIR", str(folder / "run"))
        topology = load(file)
        live = stack.enter_context(LiveNetwork(topology, logs=folder))
        sessions = {}
        for switch in topology.switches:
            address = live.address(switch.name)
            session = Session.connect(address, device_id=switch.device_id)
            sessions[switch.name] = stack.enter_context(session)
            session.load(program, config)
            router.program(session, topology, switch)
        yield live, sessions


@pytest.fixture(autouse=True)
def nothing_is_left():
    """The network stays up from test to test here; the adapter's own tests look at its end."""


def test_hosts_reach_each_other_across_both_routers(network):
    live, _ = network
    # TTL 64 leaves h2; two routers take one each.
    assert "ttl=62" in live.host("h1").run(["ping", "-c", "2", "-i", "0.2", "10.0.2.1"])


def test_the_routers_queues_are_those_of_the_file(network):
    _, sessions = network
    port = Queues(sessions["s1"]).settings([2]).ports[2]
    assert (port.rate_bps, port.queue_count) == (10_000_000, 2)
    assert {queue.limit for queue in port.queues.values()} == {Limit(packets=20)}
    assert [dict(group.weights) for group in port.scheduler.groups] == [{0: 1, 1: 3}]


def test_the_hosts_tcp_is_that_of_the_file(network):
    live, _ = network
    proc = "/proc/sys/net/ipv4"
    h1, h2 = live.host("h1"), live.host("h2")
    assert h1.run(["cat", f"{proc}/tcp_congestion_control"]) == "reno\n"
    assert h1.run(["cat", f"{proc}/tcp_rmem"]).split() == ["4096", "65536", "1048576"]
    assert h1.run(["cat", f"{proc}/tcp_no_metrics_save"]) == "1\n"
    assert "tcp-segmentation-offload: off" in h2.run(["ethtool", "-k", "h2-eth0"])
