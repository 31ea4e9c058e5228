"""A link in the middle that takes less than the hosts send: what is said, and what arrives."""

import hashlib
import sys

import pytest

from tests.live.networks import programmed
from tests.topo.examples import NARROW
from topo import wait
from topo.errors import ProcessError

# All tests of the file share one network.
pytestmark = pytest.mark.xdist_group("path mtu")

# Takes one connection and says what came and was hashed; the other end sends and looks at nothing.
RECEIVE = """
import hashlib, socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.create_server((sys.argv[1], 5001), family=family) as server:
    print("listening", flush=True)
    connection, _ = server.accept()
    digest = hashlib.sha256()
    while data := connection.recv(65536):
        digest.update(data)
    print(digest.hexdigest(), flush=True)
"""
SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], 5001)) as connection:
    connection.sendall(bytes(range(256)) * 4096)
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with programmed(NARROW, tmp_path_factory.mktemp("path-mtu")) as (live, _):
        yield live


@pytest.fixture(autouse=True)
def nothing_is_left():
    """The network stays up from test to test here; the adapter's own tests look at its end."""


@pytest.fixture(autouse=True)
def hosts_know_no_path_mtu(network):
    """A host remembers path MTUs from one test to the next."""
    for host in ("h1", "h2"):
        for family in ("-4", "-6"):
            network.host(host).run(["ip", family, "route", "flush", "cache"])


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("10.0.2.1", "From 10.0.1.254 icmp_seq=1 Frag needed and DF set (mtu = 1300)"),
        ("fd00:2::1", "From fd00:1::fe icmp_seq=1 Packet too big: mtu=1300"),
    ],
)
def test_the_router_says_how_much_fits(network, target, answer):
    with pytest.raises(ProcessError) as error:
        network.host("h1").run(
            ["ping", "-n", "-M", "do", "-s", "1400", "-c", "1", "-W", "60", target]
        )
    assert answer in (network.logs / "h1-ping.log").read_text(), error


def test_a_packet_that_may_be_cut_arrives_in_pieces(network):
    # The far host's first answer is too long as well; it learns that and cuts the next ones itself.
    heard = network.host("h2").run(["cat", "/proc/net/snmp"])
    network.host("h1").run(["ping", "-M", "dont", "-s", "1400", "-c", "5", "-i", "0.2", "10.0.2.1"])
    again = network.host("h2").run(["cat", "/proc/net/snmp"])
    assert reassembled(again) - reassembled(heard) == 5


def reassembled(snmp):
    names, values = (line.split() for line in snmp.splitlines() if line.startswith("Ip:"))
    return int(values[names.index("ReasmOKs")])


@pytest.mark.parametrize("target", ["10.0.2.1", "fd00:2::1"])
def test_tcp_finds_the_length_that_fits_and_every_byte_arrives(network, target, tmp_path):
    log = tmp_path / "received"
    receiver = network.host("h2").start([sys.executable, "-c", RECEIVE, target], log)
    wait.until(lambda: "listening" in log.read_text(), "the receiver", 20)
    network.host("h1").run([sys.executable, "-c", SEND, target])
    receiver.wait("the last byte", 60)
    assert log.read_text().split()[1] == hashlib.sha256(bytes(range(256)) * 4096).hexdigest()
