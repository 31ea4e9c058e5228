"""A microburst that counters do not show: found by the telemetry in the packets themselves.

Two paced TCP flows cross three routers. Now and then a third host sends fifty datagrams at once;
they fill a queue for a few milliseconds. The lab looks for them twice: in the counters of every
port, read once a second as a monitoring system does, and in the telemetry of every packet.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from apps import domain as domains
from labs.bench import Bench, FlowPlan
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.int_microburst import bursts, drawing
from labs.int_microburst.findings import Findings, latency_ms, part_at
from labs.recording import Recording
from labs.run import AROUND_S, COLLECTING_S, Run
from topo import load
from topo.model import Topology

HERE = Path(__file__).parent
# The ports between the routers, and those toward the two receivers; the live view shows the first.
WATCHED = (("s2", 2), ("s1", 2), ("s3", 2), ("s3", 3))
LINE_BPS, HOST_LINE_BPS = 100_000_000, 1_000_000_000
# How a monitoring system reads counters.
COUNTERS_INTERVAL_MS = 1000

BACKGROUND_BPS, SIDE_BPS = 20_000_000, 10_000_000
# A burst: 50 datagrams of 1200 bytes, 1242 with their headers; INT adds 40 bytes when they leave.
BURST_PACKETS, BURST_PAYLOAD_BYTES, BURST_FRAME_BYTES, INT_BYTES = 50, 1200, 1242, 40
FIRST_BURST_S, BURST_EVERY_S = 3.0, 2.3
MS_PER_S, BYTES_PER_KB = 1000, 1000

# Where the bursts meet the background.
PLACE, CULPRIT = ("s2", 2, 0), "h4"
# How long the line needs for a burst. While it comes in, ten times as fast, a tenth of it leaves.
BURST_MS = BURST_PACKETS * (BURST_FRAME_BYTES + INT_BYTES) * 8 / LINE_BPS * MS_PER_S
PEAK_BYTES = BURST_PACKETS * BURST_FRAME_BYTES * (1 - LINE_BPS / HOST_LINE_BPS)
# The share of the line that both flows and the bursts take, averaged over time.
USE = (BACKGROUND_BPS + SIDE_BPS) / LINE_BPS + BURST_MS / MS_PER_S / BURST_EVERY_S


class IntMicroburst(Lab):
    """A microburst in telemetry: its queue, its instant and its flow."""

    name: ClassVar = "int-microburst"
    title: ClassVar = "A microburst that no counter shows"
    summary: ClassVar = "a burst of milliseconds that counters do not show: hop, queue and culprit"
    question: ClassVar = (
        "Some packets take five milliseconds longer, and no counter moves: which queue was it, and "
        "whose packets were in it?"
    )
    look_for: ClassVar = (
        "The counters, once a second: the line is a third used and its queue is empty.",
        "The packets: at each burst the same queue of the same router is full for milliseconds.",
        "One burst, packet by packet: the steep line is the host that caused it.",
        "An ordinary packet costs the routers nothing; one behind a burst waits in one of three.",
    )
    original: ClassVar = (
        "the specification of INT 2.1, whose first use is to show such queues; it has no numbers"
    )
    takes: ClassVar = frozenset({"duration"})
    needs: ClassVar = "queues in bytes and times in nanoseconds, which only ours tells its program"

    @property
    def seconds(self) -> int:
        """How long the TCP flows run."""
        return self.settings.seconds or (10 if self.settings.quick else 30)

    @property
    def least_seconds(self) -> int:
        """At least one burst."""
        return math.ceil(FIRST_BURST_S) + 2

    @property
    def least_seconds_for(self) -> str:
        """The flows settle before the first burst."""
        return "for one burst after the flows have settled"

    @property
    def place(self) -> Place:
        """The queue that the bursts fill."""
        return Place(self.topology(), *WATCHED[0])

    @property
    def burst_offsets_s(self) -> list[float]:
        """When bursts are sent, in seconds from the start of the flows."""
        count = max(1, int((self.seconds - FIRST_BURST_S - 1) / BURST_EVERY_S) + 1)
        return [FIRST_BURST_S + BURST_EVERY_S * index for index in range(count)]

    def runs(self) -> Sequence[Run]:
        """One is enough: it holds what counters say and what packets say."""
        seconds = self.seconds + AROUND_S + COLLECTING_S
        return [Run("bursts", "Two TCP flows, and a burst now and then", seconds)]

    def topology(self) -> Topology:
        """The three routers of the file."""
        return load.load(HERE / "topology.yaml")

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """The flows, the bursts, and both ways to look at them."""
        domain = domains.load(HERE / "domain.yaml")
        bench.bring_up(self.topology(), domain)
        with bench.recording(
            WATCHED, senders=["h1", "h3"], interval_ms=COUNTERS_INTERVAL_MS
        ) as instruments:
            flows = [
                FlowPlan("h1", "h1", "h2", "cubic", BACKGROUND_BPS),
                FlowPlan("h3", "h3", "h5", "cubic", SIDE_BPS),
            ]
            instruments.flows(flows, seconds=self.seconds)
            instruments.send_bursts(
                CULPRIT,
                CULPRIT,
                "h5",
                size_bytes=BURST_PAYLOAD_BYTES,
                burst=BURST_PACKETS,
                offsets_s=self.burst_offsets_s,
            )
            instruments.finish()
        found = bursts.find(instruments.recording.reports)
        instruments.note(f"{len(found)} times a queue held more than 20 kB, as packets tell")
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The findings by packets and by counters, and whether the first match what was sent."""
        findings = self._findings(recordings)
        numbers = _numbers(findings)
        return Assessment(_rows(findings, numbers), _bands(findings, numbers), numbers)

    def _findings(self, recordings: Mapping[str, Recording]) -> Findings:
        addresses = {host.name: str(host.address.ip) for host in self.topology().hosts}
        return Findings(recordings["bursts"], addresses, LINE_BPS)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Counters and packets; one burst; what it cost."""
        findings = self._findings(recordings)
        figures = [
            Figure(
                "overview",
                "The same seconds three times: what the line's counters say once a second, what "
                "they say of the queue at that instant, and what packets say of it as they leave. "
                f"The counters' busiest second used {findings.busiest_second:.0%} of the line and "
                f"found at most {findings.deepest_reading} packets in the queue; packets show "
                f"{len(findings.shown)} of {len(findings.sent_s)} bursts.",
                lambda canvas: drawing.overview(canvas, findings),
                height=7.5,
            )
        ]
        burst = findings.median_burst
        if burst is None:
            return figures
        return [
            *figures,
            Figure(
                "burst",
                "One burst, packet by packet. Above: the queue that each packet left behind. "
                "Below: how many packets of each host came; the steep line is the culprit, here "
                f"{findings.host_of(burst.culprit)} with {burst.culprit_share:.0%} of what came "
                f"while the queue grew to {burst.peak_bytes / BYTES_PER_KB:.0f} kB.",
                lambda canvas: drawing.one_burst(canvas, findings, burst),
                height=6.5,
            ),
            Figure(
                "latency",
                "Where the time went. Left: each packet of h1 around the burst, router by router. "
                "Right: an ordinary packet, and the one that the burst held up the longest.",
                lambda canvas: drawing.latencies(canvas, findings, burst),
                height=4.5,
            ),
        ]


def _numbers(findings: Findings) -> dict[str, float]:
    shown, worst = findings.shown, findings.worst
    return {
        "bursts_sent_count": float(len(findings.sent_s)),
        "bursts_shown_count": float(len(shown)),
        "bursts_at_place_of_culprit_share": findings.part_of(PLACE, CULPRIT),
        "other_bursts_count": float(findings.others),
        "peak_bytes": _median([burst.peak_bytes for burst in shown]),
        "burst_ms": _median([(burst.end_s - burst.start_s) * MS_PER_S for burst in shown]),
        "culprit_share": _median([burst.culprit_share for burst in shown]),
        "ordinary_latency_ms": findings.ordinary_ms,
        "worst_latency_ms": _median([latency_ms(way) for way in worst]),
        "worst_latency_at_place_share": _median([part_at(way, PLACE[0]) for way in worst]),
        "busiest_second_share": findings.busiest_second,
        "deepest_reading_packets": float(findings.deepest_reading),
        "dropped_packets": float(findings.dropped),
        "reports_count": float(len(findings.recording.reports)),
    }


def _rows(findings: Findings, numbers: Mapping[str, float]) -> list[Row]:
    shown = f"{len(findings.shown)}, and {findings.others} times more that were none"
    came = f"{findings.culprit}, {numbers['culprit_share']:.0%} of what came"
    worst = (
        f"{numbers['worst_latency_ms']:.1f} ms, {numbers['worst_latency_at_place_share']:.0%} of "
        f"it in {PLACE[0]}"
    )
    told = [
        ("packets say where", _place(*PLACE), _place(*findings.place)),
        ("packets say who", CULPRIT, came),
        ("packets say how often", f"{len(findings.sent_s)} bursts were sent", shown),
        (
            "queue at the top of a burst",
            f"{PEAK_BYTES / BYTES_PER_KB:.0f} kB",
            f"{numbers['peak_bytes'] / BYTES_PER_KB:.0f} kB",
        ),
        ("the queue is there for", f"{BURST_MS:.1f} ms", f"{numbers['burst_ms']:.1f} ms"),
        ("routers cost a packet of h1, in the middle", "0 ms", f"{findings.ordinary_ms:.2f} ms"),
        ("the worst packet of h1 in a burst", f"up to {BURST_MS:.1f} ms", worst),
        (
            "counters say, the busiest second",
            f"{USE:.0%} of the line",
            f"{findings.busiest_second:.0%} of the line",
        ),
        ("counters say, packets in the queue", "", f"at most {findings.deepest_reading}"),
        ("counters say, drops", "0", str(findings.dropped)),
    ]
    return [Row(what, "", theory, measured) for what, theory, measured in told]


def _bands(findings: Findings, numbers: Mapping[str, float]) -> list[Band]:
    peak_kb = numbers["peak_bytes"] / BYTES_PER_KB
    part = numbers["bursts_at_place_of_culprit_share"]
    return [
        Band("bursts that packets show in their queue, as h4's, of those sent", part, least=1),
        Band("the queue at the top of a burst", peak_kb, 45, 80, "kB"),
        Band("the worst packet of h1 in a burst", numbers["worst_latency_ms"], 2, 12, "ms"),
        Band("s2's part of that", numbers["worst_latency_at_place_share"], least=0.8),
        Band("the busiest second by the counters", findings.busiest_second, most=0.5),
    ]


def _median(values: Sequence[float]) -> float:
    """The one in the middle; not a number if there is none, which meets no band."""
    return statistics.median(values) if values else math.nan


def _place(router: str, port: int, queue: int) -> str:
    return f"{router}, port {port}, queue {queue}"
