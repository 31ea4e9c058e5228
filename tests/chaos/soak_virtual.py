"""The soak of a network in virtual time: a day in minutes.

It is the network of chaos again, with so slow a line between the routers that a day of it can be
computed; one TCP connection, many short ones, datagrams, pings, telemetry and tables that change
all the time. What grows with all that has happened, not with what is there, is found here, and what
goes wrong when numbers wrap: TCP's, IP's, those of ports. Time is virtual, so what is measured of
the network is the same each time; memory and processor time are those of the process.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from vitrine.v1 import world_pb2

from apps import domain as domains
from controller.queues import Queues
from controller.telemetry.store import Store
from controller.world import PS_PER_S, World
from labs.narration import Narrator
from labs.worlds.virtual.bench import VirtualBench
from labs.worlds.virtual.telemetry import ReportWatch
from tests.chaos import holdings
from tests.chaos.churn import Churn
from tests.chaos.errors import LawError
from tests.chaos.series import TIME, Row, Series
from topo import load

HERE = Path(__file__).parent
# Of the line between the routers. A day is 16 GB, in which the numbers of TCP wrap three times.
_RATE_BPS = 1_500_000
_SAMPLE_COUNT = 1000
# Between two looks at the network.
_BATCHES = 2
_SEED = 24
RECEIVER = "h2"
_TCP_PORT, _UDP_PORT, _PAGE_PORT = 7001, 7002, 80
_DATAGRAM_BYTES, _DATAGRAMS_PER_S = 600, 5
# In a day half as many connections again as a host has ports for.
_PAGE = world_pb2.Exchange(request_bytes=120, response_bytes=5000)
_PAGE_EVERY_NS = 2_000_000_000
# In the first tenth of a day as many as a report keeps.
_PING_EVERY_NS = 125_000_000
_ROWS_MAX = 10_000
_MIB, _KIB = 1 << 20, 1 << 10
# How long the last packets may take to arrive.
_DRAIN_S = 60


def run(folder: Path, seconds: float, series: Series, samples: int = _SAMPLE_COUNT) -> None:
    """Runs the network for `seconds`; raises if a law does not hold meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    topology = load.load(HERE / "network.yaml")
    for switch, port in (("s1", 2), ("s2", 1)):
        topology = topology.with_settings(switch, port, rate_bps=_RATE_BPS)
    domain = domains.load(HERE / "domain.yaml")
    with ExitStack() as stack:
        # Tests that share this process may have worlds of their own.
        others = set(holdings.children())
        bench = stack.enter_context(VirtualBench(folder, Narrator([], io.StringIO()), seed=_SEED))
        bench.bring_up(topology, domain)
        reports = ReportWatch(bench.world, domain)
        reports.collection.store = Store(_ROWS_MAX)
        stack.enter_context(reports)
        routers = [switch.name for switch in topology.switches]
        (pid,) = set(holdings.children()) - others
        soaking = Soaking(bench, pid, routers, reports)
        for number in range(1, samples + 1):
            soaking.advance(round(seconds * PS_PER_S * number / samples))
            series.add(soaking.look())
        soaking.end()


class Soaking:
    """A network at work, and what has been seen of it."""

    def __init__(
        self, bench: VirtualBench, pid: int, routers: Sequence[str], reports: ReportWatch
    ) -> None:
        """`pid` is the process of the bench's world."""
        self._world, self._pid, self._reports = bench.world, pid, reports
        self._queues = {name: Queues(bench.session(name)) for name in routers}
        self._churns = {name: Churn(bench.session(name)) for name in routers}
        self._time_ps = self._world.look().time_ps
        self._zero_ps = self._before_ps = self._time_ps
        self._sender, self._receiver, self._sink = _begin(self._world)
        self._bytes = self._delayed_ps = self._datagrams = 0
        self._processor_s = holdings.processor_s(self._pid)

    def advance(self, until_ps: int) -> None:
        """Lets time pass until `until_ps` after the beginning; tables change meanwhile."""
        step_ps = (self._zero_ps + until_ps - self._time_ps) // _BATCHES
        for _ in range(_BATCHES):
            self._time_ps = self._world.advance(step_ps).time_ps
            self._reports.wait_for(self._time_ps)
            for churn in self._churns.values():
                churn.batch()

    def look(self) -> Row:
        """A sample: the state, and the changes since the last; raises if a law does not hold."""
        self._check()
        row = Row()
        row[TIME] = (self._time_ps - self._zero_ps) / PS_PER_S
        span_s = (self._time_ps - self._before_ps) / PS_PER_S
        for name, pid in (("worker", self._pid), ("controller", os.getpid())):
            held = holdings.Holdings.of(pid)
            row[f"{name} MiB"] = held.resident_bytes / _MIB
            row[f"{name} descriptors"] = held.descriptors
            row[f"{name} threads"] = held.threads
        processor_s = holdings.processor_s(self._pid)
        row["worker processor ms"] = 1000 * (processor_s - self._processor_s) / span_s
        look = self._world.look(connections=True)
        row["connections"] = sum(len(host.connections) for host in look.hosts)
        row["hosts told KiB"] = look.ByteSize() / _KIB
        for name, queues in self._queues.items():
            row[f"{name} told KiB"] = queues.describe().ByteSize() / _KIB
        received = self._received()
        listener = received[self._receiver].listener
        if (listener.accepted, listener.over) != (1, 0):
            raise LawError("the one TCP connection did not last.")
        carried = listener.received_bytes
        row["TCP Mb/s"] = (carried - self._bytes) * 8e-6 / span_s
        flow = received[self._sink].datagram_sink.flows[0]
        delayed_ps = flow.received * flow.delay_mean_ps
        came = flow.received - self._datagrams
        row["delay mean ms"] = (delayed_ps - self._delayed_ps) / came / 1e9 if came else 0.0
        self._before_ps, self._processor_s, self._bytes = self._time_ps, processor_s, carried
        self._delayed_ps, self._datagrams = delayed_ps, flow.received
        return row

    def end(self) -> None:
        """Lets everything arrive that is under way: as many bytes as were acknowledged."""
        sent = self._world.stop(self._sender).bulk
        self.advance(self._time_ps - self._zero_ps + _DRAIN_S * PS_PER_S)
        self._check()
        came = self._received()[self._receiver].listener.received_bytes
        if came < sent.acked_bytes:
            raise LawError(f"of {sent.acked_bytes} bytes that TCP acknowledged {came} came.")

    def _received(self) -> dict[int, world_pb2.AppReport]:
        """Reports of the receiver's applications; those of other hosts are long."""
        return {each.app: each for each in self._world.look([RECEIVER], apps=True).apps}

    def _check(self) -> None:
        look = self._world.look()
        if not look.books.balanced:
            raise LawError("the network's books do not balance.")
        for host in look.hosts:
            if not host.books.balanced:
                raise LawError(f"the books of {host.host} do not balance.")
            if host.books.wrong_payload:
                raise LawError(f"{host.host} got {host.books.wrong_payload} wrong payloads.")
        for name, queues in self._queues.items():
            if not queues.describe().books.balanced:
                raise LawError(f"the books of {name} do not balance.")
        for name, churn in self._churns.items():
            wrong = churn.wrong or [said for said in [churn.check()] if said]
            if wrong:
                raise LawError(f"{name}: {'; '.join(wrong)}")
        collection = self._reports.collection
        lost = sum(books.lost for _, books in collection.senders.items())
        if lost or collection.malformed or not collection.datagrams:
            raise LawError(
                f"of {collection.datagrams} reports {collection.malformed} are malformed, and "
                f"{lost} are missing."
            )


def _begin(world: World) -> tuple[int, int, int]:
    """Everybody talks; the applications that send and receive TCP, and that receive datagrams."""
    pages = world_pb2.Listener(port=_PAGE_PORT, answers=_PAGE)
    world.start(RECEIVER, world_pb2.App(listener=pages))
    listener = world_pb2.Listener(port=_TCP_PORT)
    receiver = world.start(RECEIVER, world_pb2.App(listener=listener))
    bulk = world_pb2.Bulk(to=world_pb2.Peer(host=RECEIVER, port=_TCP_PORT))
    sender = world.start("h1", world_pb2.App(bulk=bulk))
    datagram_sink = world_pb2.DatagramSink(port=_UDP_PORT)
    sink = world.start(RECEIVER, world_pb2.App(datagram_sink=datagram_sink))
    rate_bps = 8 * _DATAGRAM_BYTES * _DATAGRAMS_PER_S
    source = world_pb2.DatagramSource(
        to=world_pb2.Peer(host=RECEIVER, port=_UDP_PORT),
        payload_bytes=_DATAGRAM_BYTES,
        poisson=world_pb2.DatagramSource.Poisson(rate_bps=rate_bps),
    )
    world.start("h3", world_pb2.App(datagram_source=source))
    page = world_pb2.Page(exchange=_PAGE, count=1 << 62, pause_ns=_PAGE_EVERY_NS, random_pause=True)
    getattr(page, "from").add(host=RECEIVER, port=_PAGE_PORT)
    world.start("h3", world_pb2.App(page=page))
    ping = world_pb2.Ping(to="h1", interval_ns=_PING_EVERY_NS)
    world.start("h3", world_pb2.App(ping=ping))
    return sender, receiver, sink
