"""Flows in hosts of a live network: the started and the refused ones, and the rights."""

import json
import os
import stat

import grpc
import pytest
from vitrine.v1 import world_pb2 as pb

from controller import routers
from labs.worlds.live import flows as live_flows
from labs.worlds.live import telling
from labs.worlds.live.flows import Flows, RefusedError
from topo.process import Process

# Doubles of iperf3 and ping: a program that listens, one that sends, one that fails at once.
LISTENS = ["sh", "-c", "echo Server listening; exec tail -f /dev/null"]
SENDS = ["tail", "-f", "/dev/null"]
FAILS = ["sh", "-c", "echo unable to connect; exit 1"]


class HostDouble:
    """A host whose programs are others, which it notes."""

    def __init__(self, address, logs):
        self.address, self.logs = address, logs
        self.asked, self.processes = [], []
        self.sends = SENDS

    def start(self, argv, log):
        self.asked.append(argv)
        self.processes.append(Process(LISTENS if "-s" in argv else self.sends, log))
        return self.processes[-1]


@pytest.fixture
def hosts(tmp_path):
    hosts = {name: HostDouble(f"10.0.{n}.{n}", tmp_path) for n, name in ((1, "h1"), (4, "h4"))}
    yield hosts
    for host in hosts.values():
        for process in host.processes:
            process.end()


@pytest.fixture(autouse=True)
def no_kernel(monkeypatch):
    """Asking the kernel for an algorithm needs root."""

    def allow(algorithm):
        if algorithm not in ("cubic", "reno"):
            raise live_flows.MachineError(f"this kernel has no congestion control {algorithm!r}.")

    monkeypatch.setattr(live_flows.kernel, "allow_congestion_control", allow)


def bulk(**fields):
    to = fields.pop("to", pb.Peer(host="h4", port=6001))
    return pb.App(bulk=pb.Bulk(to=to, **fields))


def test_a_transfer_is_iperf3_with_its_congestion_control(hosts):
    flows = Flows(hosts)
    assert flows.start("h4", pb.App(listener=pb.Listener(port=6001))) == 1
    assert flows.start("h1", bulk(congestion_control="reno", connections=2)) == 2
    assert hosts["h4"].asked == [["iperf3", "-s", "-p", "6001", "--forceflush"]]
    client = ["iperf3", "-c", "10.0.4.4", "-p", "6001", "-t", "86400", "--forceflush"]
    assert hosts["h1"].asked == [[*client, "-C", "reno", "-P", "2"]]
    own = [pb.Connection(local="10.0.1.1:5", peer="10.0.4.4:6001", bytes_sent=9_000)]
    other = [pb.Connection(local="10.0.1.1:6", peer="10.0.4.4:5201", bytes_sent=9_000)]
    listening, sending = flows.reports(lambda _: own + other)
    assert (listening.WhichOneof("kind"), sending.WhichOneof("kind")) == ("listener", "bulk")
    assert list(sending.bulk.connections) == ["10.0.1.1:5"]
    assert not sending.ended
    assert flows.stop(2).ended
    assert hosts["h1"].processes[0].has_ended()
    assert [each.ended for each in flows.reports(lambda _: [])] == [False, True]


def test_datagrams_and_pings_are_started_too(hosts):
    flows = Flows(hosts)
    steady = pb.DatagramSource.Steady(rate_bps=5_000_000)
    source = pb.DatagramSource(to=pb.Peer(host="10.0.4.4", port=6002), steady=steady)
    flows.start("h1", pb.App(datagram_source=source))
    flows.start("h1", pb.App(ping=pb.Ping(to="h4", interval_ns=200_000_000)))
    sends, pings = hosts["h1"].asked
    assert sends[:5] == ["iperf3", "-c", "10.0.4.4", "-p", "6002"]
    assert sends[-5:] == ["-u", "-b", "5000000", "-l", "1400"]
    assert pings == ["ping", "-n", "-i", "0.200", "10.0.4.4"]


@pytest.mark.parametrize(
    ("host", "app", "said"),
    [
        ("h9", bulk(), "no host 'h9'"),
        ("h1", bulk(to=pb.Peer(host="--version", port=6001)), "no host '--version'"),
        ("h1", bulk(to=pb.Peer(host="127.0.0.1", port=6001)), "no host '127.0.0.1'"),
        ("h1", bulk(to=pb.Peer(host="h4", port=22)), "port 22"),
        ("h1", bulk(congestion_control="-V"), "no congestion control '-V'"),
        ("h1", bulk(connections=33), "more than 32"),
        ("h1", bulk(after_ns=1), "have no after_ns of Bulk"),
        ("h1", pb.App(page=pb.Page()), "do not start page"),
        ("h1", pb.App(), "do not start nothing"),
        ("h1", pb.App(ping=pb.Ping(to="h4", interval_ns=1)), "at most once in 2 ms"),
        ("h1", pb.App(datagram_source=pb.DatagramSource()), "have a rate"),
    ],
)
def test_what_programs_have_no_words_for_is_refused_and_starts_nothing(hosts, host, app, said):
    with pytest.raises(RefusedError, match=said):
        Flows(hosts).start(host, app)
    assert not any(each.asked for each in hosts.values())


def test_a_program_that_gives_up_is_told_with_its_last_words(hosts):
    hosts["h1"].sends = FAILS
    with pytest.raises(RefusedError, match="iperf3 gave up: unable to connect"):
        Flows(hosts).start("h1", bulk())


def test_so_many_run_and_no_more(hosts, monkeypatch):
    monkeypatch.setattr(live_flows, "RUNNING_MAX", 1)
    flows = Flows(hosts)
    flows.start("h1", bulk())
    with pytest.raises(RefusedError, match="stop one of them"):
        flows.start("h1", bulk())
    flows.stop(1)
    flows.start("h1", bulk())


def asked(channel, name, request, metadata=None):
    call = channel.unary_unary(
        f"/vitrine.v1.World/{name}",
        request_serializer=type(request).SerializeToString,
        response_deserializer=getattr(pb, f"{name}Response").FromString,
    )
    return call(request, metadata=metadata, timeout=30)


def test_flows_are_for_who_knows_the_key_alone(hosts):
    nobody = "127.0.0.1:1"
    with (
        telling.serving({"h1": os.getpid()}, nobody, Flows(hosts), "secret") as address,
        grpc.insecure_channel(address) as channel,
    ):
        start = pb.StartRequest(host="h1", app=bulk())
        for metadata in (None, (("authorization", "Bearer guessed"),)):
            for request in (start, pb.StopRequest(app=1)):
                name = type(request).__name__.removesuffix("Request")
                with pytest.raises(grpc.RpcError) as refused:
                    asked(channel, name, request, metadata)
                assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
        assert hosts["h1"].asked == []
        known = (("authorization", "Bearer secret"),)
        assert asked(channel, "Start", start, known).app == 1
        (told,) = asked(channel, "Look", pb.LookRequest(apps=True, connections=True)).apps
        assert (told.app, told.host, told.ended) == (1, "h1", False)
        assert asked(channel, "Stop", pb.StopRequest(app=1), known).report.ended
        with pytest.raises(grpc.RpcError) as refused:
            asked(channel, "Stop", pb.StopRequest(app=9), known)
        assert refused.value.code() == grpc.StatusCode.NOT_FOUND


def test_the_key_of_a_network_is_its_users_and_goes_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    with routers.announced({"s1": "127.0.0.1:9559"}, hosts="127.0.0.1:9", hosts_key="secret"):
        (file,) = tmp_path.glob("*.key")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        (told,) = tmp_path.glob("*.json")
        assert "secret" not in told.read_text()
        assert json.loads(told.read_text())["hosts"] == "127.0.0.1:9"
        assert routers.up().hosts_key == "secret"
    assert list(tmp_path.glob("*")) == []
