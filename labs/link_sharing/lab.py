"""Link sharing: the flows of h1 and h2 on one line, under five schedulers.

Only the scheduler of the line's port differs between the runs. Packets are put into classes by the
address of their sender.
"""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.classes import Rule, entries
from controller.queueing import (
    Discipline,
    Group,
    Groups,
    Hierarchy,
    Leaf,
    Limit,
    Node,
    QueueSettings,
    Scheduler,
)
from labs.bench import Bench, FlowPlan, Instruments
from labs.congestion import FILL_QUEUES, saw_s, unjudged_but_for
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import FRAME_BYTES, bdp_bytes, bdp_packets
from labs.measure.router import PortSeries
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import TcpBuffer, TcpSettings, Topology

LINE = 3
PORT = f"s1-eth{LINE}"
ORIGINAL_RATE_BPS = 1_000_000_000
RTT_S = 0.020
# Class 0 is the lowest: h2's; h1's is the one above.
OF_H2, OF_H1 = 0, 1
H1 = ipaddress.IPv4Network("10.0.1.0/24")
SHARE_OF_H1 = 0.7
# Samples of a fast line are many; its queues are looked at often enough with these.
SAMPLE_INTERVAL_MS = 5
# TCP has found its rate by then.
SETTLED_S = 3.0
# After this the shares must be back when the other flow returns.
RETURN_S = 1.0


@dataclass(frozen=True)
class _Part:
    """One scheduler."""

    name: str
    title: str
    original: str
    # h1's and h2's part of the line, if both always have packets.
    theory: tuple[float, float] | None


PARTS = (
    _Part("fifo", "one FIFO for both", "about 500 / 500 Mb/s", None),
    _Part("htb", "classes of 70 % and 30 % that may borrow", "about 700 / 300 Mb/s", (0.7, 0.3)),
    _Part("borrowing", "the same classes while h2 pauses", "h1 takes all", (0.7, 0.3)),
    _Part("drr", "deficit round robin, weights 7 and 3", "", (0.7, 0.3)),
    _Part("strict", "strict priority for h1", "", (1.0, 0.0)),
)


class LinkSharing(Lab):
    """Two hosts on one line."""

    name: ClassVar = "link-sharing"
    title: ClassVar = "Link sharing: who gets how much of a line"
    summary: ClassVar = "two hosts on one line: FIFO, classes with borrowing, weights, priority"
    question: ClassVar = "How can two hosts share a line as agreed, and use what the other leaves?"
    look_for: ClassVar = (
        "One FIFO: the two flows wander around one half, because nothing divides the line.",
        "Classes and weights: 70 % and 30 %, like rulers.",
        "When h2 pauses, h1 has the whole line within a round trip; when it returns, 70 / 30 is "
        "back at once.",
        "Strict priority: h2 starves as long as h1 sends.",
    )
    original: ClassVar = "lab 20 of the course Network Tools and Protocols (Linux HTB, Mininet)"
    takes: ClassVar = frozenset({"rate", "duration", "congestion"})
    choices_bps: ClassVar = (1_000_000_000, 100_000_000)
    needs: ClassVar = "classes with borrowing and weights, which simple_switch does not have"

    @property
    def rate_bps(self) -> int:
        """The shared line; the original's 1 Gb/s, a fiftieth of it when quick.

        On a slow line a window is small and recovers soon: TCP's saw has several teeth in the few
        seconds of a quick run, and its mean is one of the flow, not of the moment.
        """
        return self.settings.rate_bps or (20_000_000 if self.settings.quick else 1_000_000_000)

    @property
    def seconds(self) -> int:
        """How long each pair of flows runs."""
        return self.settings.seconds or (9 if self.settings.quick else 60)

    @property
    def least_seconds(self) -> int:
        """Three parts of three seconds: h2 sends, pauses, sends again."""
        return 9

    @property
    def least_seconds_for(self) -> str:
        """Two of the runs are in three parts."""
        return "for a pause of h2 between two times in which it sends"

    @property
    def place(self) -> Place:
        """The shared line, with the queues of the classes."""
        htb = next(run for run in self.runs() if run.name == "htb")
        return Place(self.topology(htb), "s1", LINE)

    @property
    def is_original(self) -> bool:
        """Whether line and TCP are those of the original."""
        return self.rate_bps == ORIGINAL_RATE_BPS and self.congestion == "cubic"

    @property
    def congestion(self) -> str:
        """The TCP of both flows."""
        return self.settings.congestion or "cubic"

    def runs(self) -> Sequence[Run]:
        """One for each scheduler."""
        return [
            Run(
                part.name,
                f"{part.title[0].upper()}{part.title[1:]}",
                self.seconds + AROUND_S,
                {"rate_bps": self.rate_bps},
            )
            for part in PARTS
        ]

    def scheduler(self, name: str) -> Scheduler | None:
        """The line's scheduler in a run; None: one queue for all."""
        if name in ("htb", "borrowing"):
            of_h1, of_h2 = (self._leaf(host) for host in ("h1", "h2"))
            rate_bps = self.rate_bps
            return Hierarchy(Node("line", rate_bps, rate_bps, children=(of_h1, of_h2)))
        if name == "drr":
            return Groups((Group({OF_H1: 7, OF_H2: 3}, Discipline.DRR, FRAME_BYTES),))
        if name == "strict":
            return Groups.strict(2)
        return None

    def _leaf(self, host: str) -> Node:
        share, class_ = (7, OF_H1) if host == "h1" else (3, OF_H2)
        return Node(host, self.rate_bps * share // 10, self.rate_bps, leaf=Leaf(class_))

    def topology(self, run: Run) -> Topology:
        """The network of a run: rate, buffers of one BDP, hosts' buffers of eight."""
        bdp = round(bdp_bytes(self.rate_bps, RTT_S))
        changes: dict[str, object] = {
            "rate_bps": self.rate_bps,
            "every_queue": QueueSettings(limit=Limit(bytes=bdp)),
        }
        scheduler = self.scheduler(run.name)
        if scheduler is not None:
            changes.update(queue_count=2, scheduler=scheduler)
        base = load.load(Path(__file__).with_name("topology.yaml"))
        buffer = TcpBuffer(10_240, 87_380, 8 * bdp)
        return (
            base.with_settings("s1", LINE, **changes)
            .with_settings("s2", LINE, rate_bps=self.rate_bps)
            .with_transmit("s1", LINE, delay_ns=round(RTT_S * 1e9))
            .with_hosts(tcp=TcpSettings(self.congestion, rmem=buffer, wmem=buffer))
        )

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Both flows at once; h2's with a pause, or before h1's, where the run is about that."""
        bench.bring_up(self.topology(run))
        if self.scheduler(run.name) is not None:
            bench.session("s1").insert(entries([Rule(OF_H1, src=H1)]))
        with bench.recording(
            [("s1", LINE)], senders=["h1", "h2"], interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            if run.name == "borrowing":
                self._with_a_pause(instruments)
            elif run.name == "strict":
                self._with_a_late_h1(instruments)
            else:
                instruments.flows([self._plan("h1"), self._plan("h2")], seconds=self.seconds)
            instruments.finish()
        instruments.recording.moments += moments(run.name, instruments.recording.ports[PORT])
        return instruments.recording

    def _plan(self, source: str, name: str | None = None) -> FlowPlan:
        target = {"h1": "h3", "h2": "h4"}[source]
        return FlowPlan(name or source, source, target, self.congestion)

    def _with_a_pause(self, instruments: Instruments) -> None:
        third = self.seconds // 3
        instruments.flows([self._plan("h1")], seconds=3 * third + 1)
        instruments.flows([self._plan("h2")], seconds=third)
        instruments.hold(2 * third)
        instruments.flows([self._plan("h2", name="h2 again")], seconds=third)

    def _with_a_late_h1(self, instruments: Instruments) -> None:
        # h2 needs a line that is not yet taken, or its first packet would never arrive.
        third = self.seconds // 3
        instruments.flows([self._plan("h2")], seconds=self.seconds)
        instruments.hold(third)
        instruments.flows([self._plan("h1")], seconds=third)

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The share of each flow."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        for part in PARTS:
            shares = Shares(part.name, recordings[part.name], self.rate_bps)
            theory = (
                "" if part.theory is None else " / ".join(f"{each:.0%}" for each in part.theory)
            )
            rows.append(
                Row(
                    part.title,
                    part.original if self.is_original else "",
                    theory,
                    f"{shares.h1:.1%} / {shares.h2:.1%}, {self._rates(shares)}",
                )
            )
            numbers[f"{part.name}_h1_share"] = shares.h1
            numbers[f"{part.name}_h2_share"] = shares.h2
            if shares.alone is not None:
                rows.append(
                    Row(
                        "h1 while h2 pauses",
                        "all of the line" if self.is_original else "",
                        "100%",
                        f"{shares.alone:.1%}",
                    )
                )
                numbers["borrowing_h1_alone_share"] = shares.alone
            bands += self._bands(part, shares)
        return Assessment(rows, bands, numbers)

    def _rates(self, shares: Shares) -> str:
        each = (units.format_rate(share * self.rate_bps) for share in (shares.h1, shares.h2))
        return " / ".join(each)

    def _bands(self, part: _Part, shares: Shares) -> list[Band]:
        runs = (part.name,)
        if part.name == "fifo":
            return [
                Band(
                    "one FIFO, h1's share of the goodput",
                    shares.of_both_h1,
                    0.35,
                    0.65,
                    runs=runs,
                    unjudged=self._too_short_to_share(),
                ),
                Band("one FIFO, both together", shares.h1 + shares.h2, least=0.9, runs=runs),
            ]
        if part.name == "strict":
            return [
                Band("strict priority, h1", shares.h1, least=0.95, runs=runs),
                Band("strict priority, h2 starves", shares.h2, most=0.05, runs=runs),
            ]
        words = "within a second of h2's return" if part.name == "borrowing" else part.title
        low, high = SHARE_OF_H1 - 0.03, SHARE_OF_H1 + 0.03
        both = f"{words}: h1's part of what both got"
        bands = [Band(both, shares.of_both_h1, low, high, runs=runs)]
        if shares.alone is not None:
            bands.append(
                Band("h1 takes the line while h2 pauses", shares.alone, least=0.95, runs=runs)
            )
        return bands

    def _too_short_to_share(self) -> str:
        """Two flows level out over some saws; empty where this run is long enough for that."""
        queue_packets = bdp_packets(self.rate_bps, RTT_S)
        each_s = saw_s(self.congestion, self.rate_bps, RTT_S, queue_packets)
        if each_s is None:
            return unjudged_but_for(FILL_QUEUES, self.congestion)
        needed_s = SETTLED_S + 4 * each_s
        if self.seconds >= needed_s:
            return ""
        return (
            f"two flows need {needed_s:.0f} s to find their shares of a FIFO of this length, and "
            f"ran for {self.seconds}"
        )

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Both shares over time, under each scheduler; then each queue."""
        found = {
            part.name: Shares(part.name, recordings[part.name], self.rate_bps) for part in PARTS
        }
        got = "; ".join(
            f"{part.title}: {found[part.name].h1:.0%} and {found[part.name].h2:.0%}"
            for part in PARTS
        )
        return [
            Figure(
                "shares",
                "What h1 and h2 get of the line under five schedulers: payload that the receiver "
                f"acknowledged. While both sent, they got, {got}.",
                lambda canvas: self._draw_shares(canvas, recordings),
                height=11,
            ),
            Figure(
                "queues",
                "The queues before the line: one for both under FIFO, one for each host otherwise.",
                lambda canvas: self._draw_queues(canvas, recordings),
                height=11,
            ),
        ]

    def _draw_shares(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        title = f"A line of {units.format_rate(self.rate_bps)}, TCP {self.congestion}"
        for axes, part in zip(
            drawing.stack(canvas, [1] * len(PARTS), title=title, shared=False), PARTS, strict=True
        ):
            recording = recordings[part.name]
            drawing.throughput(
                axes,
                {name: flow.rates(0.5) for name, flow in sorted(recording.flows.items())},
                line_rate_bps=self.rate_bps,
            )
            axes.set_title(part.title, fontsize=10, loc="left")
            drawing.moments([axes], recording.moments)

    def _draw_queues(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        for axes, part in zip(
            drawing.stack(canvas, [1] * len(PARTS), title="Queues of the line", shared=False),
            PARTS,
            strict=True,
        ):
            recording = recordings[part.name]
            drawing.queues_in_bytes(
                axes,
                recording.ports[PORT],
                {OF_H2: "both"} if part.name == "fifo" else {OF_H1: "h1", OF_H2: "h2"},
                limit_bytes=round(bdp_bytes(self.rate_bps, RTT_S)),
            )
            axes.set_title(part.title, fontsize=10, loc="left")
            drawing.moments([axes], recording.moments)


def moments(name: str, series: PortSeries) -> list[tuple[float, str]]:
    """When h2 pauses and resumes, or h1 begins: where packets pass, as programs take time to start.

    Kept with what a run records.
    """
    if name == "strict":
        first = next(_departures(series, OF_H1), None)
        return [] if first is None else [(first, "h1 begins")]
    if name == "borrowing":
        # The longest time in which nothing of h2 left.
        pauses = itertools.pairwise(_departures(series, OF_H2))
        longest = max(pauses, key=lambda pause: pause[1] - pause[0], default=None)
        return (
            [] if longest is None else list(zip(longest, ("h2 pauses", "h2 resumes"), strict=True))
        )
    return []


def _departures(series: PortSeries, class_: int) -> Iterator[float]:
    """The samples in which packets of a class had left since the one before."""
    sent = series.queues[class_].departed_bytes
    for time_s, (before, now) in zip(series.time_s[1:], itertools.pairwise(sent), strict=True):
        if now > before:
            yield time_s


class Shares:
    """Parts of the line, counted where the packets leave: by class, or by flow with one queue."""

    def __init__(self, name: str, recording: Recording, rate_bps: int) -> None:
        self._recording = recording
        self._rate_bps = rate_bps
        series = recording.ports[PORT]
        start_s, end_s = self._span(name)
        # How much of the line h1 had while h2 paused, where it did.
        self.alone: float | None = None
        if name == "fifo":
            # One class for both: each sender's acknowledged payload divides what left.
            left = series.rate_bps(start_s, end_s) / rate_bps
            acked = [recording.flows[host].throughput_bps(start_s, end_s) for host in ("h1", "h2")]
            self.h1, self.h2 = (left * each / sum(acked) for each in acked)
            return
        self.h1 = series.rate_bps(start_s, end_s, OF_H1) / rate_bps
        self.h2 = series.rate_bps(start_s, end_s, OF_H2) / rate_bps
        if name == "borrowing" and recording.moments:
            paused_s, resumed_s = (time_s for time_s, _ in recording.moments)
            # h1 needs some round trips to take what h2 leaves.
            self.alone = series.rate_bps(paused_s + RETURN_S, resumed_s, OF_H1) / rate_bps

    @property
    def of_both_h1(self) -> float:
        """The share of h1 in the throughput of both."""
        return self.h1 / (self.h1 + self.h2)

    def _span(self, name: str) -> tuple[float, float]:
        """When both had packets to send."""
        flows = self._recording.flows
        if name == "borrowing":
            again = flows["h2 again"].samples
            return again[0].time_s + RETURN_S, again[-1].time_s
        both = [flows[host].samples for host in ("h1", "h2")]
        start_s = max(samples[0].time_s for samples in both)
        end_s = min(samples[-1].time_s for samples in both)
        settled_s = RETURN_S if name == "strict" else SETTLED_S
        return min(start_s + settled_s, (start_s + end_s) / 2), end_s
