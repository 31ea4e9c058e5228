"""Controllers of live routers, unchanged, on routers in virtual time; and clients of the world."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import p4runtime_sh.shell as sh
import pytest
from google.rpc import status_pb2
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap
from vitrine.v1 import router_pb2, world_pb2

from controller import compiling
from controller.errors import RequestError
from controller.lines import Lines
from controller.ports import Ports
from controller.queues import Queues
from controller.router_service import RouterStub
from controller.session import Packet, Session
from controller.stream import halves
from controller.watch import QueueChange, Sample, watch
from controller.world import World as Client
from tests.world.conftest import (
    BINARIES,
    DEADLINE_S,
    PS_PER_MS,
    PS_PER_S,
    World,
    host,
    program,
    two_routers,
)
from topo import wait

PING = world_pb2.Ping(to="h2", count=3)
LISTENER = world_pb2.Listener(port=5201)


def bulk(**fields: object) -> world_pb2.Bulk:
    """A transfer from h1 to h2."""
    return world_pb2.Bulk(to=world_pb2.Peer(host="h2", port=5201), **fields)


@pytest.fixture
def network(world: World) -> Iterator[dict[int, Session]]:
    """Two routers that know the way, by their numbers."""
    world.Build(topology=two_routers(), seed=1)
    with (
        Session.connect(world.address, device_id=1) as one,
        Session.connect(world.address, device_id=2) as two,
    ):
        for number, session in ((1, one), (2, two)):
            program(session, number)
        yield {1: one, 2: two}


def test_pings_and_transfers_cross_two_routers_that_sessions_have_programmed(
    world: World, network: dict[int, Session]
) -> None:
    app = world.start("h1", ping=PING)
    world.until_ended(app)
    echoes = world.report(app).ping.echoes
    # 98 bytes take 7.84 us at 100 Mb/s and 78.4 us at 10 Mb/s. A frame takes its time on the way
    # into a router; a host has it when its first bit leaves the router, as a live host has.
    there_ps = 7_840_000 + 78_400_000
    assert [echo.rtt_ps for echo in echoes] == [2 * there_ps] * 3
    world.start("h2", listener=LISTENER)
    app = world.start("h1", bulk=bulk(length_bytes=2_000_000))
    ended_ps = world.until_ended(app)
    report = world.report(app).bulk
    assert (report.acked_bytes, report.failed) == (2_000_000, 0)
    rate_bps = 8 * 2_000_000 / ((ended_ps - report.began_ps) / PS_PER_S)
    # 1448 of 1514 bytes of each frame are payload.
    assert 0.85 < rate_bps / (10e6 * 1448 / 1514) <= 1
    # The last of the connection's good-byes arrive.
    world.Advance(span_ps=PS_PER_S)
    books = world.Look().books
    assert books.balanced and books.under_way == 0


def test_a_session_configures_describes_and_watches_the_router_it_means(
    world: World, network: dict[int, Session]
) -> None:
    queues = Queues(network[1])
    assert sorted(queues.read().ports) == [1, 2, 510]
    assert queues.read().ports[2].port == 2
    assert Lines(network[2]).read([1]).keys() == {1}
    world.start("h2", listener=LISTENER)
    world.start("h1", bulk=bulk())
    told: list[object] = []
    with watch(network[1], queues=[(2, 0)], interval_ms=100) as watched:
        reader = threading.Thread(target=lambda: told.extend(watched), daemon=True)
        reader.start()
        world.Advance(span_ps=2 * PS_PER_S)
        wait.until(
            lambda: _sample_times(told)[-1:] == [2 * PS_PER_S], "the last sample", DEADLINE_S
        )
        samples = list(told)
    assert _sample_times(samples) == [number * PS_PER_S // 10 for number in range(1, 21)]
    changes = [each for each in samples if isinstance(each, QueueChange)]
    assert len(changes) > 1000
    # Only the first router holds what the line in the middle cannot take yet.
    assert max(change.packets for change in changes) > 10
    assert queues.describe([2]).ports[0].counters.queues[0].residence.max_ps > 0


def _sample_times(told: list[object]) -> list[int]:
    return [each.time_ps for each in told if isinstance(each, Sample)]


def test_frames_that_are_made_by_hand_come_in_by_a_port(
    world: World, network: dict[int, Session]
) -> None:
    # 4 bytes to the port of a sink on h2, and to a port of s1 that is not there.
    world.start("h2", datagram_sink=world_pb2.DatagramSink(port=9000))
    addresses = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:f1")
    udp = UDP(sport=1, dport=9000) / b"data"
    frame = bytes(addresses / IP(src="10.0.1.1", dst="10.0.2.1") / udp)
    with Client.connect(world.address) as client:
        assert client.inject("s1", 1, [frame, frame]) == 0
        with pytest.raises(RequestError, match="nothing can come in by port 9 of s1"):
            client.inject("s1", 9, [frame])
    world.Advance(span_ps=PS_PER_S)
    told = world.Look(hosts=["h2"])
    assert told.hosts[0].books.taken_udp == 2
    books = told.books
    assert (books.injected, books.balanced) == (2, True)


def test_packets_for_the_controller_come_to_the_session_and_its_own_leave(
    world: World, network: dict[int, Session]
) -> None:
    # No route leads there, so the router hands it to its controller.
    app = world.start("h1", ping=world_pb2.Ping(to="10.9.9.9", count=1))
    world.Advance(span_ps=PS_PER_MS)
    packet = network[1].receive(DEADLINE_S)
    assert packet is not None and int(str(packet.metadata["ingress_port"])) == 1
    # Sent back by port 1 it is for another host there, and h1 drops it.
    before = _received(world, "h1")
    network[1].send(Packet(packet.payload, {"egress_port": 1}))

    def came() -> bool:
        # Nobody answers a packet-out, so it is not known at which instant it has arrived.
        world.Advance(span_ps=PS_PER_MS)
        return _received(world, "h1") == before + 1

    wait.until(came, "the packet-out", DEADLINE_S)
    world.Stop(app=app)


def _received(world: World, host: str) -> int:
    return world.Look(hosts=[host]).hosts[0].books.received.packets


def test_p4runtime_shell_drives_a_router(world: World) -> None:
    world.Build(topology=two_routers(), seed=1)
    stem = compiling.current(compiling.find("router"))
    config = sh.FwdPipeConfig(f"{stem}.p4info.txtpb", f"{stem}.json")
    sh.setup(device_id=2, grpc_addr=world.address, election_id=(0, 1), config=config, verbose=False)
    try:
        entry = sh.TableEntry("ingress.routing.ipv4_routes")(action="ingress.routing.set_next_hop")
        entry.match["hdr.ipv4.dst_addr"] = "10.0.2.0/24"
        entry.action["port"] = "1"
        entry.action["src_addr"] = "02:00:00:00:00:f2"
        entry.action["dst_addr"] = "02:00:00:00:00:02"
        entry.insert()
        assert len(list(sh.TableEntry("ingress.routing.ipv4_routes").read())) == 1
    finally:
        sh.teardown()


def test_devices_that_are_not_there_are_refused_with_those_that_are(
    world: World, network: dict[int, Session]
) -> None:
    stub = RouterStub(world.channel)
    with pytest.raises(grpc.RpcError) as refused:
        stub.describe(router_pb2.DescribeRequest(device_id=7))
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert "here are devices 1, 2" in refused.value.details()
    with pytest.raises(grpc.RpcError) as refused:
        stub.describe(router_pb2.DescribeRequest())
    assert "say which router is meant" in refused.value.details()
    with pytest.raises(RequestError, match="those it was started with"):
        Ports(network[1]).add(7, "veth7")
    with pytest.raises(RequestError, match="that its network was built with"):
        Ports(network[1]).remove(2)


def test_a_topology_that_cannot_be_is_refused_with_all_that_is_wrong(world: World) -> None:
    wrong = two_routers()
    wrong.hosts[0].addresses[0] = "10.0.1.1"
    wrong.routers[1].device_id = 1
    wrong.cables[2].one.port = 9
    with pytest.raises(grpc.RpcError) as refused:
        world.Build(topology=wrong, seed=1)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    packed = dict(refused.value.trailing_metadata())["grpc-status-details-bin"]
    problems = []
    for detail in status_pb2.Status.FromString(packed).details:
        problem = router_pb2.Problem()
        assert detail.Unpack(problem)
        problems.append(problem.place)
    assert problems == [
        "router s2, device_id",
        "cables[2]",
        "host h1, addresses",
        "host h1, gateways",
    ]


def test_a_client_that_goes_away_brings_the_world_to_a_stand(
    world: World, network: dict[int, Session]
) -> None:
    world.start("h2", listener=LISTENER)
    world.start("h1", bulk=bulk())
    watching = world.WatchHosts(events=True, interval_ns=PS_PER_MS)
    call = world.channel.unary_unary(
        "/vitrine.v1.World/Advance",
        request_serializer=world_pb2.AdvanceRequest.SerializeToString,
        response_deserializer=world_pb2.AdvanceResponse.FromString,
    ).future(world_pb2.AdvanceRequest(span_ps=10**6 * PS_PER_S))
    # Time passes for a client that then goes away.
    next(message for message in watching if message.HasField("sample"))
    call.cancel()
    watching.cancel()
    network[1].close()

    # The next client finds a stopped world, and a router without primary.
    def stands() -> bool:
        before_ps = world.Look().time_ps
        return world.Look().time_ps == before_ps

    wait.until(stands, "the world's stand", DEADLINE_S)
    stood_ps = world.Look().time_ps
    assert 0 < stood_ps < 10**6 * PS_PER_S
    with Session.connect(world.address, device_id=1) as session:
        assert session.device_id == 1
    assert world.Advance(span_ps=PS_PER_MS).time_ps == stood_ps + PS_PER_MS


def test_a_cut_cable_a_restart_and_a_new_network_end_what_they_end(
    world: World, network: dict[int, Session]
) -> None:
    events = []
    with watch(network[1], links=True) as watched:
        world.Fault(cut=world_pb2.CableEnd(node="s1", port=2))
        world.Advance(span_ps=PS_PER_MS)
        events.append(next(iter(watched)))
    assert (events[0].port, events[0].up) == (2, False)
    watching = world.WatchHosts(events=True)
    world.Build(topology=two_routers(), seed=2)
    with pytest.raises(grpc.RpcError) as ended:
        list(watching)
    assert ended.value.code() is grpc.StatusCode.ABORTED
    assert world.Look().time_ps == 0


def test_time_runs_by_itself_and_a_prompt_pauses_it(
    world: World, network: dict[int, Session]
) -> None:
    app = world.start("h1", ping=PING)
    world.Run(speed=router_pb2.Ratio(over=10, under=1), until_ps=10 * PS_PER_S)
    with pytest.raises(grpc.RpcError, match="by itself"):
        world.Advance(span_ps=1)
    wait.until(lambda: not world.Look().running, "the end of the run", DEADLINE_S)
    assert world.Look().time_ps == 10 * PS_PER_S
    assert len(world.report(app).ping.echoes) == 3


def test_a_capture_is_a_file_that_readers_of_pcapng_read(
    world: World, network: dict[int, Session], tmp_path: Path
) -> None:
    ports = [world_pb2.CableEnd(node="h1"), world_pb2.CableEnd(node="s2", port=2)]
    capturing = world.Capture(ports=ports)
    app = world.start("h1", ping=PING)
    stood_ps = world.until_ended(app)
    pieces = []
    for message in capturing:
        pieces.append(message.pcapng)
        if message.complete_until_ps == stood_ps:
            break
    capturing.cancel()
    file = tmp_path / "capture.pcapng"
    file.write_bytes(b"".join(pieces))
    packets = rdpcap(str(file))
    # Each request and each answer, at both places.
    assert len(packets) == 3 * 2 * 2
    assert all(packet.haslayer(ICMP) for packet in packets), [str(it) for it in packets]


def _told_of_a_script(world: World, seed: int) -> str:
    """The hash of all reports while a script runs: samples, events, packets of queues."""
    world.Build(topology=two_routers(), seed=seed)
    digest = hashlib.sha256()
    with (
        Session.connect(world.address, device_id=1) as one,
        Session.connect(world.address, device_id=2) as two,
    ):
        program(one, 1)
        program(two, 2)
        stub = RouterStub(world.channel)
        # RouterStub's messages of a Watch cannot be written again.
        watch_messages = world.channel.unary_stream(
            "/vitrine.v1.Router/Watch",
            request_serializer=router_pb2.WatchRequest.SerializeToString,
            response_deserializer=router_pb2.WatchResponse.FromString,
        )
        line = router_pb2.Line(loss=router_pb2.Loss(independent_ppb=10_000_000))
        link = router_pb2.Link(transmit=line)
        election_id = router_pb2.ElectionId(**halves(one.election_id))
        request = router_pb2.ConfigureRequest(device_id=1, election_id=election_id)
        request.ports.add(port=2, config=router_pb2.PortConfig(link=link))
        stub.configure(request)
        streams = [
            watch_messages(
                router_pb2.WatchRequest(
                    device_id=1,
                    interval_ms=10,
                    queues=[router_pb2.QueueRef(port=2)],
                    drops=router_pb2.DropFilter(),
                )
            ),
            world.WatchHosts(interval_ns=10 * PS_PER_MS // 1000, events=True),
            world.Capture(ports=[world_pb2.CableEnd(node="s2", port=1)]),
        ]
        parts = [hashlib.sha256() for _ in streams]
        pool = ThreadPoolExecutor(len(streams))
        readers = []
        for stream, part in zip(streams, parts, strict=True):
            # From here on it tells everything.
            stream.initial_metadata()
            readers.append(pool.submit(_hash_until, stream, part, 3 * PS_PER_S))
        world.start("h2", listener=LISTENER)
        world.start("h1", bulk=bulk())
        world.start(
            "h1",
            workload=world_pb2.Workload(
                to=[world_pb2.Peer(host="h2", port=5201)],
                interval_mean_ns=50_000_000,
                heavy_tail=world_pb2.HeavyTail(min_bytes=1000, max_bytes=100_000),
            ),
        )
        for _ in range(3):
            world.Advance(span_ps=PS_PER_S)
        for reader, stream in zip(readers, streams, strict=True):
            assert reader.result(DEADLINE_S) > 0
            stream.cancel()
        pool.shutdown()
    for part in parts:
        digest.update(part.digest())
    return digest.hexdigest()


def _hash_until(stream: grpc.Call, digest: hashlib._Hash, until_ps: int) -> int:
    """Hashes what a stream tells until that instant; how many parts there were."""
    count = 0
    for message in stream:
        told = [*getattr(message, "events", [])]
        if getattr(message, "sample", None) is not None and message.HasField("sample"):
            told.append(message.sample)
        pieces = [each.SerializeToString(deterministic=True) for each in told]
        for piece in [*pieces, getattr(message, "pcapng", b"")]:
            digest.update(piece)
            count += len(piece) > 0
        if message.complete_until_ps == until_ps:
            return count
    raise AssertionError(f"the stream ended before {until_ps} ps")


def test_the_same_script_tells_the_same_to_the_byte(world: World) -> None:
    once = _told_of_a_script(world, seed=5)
    assert once == _told_of_a_script(world, seed=5)
    assert once != _told_of_a_script(world, seed=6)


def test_reports_of_other_programs_come_out_of_a_sink(
    world: World, network: dict[int, Session]
) -> None:
    sink = world.start("h2", datagram_sink=world_pb2.DatagramSink(port=7000, told_bytes=64))
    watching = world.WatchHosts(events=True)
    volleys = world_pb2.DatagramSource.Volleys(datagrams=5, at_ns=[1_000_000, 2_000_000])
    source = world.start(
        "h1",
        datagram_source=world_pb2.DatagramSource(
            to=world_pb2.Peer(host="h2", port=7000), payload_bytes=100, volleys=volleys
        ),
    )
    world.until_ended(source)
    stood_ps = world.Advance(span_ps=100 * PS_PER_MS).time_ps
    datagrams = []
    for message in watching:
        datagrams += [each.datagram for each in message.events if each.HasField("datagram")]
        if message.complete_until_ps == stood_ps:
            break
    watching.cancel()
    assert [(each.payload_bytes, len(each.payload)) for each in datagrams] == [(100, 64)] * 10
    assert world.report(source).datagram_source.volleys_ps == [PS_PER_MS, 2 * PS_PER_MS]
    assert world.report(sink).datagram_sink.flows[0].received == 10


def test_hosts_are_refused_what_they_cannot_do(world: World) -> None:
    topology = two_routers()
    topology.hosts.append(host(3))
    with pytest.raises(grpc.RpcError, match="no cable is plugged in"):
        world.Build(topology=topology, seed=1)
    world.Build(topology=two_routers(), seed=1)
    for app, words in (
        (world_pb2.App(), "has no kind"),
        (world_pb2.App(ping=world_pb2.Ping(to="h9")), "neither a host's name nor an address"),
        (world_pb2.App(bulk=world_pb2.Bulk()), "bulk.to is not set"),
        (world_pb2.App(listener=world_pb2.Listener(port=70000)), "ports are 1 to 65535"),
        (
            world_pb2.App(bulk=bulk(congestion_control="vegas")),
            "there are bbr, bbr3, cubic, dctcp, prague, reno",
        ),
    ):
        with pytest.raises(grpc.RpcError, match=words):
            world.Start(host="h1", app=app)


@pytest.mark.parametrize("asked", ["its input ends", "SIGTERM", "SIGINT", "SIGHUP"])
def test_a_world_that_is_to_end_takes_its_socket_with_it(tmp_path, asked):
    path = tmp_path / "world.sock"
    address = f"unix:{path}"
    command = [BINARIES / "vitrine-sim", "serve", "--end-with-input", "--grpc", address]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        assert "listening" in process.stdout.readline()
        assert process.poll() is None and path.is_socket(), "its input is still open"
        if asked.startswith("SIG"):
            process.send_signal(signal.Signals[asked])
        else:
            process.stdin.close()
        assert process.wait(DEADLINE_S) == 0
    assert not path.exists()
