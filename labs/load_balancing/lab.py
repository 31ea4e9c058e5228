"""Load balancing: two flows, two equally good paths, and three ways to choose one.

Part A lets two TCP flows run whose hashes lead to the same path: under ECMP, with flowlets, and
with a choice that knows of the queues. Part B lets both hosts send bursts with pauses between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from apps import balancing
from apps.balancing import Method
from labs import palette
from labs.bench import LEAD_S, Bench, Instruments
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.frames import FRAME_BYTES
from labs.load_balancing import theory
from labs.measure.router import PortSeries
from labs.recording import Flow, Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load
from topo.model import Topology

# The first routers of both directions, and the ports of s1 at which its paths begin.
EDGES = ("s1", "s4")
PATHS = (3, 4)
PORTS = tuple(f"s1-eth{port}" for port in PATHS)
FLOWS = (("h1", "h3"), ("h2", "h4"))
# Longer than the paths can differ by: a full queue of 64 packets delays by 71 ms.
PAUSE_S = 0.080
# A packet finds a path full if this many are in its queue.
FULL_PACKETS = 40
# How long queues have to show the effect after a flow has moved.
HOLD_S = 1.0
# A full queue is found out within some round trips, once TCP has filled it again after a loss.
MOVED_S = 1.5
CONGESTION = "cubic"
# In part A telemetry decides only from here on, so that the queue can be seen before and after.
SWITCHED_S = 5.0
# Part A is judged once slow start, the first losses and the move are over.
SETTLED_S = 8.0
WINDOW_S = 0.5
# Part B: datagrams at once, their length as frames, and how often, by both hosts together.
BURST, BURST_EVERY_S = 20, 0.150
HEADERS_BYTES = 42
# A burst has met another one if it left this share of the queue that theory expects.
MET_PART = 0.5


@dataclass(frozen=True)
class _Part:
    """A run: how paths are chosen, and what is sent."""

    name: str
    title: str
    method: Method
    is_bursts: bool = False


PARTS = (
    _Part("ecmp", "ECMP", Method.ECMP),
    _Part("flowlets", "flowlets", Method.FLOWLETS),
    _Part("aware", "congestion-aware", Method.CONGESTION_AWARE),
    _Part("bursts-ecmp", "bursts, ECMP", Method.ECMP, is_bursts=True),
    _Part("bursts-flowlets", "bursts, flowlets", Method.FLOWLETS, is_bursts=True),
)
LONG = tuple(part for part in PARTS if not part.is_bursts)
SHORT = tuple(part for part in PARTS if part.is_bursts)


class LoadBalancing(SettlingLab):
    """Which of two roads."""

    name: ClassVar = "load-balancing"
    title: ClassVar = "Load balancing: a hash, a pause, and what the queues say"
    summary: ClassVar = "ECMP, flowlets, congestion-aware: two flows on one of two paths"
    question: ClassVar = "Two paths are equally good: how does a router use both of them?"
    look_for: ClassVar = (
        "Under ECMP both flows have the same path for as long as they live, and the other one is "
        "empty.",
        "Flowlets need pauses: flows that never stop keep their path, bursts change it.",
        "In the third run packets report the full queue from second 5 on: one of the flows moves, "
        "and each has a path to itself.",
    )
    original: ClassVar = "no single text: ECMP (RFC 2992), FLARE (2007), CONGA (2014)"
    takes: ClassVar = frozenset({"duration"})
    needs: ClassVar = "packets that learn how deep their queue was, and clones by session"
    settled_s: ClassVar = SETTLED_S

    @property
    def seconds(self) -> int:
        """How long the TCP flows of part A run."""
        return self.settings.seconds or (14 if self.settings.quick else 30)

    @property
    def bursts(self) -> int:
        """How many bursts each host sends in part B."""
        return 60 if self.settings.quick else 200

    def topology(self) -> Topology:
        """The network, the same for all runs."""
        return load.load(Path(__file__).with_name("topology.yaml"))

    @property
    def place(self) -> Place:
        """Where the path begins that both hashes choose."""
        return Place(self.topology(), "s1", PATHS[1])

    @property
    def host_bps(self) -> int:
        """A host's line."""
        return self._rate_bps(1)

    @property
    def path_bps(self) -> int:
        """A path's line."""
        return self._rate_bps(PATHS[0])

    def _rate_bps(self, port: int) -> int:
        rate_bps = self.topology().switch("s1").port(port).rate_bps
        assert rate_bps is not None
        return rate_bps

    @property
    def limit_packets(self) -> int:
        """The limit of a path's queue."""
        limit = self.topology().switch("s1").port(PATHS[0]).queue_packets
        assert limit is not None
        return limit

    def runs(self) -> Sequence[Run]:
        """One for each way to choose and kind of traffic."""
        bursts_s = LEAD_S + self.bursts * BURST_EVERY_S
        return [
            Run(part.name, part.title, AROUND_S + (bursts_s if part.is_bursts else self.seconds))
            for part in PARTS
        ]

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Tells the first routers how to choose, and lets the hosts send."""
        (part,) = (each for each in PARTS if each.name == run.name)
        bench.bring_up(self.topology())
        is_aware = part.method is Method.CONGESTION_AWARE
        _choose(bench, Method.ECMP if is_aware else part.method)
        senders = [] if part.is_bursts else [source for source, _ in FLOWS]
        # The path that both hashes choose is the one to show.
        ports = [("s1", port) for port in reversed(PATHS)]
        with bench.recording(ports, senders=senders) as instruments:
            if part.is_bursts:
                self._send_bursts(instruments)
            else:
                for source, target in FLOWS:
                    instruments.flow(
                        source, source, target, seconds=self.seconds, congestion=CONGESTION
                    )
            if is_aware:
                instruments.hold(SWITCHED_S)
                _choose(bench, part.method)
                instruments.moment("telemetry decides")
            instruments.hold(SETTLED_S - instruments.now_s())
            instruments.recording.numbers["early_moves"] = moves(bench)
            instruments.finish()
        recording = instruments.recording
        recording.numbers["moves"] = moves(bench)
        recording.numbers["told"] = bench.session("s4").counter("feedback", 0)[0]
        busy = [f"{share:.0%}" for share in path_shares(recording)]
        instruments.note(f"of all bytes the paths carried {' and '.join(busy)}")
        return recording

    def _send_bursts(self, instruments: Instruments) -> None:
        start_s = instruments.now_s() + LEAD_S
        for source, target in FLOWS:
            instruments.send_bursts(
                source,
                source,
                target,
                size_bytes=FRAME_BYTES - HEADERS_BYTES,
                burst=BURST,
                offsets_s=[index * BURST_EVERY_S for index in range(self.bursts)],
                start_s=start_s,
            )

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Rates, queues and moves; then how often bursts met."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        for part in LONG:
            found = Rates(recordings[part.name])
            rows += self._rows(part, found)
            bands += self._bands(part, found)
            numbers[f"{part.name}_total_mbps"] = found.total_bps / 1e6
            numbers[f"{part.name}_queue_max_packets"] = found.queue_max_packets
            numbers[f"{part.name}_moves"] = found.moves
        for part in SHORT:
            met = self._met(recordings[part.name])
            shares = path_shares(recordings[part.name])
            rows += self._burst_rows(part, met, shares)
            bands += self._burst_bands(part, met, shares)
            numbers[f"{part.name}_met_share"] = met
            numbers[f"{part.name}_busier_path_share"] = max(shares)
        return Assessment(rows, bands, numbers)

    @property
    def _alone_bps(self) -> float:
        return theory.alone_bps(self.host_bps)

    @property
    def _together_bps(self) -> float:
        return theory.together_bps(self.path_bps)

    def _rows(self, part: _Part, found: Rates) -> list[Row]:
        one, both = f"{self._together_bps / 1e6:.1f} Mb/s", f"2 x {self._alone_bps / 1e6:.1f} Mb/s"
        aware = part.method is Method.CONGESTION_AWARE
        flowlets = part.method is Method.FLOWLETS
        # A flow that pauses at its beginning may take another path from then on.
        total = both if aware else f"{one} or {both}" if flowlets else one
        rows = [Row(f"{part.title}: both flows", "", total, str(found))]
        if flowlets:
            claim = f"{part.title}: new ones once TCP has settled"
            return [*rows, Row(claim, "", "none", f"{found.late_moves:.0f}")]
        rows.append(
            Row(
                f"{part.title}: the deepest queue",
                "",
                f"{self.limit_packets - 1} or {self.limit_packets} packets",
                f"{found.queue_max_packets} packets",
            )
        )
        if aware:
            rows += [
                Row(f"{part.title}: moves", "", "1", f"{found.moves:.0f}"),
                Row(f"{part.title}: a flow moves after", "", "", f"{1000 * found.moved_s:.0f} ms"),
                Row(f"{part.title}: sent again at the move", "", "", f"{found.resent} packets"),
                Row(
                    f"{part.title}: mean queue then",
                    "",
                    "about none",
                    f"{found.queue_mean_packets:.1f} packets",
                ),
            ]
        return rows

    def _bands(self, part: _Part, found: Rates) -> list[Band]:
        runs = (part.name,)
        total = found.total_bps / 1e6
        if part.method is Method.FLOWLETS:
            claim = f"{part.title}: new ones once TCP has settled"
            return [Band(claim, found.late_moves, None, 0, "", runs)]
        full = Band(
            f"{part.title}: the deepest queue",
            found.queue_max_packets,
            self.limit_packets - 1,
            self.limit_packets,
            "packets",
            runs,
        )
        if part.method is Method.CONGESTION_AWARE:
            both = 2 * self._alone_bps / 1e6
            return [
                Band(f"{part.title}: both flows", total, 0.97 * both, 1.01 * both, "Mb/s", runs),
                full,
                Band(f"{part.title}: a flow moves", found.moved_s, 0, MOVED_S, "s", runs),
                Band(
                    f"{part.title}: mean queue then",
                    found.queue_mean_packets,
                    None,
                    5,
                    "packets",
                    runs,
                ),
            ]
        one = self._together_bps / 1e6
        return [Band(f"{part.title}: both flows", total, 0.9 * one, 1.01 * one, "Mb/s", runs), full]

    def _met(self, recording: Recording) -> float:
        """In what part of all bursts both hosts' packets met on a path."""
        expected = theory.burst_queue_packets(BURST, len(FLOWS), self.host_bps, self.path_bps)
        depths = burst_depths(recording)
        return sum(depth >= MET_PART * expected for depth in depths) / len(depths)

    def _burst_rows(self, part: _Part, met: float, shares: Sequence[float]) -> list[Row]:
        is_ecmp = part.method is Method.ECMP
        return [
            Row(f"{part.title}: bursts that meet", "", "all" if is_ecmp else "half", f"{met:.0%}"),
            Row(
                f"{part.title}: bytes by path",
                "",
                "all on one" if is_ecmp else "half each",
                " / ".join(f"{share:.0%}" for share in shares),
            ),
        ]

    def _burst_bands(self, part: _Part, met: float, shares: Sequence[float]) -> list[Band]:
        runs = (part.name,)
        claim, busier = f"{part.title}: bursts that meet", f"{part.title}: the busier path's bytes"
        if part.method is Method.ECMP:
            return [
                Band(claim, 100 * met, 95, None, "%", runs),
                Band(busier, 100 * max(shares), 99, None, "%", runs),
            ]
        low, high = theory.met_band(self.bursts)
        _, most = theory.met_band(len(FLOWS) * self.bursts)
        return [
            Band(claim, 100 * met, 100 * low, 100 * high, "%", runs),
            Band(busier, 100 * max(shares), 50, 100 * most, "%", runs),
        ]

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Rates and queues of the flows; then a second of bursts."""
        rates = "; ".join(f"{part.title}: {Rates(recordings[part.name])}" for part in LONG)
        met = "; ".join(f"{part.title}: {self._met(recordings[part.name]):.0%}" for part in SHORT)
        return [
            Figure(
                "queues",
                "What waits before each of the two paths, a row for each way to choose one.",
                lambda canvas: self._draw_queues(canvas, recordings),
                height=6.3,
            ),
            Figure(
                "rates",
                f"What each of the two TCP flows gets. {rates}.",
                lambda canvas: self._draw_rates(canvas, recordings),
                height=6.3,
            ),
            Figure(
                "bursts",
                "Both hosts send a burst at once. Where they meet on a path a queue builds up; "
                f"where each has a path of its own there is none. Those that met, {met}.",
                lambda canvas: self._draw_bursts(canvas, recordings),
                height=4.4,
            ),
        ]

    def _draw_queues(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        rows = drawing.stack(canvas, [1] * len(LONG), title="Queues before both paths")
        for axes, part in zip(rows, LONG, strict=True):
            recording = recordings[part.name]
            _draw_paths(axes, recording)
            if part.method is Method.CONGESTION_AWARE:
                drawing.level(axes, FULL_PACKETS, f"full: {FULL_PACKETS} packets")
            axes.set_ylim(0, 1.1 * self.limit_packets)
            axes.set_title(part.title, fontsize=10.5, loc="left")
            drawing.moments([axes], recording.moments)
            drawing.legend(axes)

    def _draw_rates(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        rows = drawing.stack(canvas, [1] * len(LONG), title="Payload that arrives")
        for axes, part in zip(rows, LONG, strict=True):
            flows = recordings[part.name].flows
            drawing.throughput(
                axes,
                {
                    f"{source} to {target}": flows[source].rates(WINDOW_S)
                    for source, target in FLOWS
                },
                line_rate_bps=self.host_bps,
            )
            drawing.moments([axes], recordings[part.name].moments)
            axes.set_title(part.title, fontsize=10.5, loc="left")

    def _draw_bursts(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        rows = drawing.stack(canvas, [1] * len(SHORT), title="Some bursts of part B")
        for axes, part in zip(rows, SHORT, strict=True):
            recording = recordings[part.name]
            _draw_paths(axes, recording)
            first_s = recording.bursts[FLOWS[0][0]].sent_s[0]
            axes.set_xlim(first_s - 0.05, first_s + 12 * BURST_EVERY_S)
            axes.set_ylim(bottom=0)
            axes.set_title(part.title, fontsize=10.5, loc="left")
            drawing.legend(axes)


def _choose(bench: Bench, method: Method) -> None:
    """Tells the first routers how to choose a path, and the last ones which is full."""
    is_aware = method is Method.CONGESTION_AWARE
    choice = balancing.choice(
        method,
        pause_s=PAUSE_S,
        hold_s=HOLD_S,
        tell_from_packets=FULL_PACKETS if is_aware else 0,
    )
    for edge in EDGES:
        bench.session(edge).modify(choice)


def moves(bench: Bench) -> int:
    """The number of path changes of s1's flows until now."""
    return bench.session("s1").counter("moves", 0)[0]


def _draw_paths(axes: drawing.Axes, recording: Recording) -> None:
    for port, via, own in zip(PORTS, ("s2", "s3"), (palette.BLUE, palette.RED), strict=True):
        series = recording.ports[port]
        axes.plot(
            *drawing.thinned(series.time_s, series.packets),
            color=own,
            linewidth=0.9,
            label=f"path by {via}",
        )
    axes.set_ylabel("queue\n(packets)")


class Rates:
    """The rates of two TCP flows, and the queues of the paths."""

    def __init__(self, recording: Recording) -> None:
        self._flows = flows = list(recording.flows.values())
        self.start_s = max(flow.samples[0].time_s for flow in flows)
        self.end_s = min(flow.samples[-1].time_s for flow in flows)
        settled_s = self.start_s + SETTLED_S
        self.each_bps = [flow.throughput_bps(settled_s, self.end_s) for flow in flows]
        self.total_bps = sum(self.each_bps)
        self._series = [recording.ports[port] for port in PORTS]
        self.queue_max_packets = max(max(series.packets) for series in self._series)
        self.queue_mean_packets = max(
            series.mean_packets(settled_s, self.end_s) for series in self._series
        )
        self.moves = recording.numbers["moves"]
        self.late_moves = self.moves - recording.numbers["early_moves"]
        self._switched_s = next((time_s for time_s, _ in recording.moments), 0.0)

    def __str__(self) -> str:
        """The rate of each flow: 4.6 + 5.9 Mb/s."""
        return f"{' + '.join(f'{bps / 1e6:.1f}' for bps in self.each_bps)} Mb/s"

    @property
    def moved_s(self) -> float:
        """How long after telemetry decides the second path carries something; NaN if never."""
        firsts_s = [_first_s(series) for series in self._series]
        return max(firsts_s) - self._switched_s

    @property
    def resent(self) -> int:
        """The retransmissions of both flows in the second after telemetry begins to decide."""
        return sum(
            _resent_by(flow, self._switched_s + 1) - _resent_by(flow, self._switched_s)
            for flow in self._flows
        )


def _resent_by(flow: Flow, time_s: float) -> int:
    """The retransmissions of a flow until an instant."""
    return max((each.retransmits for each in flow.samples if each.time_s <= time_s), default=0)


def _first_s(series: PortSeries) -> float:
    """When a port has sent something; NaN if never."""
    sent = zip(series.time_s, series.departed_bytes, strict=True)
    return next((time_s for time_s, so_far in sent if so_far > 0), math.nan)


def path_shares(recording: Recording) -> list[float]:
    """The share of all bytes that each path carried."""
    carried = [recording.ports[port].departed_bytes[-1] for port in PORTS]
    return [each / sum(carried) for each in carried]


def burst_depths(recording: Recording) -> list[int]:
    """The deepest that any path's queue was after each burst."""
    starts_s = recording.bursts[FLOWS[0][0]].sent_s
    return [
        max(
            max(series.packets[series.rows(start_s, start_s + 0.9 * BURST_EVERY_S)], default=0)
            for series in (recording.ports[port] for port in PORTS)
        )
        for start_s in starts_s
    ]
