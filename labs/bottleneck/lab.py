"""The first lab: one TCP flow from h1 to h2 through a slow line, and the queue before it.

Set-up, measurement and result are three functions: `network`, `measure`, `report`. The settings
come from the environment, where `make run RATE=5mbit QUEUE=20` puts them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from controller.apps import router
from controller.p4info import P4Info
from controller.queues import Queues
from controller.session import Session
from labs import report as report_files
from labs.sampling import Reading, Recorder, busy, throughput_bps, write_csv
from labs.view import LiveView, Subject
from topo import load, units, wait
from topo.errors import ProcessError, UnitError
from topo.live import LiveHost, LiveNetwork
from topo.model import Topology
from topo.process import Process

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build" / "p4" / "router.json"
PROGRAM_INFO = ROOT / "build" / "p4" / "router.p4info.txtpb"

# The port of s1 toward h2: the bottleneck.
BOTTLENECK = 2
# 5 ms see four packets of 1500 bytes leave at 10 Mb/s, fine enough for every tooth of the saw.
SAMPLE_INTERVAL_MS = 5
REDRAW_S = 0.1
IPERF_PORT = 5201
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Settings:
    """What a user can change; the defaults of rate and queue stand in topology.yaml."""

    rate_bps: int | None = None
    queue_packets: int | None = None
    duration_s: int = 15
    congestion: str = "reno"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Reads RATE, QUEUE, DURATION and CONGESTION; QUICK shortens the run for tests."""

        def given(name: str, unit: str, parse: Callable[[str], int]) -> int | None:
            text = environment.get(name)
            if not text:
                return None
            # `make run QUEUE=20` needs no unit: `make help` says what is counted.
            value = parse(f"{text} {unit}" if unit and text.isdigit() else text)
            if value == 0:
                raise UnitError(f"{name} is 0, and nothing would get through: give more.")
            return value

        duration_ns = given("DURATION", "s", units.span_ns)
        if duration_ns is None:
            duration_s = 4 if environment.get("QUICK") else cls.duration_s
        else:
            # iperf3 counts whole seconds; a part of one is rounded up.
            duration_s = -(-duration_ns // NS_PER_S)
        return cls(
            rate_bps=given("RATE", "", units.rate_bps),
            queue_packets=given("QUEUE", "packets", units.packets),
            duration_s=duration_s,
            congestion=environment.get("CONGESTION") or cls.congestion,
        )


@dataclass(frozen=True)
class Measurement:
    """What was seen from outside (iperf3, ping) and inside (the switch)."""

    subject: Subject
    settings: Settings
    readings: list[Reading]
    received_bps: float
    retransmits: int
    ping_idle_ms: float
    ping_loaded_ms: float


def topology(settings: Settings) -> Topology:
    """The lab's network with the user's rate and queue at the bottleneck."""
    base = load.load(Path(__file__).with_name("topology.yaml"))
    (s1,) = base.switches
    port = s1.port(BOTTLENECK)
    changed = dataclasses.replace(
        port,
        rate_bps=settings.rate_bps or port.rate_bps,
        queue_packets=settings.queue_packets or port.queue_packets,
    )
    ports = tuple(changed if each == port else each for each in s1.ports)
    return dataclasses.replace(base, switches=(dataclasses.replace(s1, ports=ports),))


@contextlib.contextmanager
def network(settings: Settings, *, logs: Path) -> Iterator[tuple[LiveNetwork, Session]]:
    """The lab's network, up, with its router programmed."""
    lab_topology = topology(settings)
    (s1,) = lab_topology.switches
    # Read before anything is built: a program that was never compiled is the user's first mistake.
    program, config = P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes()
    with LiveNetwork(lab_topology, logs=logs) as live:
        if live.cleaned:
            print(f"[vitrine] {live.cleaned}", file=sys.stderr)
        with Session.connect(live.address("s1"), device_id=s1.device_id) as session:
            session.load(program, config)
            router.program(session, lab_topology, s1)
            yield live, session


def measure(live: LiveNetwork, session: Session, settings: Settings) -> Measurement:
    """One flow of iperf3 with the bottleneck's queue recorded and shown while it runs."""
    h1, h2 = live.host("h1"), live.host("h2")
    port = live.topology.switch("s1").port(BOTTLENECK)
    subject = Subject(
        title=f"s1 port 2 toward h2: line {units.format_rate(port.rate_bps)}, "
        f"queue limit {port.queue_packets} packets, TCP {settings.congestion}",
        line_rate_bps=port.rate_bps,
        limit_packets=port.queue_packets,
    )
    ping_idle_ms = mean_ping_ms(_ping(h1, h2, 1).wait("ping", 30))
    for host in (h1, h2):
        host.set_congestion_control(settings.congestion)
    h2.start(["iperf3", "-s", "-1", "-p", str(IPERF_PORT)], live.logs / "h2-iperf3.log")
    wait.until(lambda: h2.listens_on(IPERF_PORT), "iperf3 listening in h2", 10)

    queues = Queues(session)
    with Recorder(queues, port=BOTTLENECK, interval_ms=SAMPLE_INTERVAL_MS) as recorder:
        view = LiveView(subject, sys.stdout)
        ping = _ping(h1, h2, settings.duration_s)
        client = h1.start(
            _iperf_client(str(h2.address), settings),
            live.logs / "h1-iperf3.json",
        )
        # The queue has to drain and the server has to answer after the last byte was sent.
        deadline_s = settings.duration_s + 30
        while not wait.holds_within(client.has_ended, REDRAW_S):
            recorder.check()
            view.show(recorder.readings)
            if recorder.readings and recorder.readings[-1].time_s > deadline_s:
                raise ProcessError("iperf3 in h1 does not end: see its log.")
        output = client.wait("iperf3 in h1", deadline_s)
        ping_loaded_ms = mean_ping_ms(ping.wait("ping", deadline_s))
    if not recorder.readings:
        raise ProcessError("the router sent no sample of its queues while the flow ran.")
    received_bps, retransmits = parse_iperf(output)
    return Measurement(
        subject,
        settings,
        recorder.readings,
        received_bps,
        retransmits,
        ping_idle_ms,
        ping_loaded_ms,
    )


def report(result: Measurement, folder: Path) -> str:
    """Writes table, picture and readings into `folder`; returns the table."""
    folder.mkdir(parents=True, exist_ok=True)
    table = report_files.table(rows(result))
    (folder / "table.md").write_text(f"# {result.subject.title}\n\n{table}\n")
    report_files.draw_queue(result.subject, result.readings, folder / "queue.png")
    write_csv(result.readings, folder / "queue.csv")
    return table


def rows(result: Measurement) -> list[tuple[str, str]]:
    """The table: what was set, what the hosts saw, what the router saw."""
    subject, readings = result.subject, result.readings
    depths = [reading.depth_packets for reading in readings]
    # A full queue of full frames: each waits for all before it, 1514 bytes of Ethernet apiece.
    full_ms = subject.limit_packets * 1514 * 8 / subject.line_rate_bps * 1000
    return [
        ("line toward h2", units.format_rate(subject.line_rate_bps)),
        ("queue limit", f"{subject.limit_packets} packets"),
        ("h2 received (iperf3, payload)", units.format_rate(result.received_bps)),
        ("while busy the line carried (frames)", units.format_rate(throughput_bps(busy(readings)))),
        ("packets the router dropped", str(readings[-1].dropped_packets)),
        ("segments TCP sent again", str(result.retransmits)),
        ("queue, mean", f"{sum(depths) / len(depths):.1f} packets"),
        ("queue, highest", f"{max(depths)} packets"),
        ("a full queue delays by", f"{full_ms:.1f} ms"),
        ("ping before the flow, mean", f"{result.ping_idle_ms:.1f} ms"),
        ("ping during the flow, mean", f"{result.ping_loaded_ms:.1f} ms"),
    ]


def mean_ping_ms(output: str) -> float:
    """The mean of ping's last line: rtt min/avg/max/mdev = 0.05/0.07/0.09/0.01 ms."""
    match = re.search(r"= [\d.]+/([\d.]+)/", output)
    if match is None:
        raise ProcessError("ping got no answer: the router does not forward between h1 and h2.")
    return float(match.group(1))


def parse_iperf(output: str) -> tuple[float, int]:
    """What the receiver got, in bits a second, and how many segments were sent again."""
    end = json.loads(output)["end"]
    return end["sum_received"]["bits_per_second"], end["sum_sent"]["retransmits"]


def _iperf_client(address: str, settings: Settings) -> list[str]:
    flow = ["-t", str(settings.duration_s), "-C", settings.congestion]
    return ["iperf3", "-c", address, "-p", str(IPERF_PORT), "--json", *flow]


def _ping(source: LiveHost, target: LiveHost, duration_s: int) -> Process:
    """Five pings a second, for `duration_s`; one lost at the full queue does not fail the rest."""
    argv = ["ping", "-n", "-q", "-i", "0.2", "-c", str(duration_s * 5), "-w", str(duration_s + 5)]
    # Its own log file each time: the process writes into it while the next may start.
    log = source.logs / f"{source.name}-ping-{duration_s}.log"
    return source.start([*argv, str(target.address)], log)
