"""Nothing that a controller does to the switch harms packets or other controllers.

Frames flow through the switch all the time, and each must arrive in order; a well-behaved
controller writes and reads, and is answered; at the end the books balance. How fast all this goes
is nobody's concern here.
"""

from __future__ import annotations

import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

import grpc
import pytest
from google.protobuf.message import DecodeError
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc
from vitrine.v1 import router_pb2

from controller.entries import Call, Entry, Exact, Lpm
from controller.p4info import P4Info
from controller.queueing import OFF, BitShaper, Limit, PortSettings, QueueSettings
from controller.queues import Queues
from controller.router_service import RouterStub
from controller.session import Session
from tests.control.cables import Cable
from tests.control.conftest import DEVICE_ID, ROOT, Compiled, RunningSwitch, running_switch
from tests.control.flow import Flow
from topo import wait

DEADLINE_S = 120
P4RUNTIME = "/p4.v1.P4Runtime"
ROUTER = "/vitrine.v1.Router"
UNARY = [
    f"{P4RUNTIME}/{name}"
    for name in (
        "Capabilities",
        "GetForwardingPipelineConfig",
        "SetForwardingPipelineConfig",
        "Write",
    )
] + [f"{ROUTER}/{name}" for name in ("AddPort", "Configure", "Describe", "RemovePort")]
STREAMING = [f"{P4RUNTIME}/Read", f"{ROUTER}/Trace", f"{ROUTER}/Watch"]


def forward(port: int) -> Entry:
    """Frames to host N leave by port N."""
    match = {"hdr.ethernet.dst_addr": Lpm(port, 48)}
    return Entry("ingress.lpm_table", match, Call("ingress.forward", port=port))


class Good:
    """The well-behaved controller: its requests are carried out, whatever others do."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queues = Queues(session)
        self.rounds = 0

    def work(self) -> None:
        """One round: an entry is written, read, changed and removed, a rate is set and read."""
        prefix = {"hdr.ethernet.dst_addr": Lpm(0x0A << 40, 8)}
        made = Entry("ingress.lpm_table", prefix, Call("ingress.drop"))
        self._session.insert([made])
        assert len(list(self._session.read("ingress.lpm_table"))) == 4
        self._session.delete([made])
        rate_bps = 10**9 + self.rounds
        self._queues.configure({3: PortSettings(rate_bps=rate_bps)})
        assert self._queues.settings([3]).ports[3].rate_bps == rate_bps
        self.rounds += 1

    def balance(self, flow: Flow) -> None:
        """Every frame is accounted for: those of the flow went in by port 1 and out by port 2."""
        books = self._queues.describe().books
        assert books.balanced
        ports = {port.port: port for port in books.ports}
        assert ports[1].received.packets == flow.sent
        assert ports[2].transmitted.packets == flow.sent
        assert not ports[1].dropped


@pytest.fixture
def session(cabled_switch: RunningSwitch, driven: Compiled) -> Iterator[Session]:
    with Session.connect(cabled_switch.address, device_id=DEVICE_ID, election_id=1000) as made:
        made.load(P4Info.load(driven.p4info), driven.json.read_bytes())
        made.insert([forward(port) for port in (1, 2, 3)])
        yield made


@pytest.fixture
def good(session: Session) -> Good:
    return Good(session)


def withstand(cabled: dict[int, Cable], good: Good, attacks: Sequence[Callable[[], None]]) -> None:
    """Runs the attacks side by side while packets flow and the good controller works."""
    wrong: list[BaseException] = []

    def run(attack: Callable[[], None]) -> None:
        try:
            attack()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test is to show it
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(attack,), daemon=True) for attack in attacks]
    with Flow(cabled[1], cabled[2], to=2) as flow:
        for thread in threads:
            thread.start()
        good.work()
        while any(thread.is_alive() for thread in threads):
            good.work()
            flow.check()
        good.work()
    assert wrong == []
    assert good.rounds >= 2
    good.balance(flow)


def hello(election_id: int) -> p4runtime_pb2.StreamMessageRequest:
    message = p4runtime_pb2.StreamMessageRequest()
    message.arbitration.device_id = DEVICE_ID
    message.arbitration.election_id.low = election_id
    return message


# ---- bytes that are no requests ------------------------------------------------------------------


def test_bytes_that_are_no_grpc_are_nobodys_business(cabled, cabled_switch, good):
    host, port = cabled_switch.address.split(":")
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    noise = random.Random(1).randbytes(100_000)
    held = []

    def babble() -> None:
        for number in range(100):
            with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as connection:
                opening = (b"", preface, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01")[number % 4]
                try:
                    connection.sendall(opening + noise[number * 100 :][:10_000])
                except ConnectionError:
                    # It has heard enough.
                    continue

    def hold() -> None:
        # Connections that say nothing, or begin a message and never end it.
        for number in range(50):
            connection = socket.create_connection((host, int(port)), timeout=DEADLINE_S)
            connection.sendall(preface if number % 2 else b"")
            held.append(connection)

    withstand(cabled, good, [babble, babble, hold])
    for connection in held:
        connection.close()


def test_protobufs_that_are_no_requests_are_refused_one_by_one(cabled, cabled_switch, good):
    def send(seed: int) -> None:
        dice = random.Random(seed)
        valid = p4runtime_pb2.WriteRequest(device_id=DEVICE_ID)
        for number in range(20):
            entry = valid.updates.add(type=1).entity.table_entry
            entry.table_id = number
            entry.match.add(field_id=1).lpm.value = dice.randbytes(6)
            entry.action.action.params.add(param_id=1, value=dice.randbytes(3))
        whole = valid.SerializeToString()
        with grpc.insecure_channel(cabled_switch.address) as channel:
            for number in range(200):
                # Noise, a request cut short, a request with bytes changed.
                garbage = bytearray(whole[: dice.randrange(len(whole))])
                for _ in range(number % 3):
                    garbage[dice.randrange(len(garbage) or 1) : 1] = dice.randbytes(8)
                method = dice.choice(UNARY + STREAMING)
                request = bytes(garbage) if number % 2 else dice.randbytes(dice.randrange(300))
                try:
                    if method in UNARY:
                        channel.unary_unary(method)(request, timeout=DEADLINE_S)
                    else:
                        call = channel.unary_stream(method)(request, timeout=DEADLINE_S)
                        # A request that happens to be one streams until it is ended.
                        threading.Timer(0.2, call.cancel).start()
                        list(call)
                except grpc.RpcError as error:
                    assert error.code() not in (
                        grpc.StatusCode.DEADLINE_EXCEEDED,
                        grpc.StatusCode.UNAVAILABLE,
                    ), f"{method}: {error}"

    withstand(cabled, good, [lambda: send(1), lambda: send(2)])


# ---- too much ------------------------------------------------------------------------------------


def test_controllers_that_flood_wait_for_themselves(cabled, cabled_switch, good):
    entry = p4runtime_pb2.WriteRequest(device_id=DEVICE_ID)
    entry.election_id.low = 3
    for number in range(1000):
        entry.updates.add(type=1).entity.table_entry.table_id = number
    batch = entry.SerializeToString()
    everything = p4runtime_pb2.ReadRequest(device_id=DEVICE_ID)
    everything.entities.add().table_entry.table_id = 0
    everything.entities.add().register_entry.register_id = 0
    query = everything.SerializeToString()

    def flood(election_id: int) -> None:
        """A backup: it may read, and is refused whatever it writes or sends."""
        requests: queue.Queue = queue.Queue()
        requests.put(hello(election_id))
        packet = p4runtime_pb2.StreamMessageRequest()
        packet.packet.payload = bytes(1000)
        with grpc.insecure_channel(cabled_switch.address) as channel:
            stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
            answers = stub.StreamChannel(iter(requests.get, None))
            assert next(answers).arbitration.status.code != 0
            write, read = (channel.unary_unary(UNARY[3]), channel.unary_stream(STREAMING[0]))
            # Forty calls at once, again and again, and a packet-out with each.
            for _ in range(10):
                writes = [write.future(batch, timeout=DEADLINE_S) for _ in range(20)]
                reads = [read(query, timeout=DEADLINE_S) for _ in range(20)]
                for _ in range(100):
                    requests.put(packet)
                for call in writes:
                    assert call.code() == grpc.StatusCode.PERMISSION_DENIED
                for call in reads:
                    assert sum(1 for _ in call) > 0
            requests.put(None)

    withstand(cabled, good, [lambda low=low: flood(low) for low in (3, 4, 5)])


def test_streams_that_nobody_reads_lose_only_what_is_theirs(cabled, cabled_switch, session, good):
    # Packets to host 9 go to the controllers, which do not take them.
    to_controller = Entry(
        "ingress.exact_table",
        {"hdr.ethernet.dst_addr": Exact(9)},
        Call("ingress.to_controller"),
    )
    session.insert([to_controller])
    watching = router_pb2.WatchRequest(interval_ms=1, links=True, crossings=True)
    watching.queues.add(port=2)
    everything = p4runtime_pb2.ReadRequest(device_id=DEVICE_ID)
    everything.entities.add().table_entry.table_id = 0

    def hold() -> None:
        with grpc.insecure_channel(cabled_switch.address) as channel:
            router, stub = RouterStub(channel), p4runtime_pb2_grpc.P4RuntimeStub(channel)
            requests: queue.Queue = queue.Queue()
            requests.put(hello(2))
            held: list[grpc.Call] = [stub.StreamChannel(iter(requests.get, None))]
            held += [router.watch(watching) for _ in range(8)]
            held += [stub.Read(everything) for _ in range(20)]
            # 5000 packets of 1000 bytes for each stream: more than waits for one.
            frame = (9).to_bytes(6, "big") + bytes(6) + b"\x88\x01" + bytes(986)
            for number in range(5000):
                cabled[3].send(frame)
                if number % 100 == 0:
                    # The switch takes them as they come; this many at a time are not lost before
                    # it.
                    router.describe(router_pb2.DescribeRequest(ports=[3]), timeout=DEADLINE_S)
            for call in held:
                call.cancel()
            requests.put(None)

    withstand(cabled, good, [hold])


# ---- limits --------------------------------------------------------------------------------------


def open_stream(
    stub: p4runtime_pb2_grpc.P4RuntimeStub, election_id: int
) -> tuple[queue.Queue, grpc.Call]:
    """The stream of a controller that says hello; what it sends next goes into the queue."""
    requests: queue.Queue = queue.Queue()
    requests.put(hello(election_id))
    stream = stub.StreamChannel(iter(requests.get, None))
    return requests, stream


def refusal(call: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return raised.value.code(), raised.value.details()


def test_what_is_beyond_a_limit_is_refused_by_name(cabled, cabled_switch, good):
    exhausted = grpc.StatusCode.RESOURCE_EXHAUSTED

    def exceed() -> None:
        options = [("grpc.max_send_message_length", -1)]
        with grpc.insecure_channel(cabled_switch.address, options=options) as channel:
            too_long = bytes((64 << 20) + 1)
            code, details = refusal(lambda: channel.unary_unary(UNARY[3])(too_long))
            assert code in (exhausted, grpc.StatusCode.OUT_OF_RANGE)
            assert "67108864" in details

            router = RouterStub(channel)
            watching = router_pb2.WatchRequest(links=True)
            watchers = [router.watch(watching) for _ in range(32)]
            for watcher in watchers:
                next(watcher)
            code, details = refusal(lambda: next(router.watch(watching)))
            assert code == exhausted
            assert "32 clients watch already" in details
            for watcher in watchers:
                watcher.cancel()

            stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
            # One of 64 streams is the good controller's.
            streams = [open_stream(stub, election_id) for election_id in range(100, 163)]
            for _, stream in streams:
                assert next(stream).arbitration.status.code != 0
            _, one_too_many = open_stream(stub, 99)
            code, details = refusal(lambda: next(one_too_many))
            assert code == exhausted
            assert "64 streams are open" in details
            for requests, stream in streams:
                requests.put(None)
                stream.cancel()

    withstand(cabled, good, [exceed])


def test_a_queue_without_a_limit_is_bounded_by_the_memory_for_packets(tmp_path, cabled, driven):
    flags = [word for port, it in cabled.items() for word in ("-i", f"{port}@{it.device}")]
    with (
        running_switch(tmp_path, "--packet-memory", "1", *flags) as switch,
        Session.connect(switch.address, device_id=DEVICE_ID, election_id=1) as session,
    ):
        session.load(P4Info.load(driven.p4info), driven.json.read_bytes())
        session.insert([forward(2), forward(3)])
        queues = Queues(session)
        # At 1 b/s nothing follows the first. A frame of 1052 bytes takes 2076 with the 1024 beside
        # it, and a port gets no more once it holds more than is free: half of 1 MiB, 524,288 bytes,
        # holds 252 of them.
        endless = QueueSettings(limit=Limit(), shaper=BitShaper(1))
        queues.configure({3: PortSettings(every_queue=endless)})
        frame = (3).to_bytes(6, "big") + bytes(6) + b"\x88\x02" + bytes(1038)
        sent = 0

        def is_full() -> bool:
            nonlocal sent
            for _ in range(50):
                cabled[1].send(frame)
            sent += 50
            books = queues.describe().books
            (port,) = (it for it in books.ports if it.port == 1)
            dropped = {drop.reason: drop.tally.packets for drop in port.dropped}
            assert books.balanced
            return dropped.get(router_pb2.PACKET_MEMORY, 0) > 0

        wait.until(is_full, "a drop for want of memory", DEADLINE_S)
        assert len(cabled[3].receive(1)) == 1, "the first goes at once"
        assert queues.read([3]).ports[3].held_packets == 252
        # Room again: packets go on.
        queues.configure({3: PortSettings(every_queue=QueueSettings(shaper=OFF))})
        assert queues.read([3]).ports[3].departed_packets == 253
        cabled[1].send(frame)
        wait.until(
            lambda: queues.read([3]).ports[3].departed_packets == 254, "one more", DEADLINE_S
        )


# ---- a controller that dies ----------------------------------------------------------------------

BATCH_COUNT = 900

DYING = """
import sys
from pathlib import Path
from controller.entries import Call, Entry, Exact
from controller.p4info import P4Info
from controller.session import Session

address, device_id, info, json, count = sys.argv[1:]
session = Session.connect(address, device_id=int(device_id), election_id=2000)
session.use()
entries = [
    Entry("ingress.exact_table", {"hdr.ethernet.dst_addr": Exact(number)}, Call("ingress.drop"))
    for number in range(1000, 1000 + int(count))
]
while True:
    print("writing", flush=True)
    session.insert(entries)
    session.delete(entries)
"""


@pytest.mark.parametrize("delay_ms", [0, 3, 20])
def test_a_controller_that_is_killed_in_a_batch_leaves_all_of_it_or_nothing(
    cabled, cabled_switch, driven, session, delay_ms
):
    argv = [sys.executable, "-c", DYING, cabled_switch.address, str(DEVICE_ID)]
    argv += [str(driven.p4info), str(driven.json), str(BATCH_COUNT)]
    with Flow(cabled[1], cabled[2], to=2) as flow:
        dying = subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT, text=True)
        assert dying.stdout is not None
        for _ in range(2):
            assert dying.stdout.readline() == "writing\n"
        threading.Event().wait(delay_ms / 1000)
        os.kill(dying.pid, signal.SIGKILL)
        dying.wait()
        dying.stdout.close()
        # Its stream is gone, so the controller that was there before is primary again, and sees
        # a batch whole or not at all.
        wait.until(lambda: session.primary().is_us, "the first controller's return", DEADLINE_S)
        count = len(list(session.read("ingress.exact_table")))
        assert count in (0, BATCH_COUNT)
        flow.check()
    Good(session).balance(flow)


def test_the_garbage_of_these_tests_is_garbage():
    """Should protobuf ever take noise for requests, the tests above would test nothing."""
    dice = random.Random(1)
    taken = 0
    for _ in range(200):
        try:
            p4runtime_pb2.WriteRequest.FromString(dice.randbytes(300))
            taken += 1
        except DecodeError:
            pass
    assert taken < 20
