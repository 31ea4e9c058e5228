"""INT tells the truth: every value of every packet, against the routers' own records.

Three real routers carry TCP streams and bursts of datagrams through queues that overflow, and
report them in all three ways. Nothing here depends on how fast the machine is: a slow one lets
fewer packets meet in a queue, and each of them must still be told of exactly.
"""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from apps import domain as domains
from controller import classes
from controller.queues import Queues
from controller.session import Session
from labs.worlds.live import network as lab_network
from tests.live import isolation
from tests.live.truth import capture, lives, packets, recorder
from tests.live.truth.depths import Listener
from topo import wait
from topo.backend import CPU_PORT
from topo.load import load
from topo.process import Process

# All tests of the file look at one run.
pytestmark = pytest.mark.xdist_group("int truth")
DEADLINE_S = 120.0
PORT = 5001
SLOW_BPS, FAST_BPS = 20_000_000, 100_000_000
WINDOW_PS = 10 * 10**9
EVERYTHING = (
    "[node id, ports, hop latency, queue, ingress time, egress time, interfaces, utilisation, "
    "buffer]"
)

#   h1 ---- 1 s1 2 ---- 1 s2 2 ---- 1 s3 2 ---- h2      h1 and h2: 100 Mb/s,
#                        3                              all other lines 20 Mb/s
#                        +---- h9
# Queue 0 holds 30 packets of data and overflows, queue 1 is for IPv6 and reports and does not. The
# hosts' packets leave room for INT: 16 bytes, and 48 for each of two hops.
TOPOLOGY = """\
hosts:
  h1: {address: 10.0.1.1/24, address6: fd00:1::1/64, offloads: {tso: off, gso: off, tx: off}}
  h2: {address: 10.0.3.1/24, address6: fd00:3::1/64, offloads: {tso: off, gso: off, tx: off}}
  h9: {address: 10.0.9.1/24}
switches:
  s1:
    ports:
      1:
        address: [10.0.1.254/24, fd00:1::fe/64]
        queues: &queues {0: {limit: 30 packets}, 1: {limit: 9000 packets}}
      2: {address: 10.0.12.1/24, queues: *queues}
  s2:
    ports:
      1: {address: 10.0.12.2/24, queues: *queues}
      2: {address: 10.0.23.2/24, queues: *queues}
      3: {address: 10.0.9.254/24, queues: *queues}
  s3:
    ports:
      1: {address: 10.0.23.3/24, queues: *queues}
      2: {address: [10.0.3.254/24, fd00:3::fe/64], queues: *queues}
links:
  - {ends: [h1, "s1:1"], rate: 100 Mb/s, mtu: 1380 B}
  - {ends: ["s1:2", "s2:1"], rate: 20 Mb/s}
  - {ends: ["s2:2", "s3:1"], rate: 20 Mb/s}
  - {ends: ["s3:2", h2], rate: 100 Mb/s, mtu: 1380 B}
  - {ends: ["s2:3", h9], rate: 20 Mb/s}
"""
# Half of the data queue's limit, and a quota that several packets exhaust.
CONGESTED_BYTES, CONGESTION_REPORTS = 8_000, 5
DOMAIN = f"""\
nodes: {{s1: 1, s2: 2, s3: 3}}
collector: h9
watch:
  - {{flow: {{destination: "fd00::/16"}}, mode: mx, collect: {EVERYTHING}}}
  - {{flow: {{protocol: udp}}, mode: postcards, collect: {EVERYTHING}}}
  - {{flow: {{protocol: tcp}}, mode: md, hops: 5, collect: {EVERYTHING}}}
drops: {{every: 1 us, all flows: yes}}
congestion: {{above: {CONGESTED_BYTES} B, reports: {CONGESTION_REPORTS}}}
report queue: 1
"""
V6 = ipaddress.ip_network("fd00::/16")
PYTHON = [sys.executable, "-m"]
RECORDER = [*PYTHON, "tests.live.truth.recorder"]
# Connections that still have something to say; TIME-WAIT has said it.
SOCKETS = ["ss", "-Htan", "state", "connected", "exclude", "time-wait"]
EXCHANGE = [*PYTHON, "tests.live.truth.exchange"]
COLLECTOR = [*PYTHON, "apps.collector", "--listen", "0.0.0.0", "--parquet"]
AS_ON_A_WIRE = ["tso", "off", "tx-udp-segmentation", "off", "tx", "off"]
# By far more than the queues hold, and over in seconds.
STREAM_BYTES, SMALL_STREAM_BYTES = 1_500_000, 300_000
BURSTS, BURST_DATAGRAMS = 5, 120
NODES = {"s1": 1, "s2": 2, "s3": 3}
HOST_PORTS = {("s1", 1), ("s3", 2)}
ROUTER_LINKS = [("s1", 2, "s2", 1), ("s2", 2, "s3", 1)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run of everything; the tests look at what it left."""
    folder = tmp_path_factory.mktemp("truth")
    for name, text in (("topology", TOPOLOGY), ("domain", DOMAIN)):
        (folder / f"{name}.yaml").write_text(text)
    with isolation.run_folder():
        return Run(folder)


class Run:
    """Traffic through three routers, and all participants' records of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reports = folder / "reports.parquet"
        topology, domain = load(folder / "topology.yaml"), domains.load(folder / "domain.yaml")
        with contextlib.ExitStack() as stack:
            self.network, self.sessions = stack.enter_context(
                lab_network.programmed(
                    topology, logs=folder, domain=domain, captures=folder / "captures"
                )
            )
            for session in self.sessions.values():
                session.insert(classes.entries([classes.Rule(1, protocol=classes.TCP, src=V6)]))
            for switch, port in HOST_PORTS:
                # Else neighbours reach the host as one long packet, and checksums unfinished: what
                # the kernel saves itself between two ends of one machine.
                command = ["ethtool", "-K", f"{switch}-eth{port}", *AS_ON_A_WIRE]
                subprocess.run(command, check=True)
            self._collector = self._start("h9", [*COLLECTOR, str(self._reports)], "reports on udp")
            self._recorders = [
                self._start(host, [*RECORDER, f"{host}-eth0", str(self._frames(host))], "recording")
                for host in ("h1", "h2")
            ]
            queues = {
                name: [(port.number, queue) for port in switch.ports for queue in (0, 1)]
                for name, switch in ((each.name, each) for each in topology.switches)
            }
            listeners = {
                name: stack.enter_context(Listener(session, [*queues[name], (CPU_PORT, 0)]))
                for name, session in self.sessions.items()
            }
            self._talk()
            wait.until(self._is_at_rest, "the last packet's arrival", DEADLINE_S)
            for name, session in self.sessions.items():
                listeners[name].wait_until(Queues(session).describe().time_ps, DEADLINE_S)
            self.dropped = {name: _dropped(session) for name, session in self.sessions.items()}
            self.counters = {host: self._counters(host) for host in ("h1", "h2")}
            for process in (*self._recorders, self._collector):
                process.finish(process.argv[-1], DEADLINE_S)
        self.words = self._collector.log.read_text()
        self.lost_frames = [process.log.read_text().splitlines()[-1] for process in self._recorders]
        self.captured = {name: capture.read(folder / f"captures/{name}.pcapng") for name in NODES}
        self.ends = {
            NODES[name]: lives.of_router(
                self.captured[name],
                listeners[name].departures,
                rate_bps={
                    port: FAST_BPS if (name, port) in HOST_PORTS else SLOW_BPS
                    for port in (1, 2, 3, CPU_PORT)
                },
                window_ps=WINDOW_PS,
            )
            for name in NODES
        }
        rows = pq.read_table(self._reports).to_pylist()
        # A congested queue makes a report of its own, or marks one that is made anyway.
        self.rows = [row for row in rows if row["tracked"]]
        self.congested = [row for row in rows if row["congested"]]
        self.drops = [row for row in rows if row["dropped"]]

    def _start(self, host: str, argv: list[str], ready: str) -> Process:
        """A program in a host that has said that it is ready."""
        started = self.network.host(host).start(argv, self.folder / f"{host}-{len(ready)}.log")
        wait.until(
            lambda: ready in started.log.read_text() or started.has_ended(),
            f"{argv[2]} saying {ready!r}",
            DEADLINE_S,
        )
        assert not started.has_ended(), started.last_words()
        return started

    def _frames(self, host: str) -> Path:
        return self.folder / f"{host}.frames"

    def frames(self, host: str) -> list[packets.Packet]:
        """The TCP and UDP packets at a host, both ways."""
        found = map(packets.of_frame, recorder.read(self._frames(host)))
        return [packet for packet in found if packet is not None]

    def is_from(self, host: str, packet: packets.Packet) -> bool:
        """Whether a host sent the packet."""
        own = self.network.topology.host(host)
        address = own.address if packet.version == 4 else own.address6
        return packet.addresses.startswith(address.ip.packed)

    def _talk(self) -> None:
        """Streams and bursts at once, and a last word that comes behind everything else."""
        self._start("h2", [*EXCHANGE, "serve", str(PORT)], "serving")
        h1, h2 = self.network.host("h1"), self.network.topology.host("h2")
        ipv4, ipv6 = str(h2.address.ip), str(h2.address6.ip)

        def stream(address: str, size: int) -> Process:
            log = self.folder / f"stream-{size}.log"
            return h1.start([*EXCHANGE, "stream", address, str(PORT), str(size)], log)

        streams = [stream(ipv4, STREAM_BYTES), stream(ipv6, SMALL_STREAM_BYTES)]
        for _ in range(BURSTS):
            h1.run([*EXCHANGE, "burst", ipv4, str(PORT), str(BURST_DATAGRAMS)], DEADLINE_S)
        for process in streams:
            process.wait("a stream", DEADLINE_S)
        stream(ipv4, 1).wait("the last word", DEADLINE_S)

    def _is_at_rest(self) -> bool:
        """Whether every packet has arrived or is dropped, and every report is read."""
        connections = [self.network.host(host).run(SOCKETS) for host in ("h1", "h2")]
        books = {name: Queues(session).describe().books for name, session in self.sessions.items()}
        ports = {(name, port.port): port for name, each in books.items() for port in each.ports}
        on_cables = sum(
            ports[a, m].transmitted.packets - ports[b, n].received.packets
            for left, i, right, k in ROUTER_LINKS
            for a, m, b, n in ((left, i, right, k), (right, k, left, i))
        )
        held = sum(each.held_packets for each in books.values())
        reports = ports["s2", 3].transmitted.packets - self._counters("h9")["Udp.InDatagrams"]
        return not any(connections) and on_cables == held == reports == 0

    def _counters(self, host: str) -> dict[str, int]:
        """The kernel's own: Tcp.InCsumErrors and the like."""
        shown = self.network.host(host).run(["cat", "/proc/net/snmp", "/proc/net/snmp6"])
        found = {}
        lines = shown.splitlines()
        for names, values in itertools.pairwise(lines):
            kind, colon, rest = names.partition(": ")
            if colon and values.startswith(f"{kind}: ") and not rest[0].isdigit():
                numbers = map(int, values.split()[1:])
                found |= {
                    f"{kind}.{name}": number
                    for name, number in zip(rest.split(), numbers, strict=True)
                }
            elif len(names.split()) == 2 and not colon:
                name, number = names.split()
                found[name] = int(number)
        return found


def _dropped(session: Session) -> Counter[tuple[int, str]]:
    """The router's own counters: packets by port and reason."""
    ports = Queues(session).read().ports
    return Counter(
        {
            (port, reason): packets
            for port, state in ports.items()
            for reason, packets in state.dropped_packets.items()
        }
    )


def told(row: dict) -> dict[str, int | None]:
    """A collector's row on a packet at a node."""
    return {name: row[name] for name in VALUES}


def true(node: int, life: lives.Life) -> dict[str, int | None]:
    """The same from the router's own records."""
    return {
        "node_id": node,
        "ingress_port": life.ingress_port,
        "egress_port": life.egress_port,
        "ingress_interface": life.ingress_port,
        "egress_interface": life.egress_port,
        "hop_latency": life.egress_ns - life.ingress_ns,
        "queue_id": life.queue,
        "queue_occupancy": life.queue_bytes,
        "ingress_time": life.ingress_ns,
        "egress_time": life.egress_ns,
        "egress_utilisation": life.utilisation,
        "buffer_id": 0,
        "buffer_occupancy": life.router_bytes,
    }


VALUES = tuple(true(0, lives.Life((), 0, 0, 0, 0, 0, 0, 0, 0)))


def watched(run: Run) -> dict[tuple[int, int, int], lives.Life]:
    """The life of every watched packet by where and when it left; reports in transit are none."""
    collector = ipaddress.ip_address("10.0.9.1").packed
    return {
        (node, life.egress_port, life.egress_ns): life
        for node, ends in run.ends.items()
        for life in ends.lives
        if not life.identity[0].endswith(collector)
    }


def test_every_value_of_every_row_is_what_the_router_recorded(run):
    truth = watched(run)
    for row in run.rows:
        place = (row["node_id"], row["egress_port"], row["egress_time"])
        assert told(row) == true(row["node_id"], truth[place])
    # Equal to nothing is no equality: packets have waited behind others.
    assert max(row["queue_occupancy"] for row in run.rows) > 3000
    assert {row["queue_id"] for row in run.rows} == {0, 1}


def test_no_packet_is_reported_twice_or_missed(run):
    """Every node reports each packet exactly once, in the packet or in a report of its own."""
    told_of = Counter((row["node_id"], row["egress_port"], row["egress_time"]) for row in run.rows)
    assert told_of == Counter(watched(run).keys())
    assert "; 0 missing in sequence, 0 dropped here, 0 malformed" in run.words


def test_the_rows_of_a_report_are_the_way_of_one_packet(run):
    truth = watched(run)
    reports = defaultdict(list)
    for row in run.rows:
        life = truth[row["node_id"], row["egress_port"], row["egress_time"]]
        reports[row["reporter"], row["sequence"]].append((row["hop"], row["node_id"], life))
    ways = Counter()
    for rows in reports.values():
        hops, nodes, told_lives = zip(*sorted(rows, key=lambda row: row[0]), strict=True)
        assert hops == tuple(range(len(rows)))
        assert len({life.identity for life in told_lives}) == 1
        ways[nodes] += 1
    # INT-MD in both directions; the other kinds report from every node.
    assert set(ways) == {(1, 2, 3), (3, 2, 1), (1,), (2,), (3,)}


def test_every_packet_that_a_queue_dropped_is_reported_with_queue_and_reason(run):
    told_of = Counter(
        (
            row["node_id"],
            lives.Drop(
                row["ingress_port"],
                row["egress_port"],
                row["queue_id"],
                row["drop_reason"],
                row["ingress_time"],
            ),
        )
        for row in run.drops
    )
    assert told_of == Counter(
        (node, drop) for node, ends in run.ends.items() for drop in ends.drops
    )
    # And as many as the router's counters say, port by port.
    for name, node in NODES.items():
        of_node = [row for row in run.drops if row["node_id"] == node]
        counts = Counter((row["egress_port"], row["drop_reason"]) for row in of_node)
        assert counts == run.dropped[name]


def test_a_congested_queue_is_reported_until_its_quota_is_used_up(run):
    """The quota is of one event, which ends when a packet leaves less than the threshold behind."""
    expected, truth = set(), watched(run)
    for node, ends in run.ends.items():
        reports = Counter()
        for life in ends.lives:
            queue = (life.egress_port, life.queue)
            if (node, life.egress_port, life.egress_ns) not in truth:
                continue
            if life.queue_bytes < CONGESTED_BYTES:
                reports[queue] = 0
            elif reports[queue] < CONGESTION_REPORTS:
                reports[queue] += 1
                expected.add((node, life.egress_port, life.egress_ns))
    # Of a report on a packet with INT in it the last row is that of the node that reports.
    told_of = Counter(
        (row["node_id"], row["egress_port"], row["egress_time"]) for row in last_rows(run.congested)
    )
    assert told_of == Counter(expected)
    assert all(told(row)["queue_occupancy"] >= CONGESTED_BYTES for row in last_rows(run.congested))


def last_rows(rows: list[dict]) -> list[dict]:
    """Of each report the row of the node that sent it."""
    last = {(row["reporter"], row["sequence"]): row for row in rows}
    return list(last.values())


def test_behind_the_sink_every_packet_is_what_its_host_sent(run):
    assert run.lost_frames == ["dropped 0", "dropped 0"]
    frames = {host: run.frames(host) for host in ("h1", "h2")}
    for sender, receiver in (("h1", "h2"), ("h2", "h1")):
        sent = Counter(each.unrouted for each in frames[sender] if run.is_from(sender, each))
        arrived = Counter(each.unrouted for each in frames[receiver] if run.is_from(sender, each))
        assert not arrived - sent
        # The difference is what the routers say they dropped.
        dropped = Counter(
            packet.identity
            for captured in run.captured.values()
            for packet in (packets.of_frame(frame.data) for frame in captured if frame.reason)
            if packet is not None and run.is_from(sender, packet)
        )
        assert (sent - arrived).total() == dropped.total()
        assert arrived


def test_the_hosts_kernels_find_no_checksum_wrong(run):
    for counters in run.counters.values():
        assert counters["Tcp.InCsumErrors"] == counters["Udp.InCsumErrors"] == 0
        assert counters["Tcp.InErrs"] == counters["Ip.InHdrErrors"] == 0
        assert counters["Tcp.InSegs"] > 0
