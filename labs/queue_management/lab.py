"""Active queue management: four downloads before one line, under four methods; then a flood.

Only the method that manages the line's queue differs between the first four runs. In the last one
datagrams come at a fifth more than the line carries, whatever is dropped, and CoDel must show its
law: the nth drop follows the one before after 100 ms / sqrt(n).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.decider import Decider
from controller.queueing import Aqm, Limit, QueueSettings
from labs import classes
from labs.bench import Bench, FlowPlan
from labs.congestion import FILL_QUEUES, unjudged_but_for
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.frames import (
    FRAME_BYTES,
    MTU_BYTES,
    bdp_packets,
    queue_delay_s,
    reno_utilisation,
)
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import TcpSettings, Topology

LINE = 3
# Toward h1 and h2, whose lines are so many times as fast as the line that is looked at.
HOSTS, ACCESS_TIMES = (1, 2), 5
PORT = f"s1-eth{LINE}"
RTT_S = 0.050
FLOWS = 4
SETTLED_S = 5.0
PING_INTERVAL_S = 0.1
# RED's, in packets: below the first nobody is dropped, beyond twice the second everybody.
RED_MIN, RED_MAX = 5, 15
# The smallest part of the BDP for which they still make a queue.
RED_PART_MIN = 0.05
CODEL_TARGET_S, CODEL_INTERVAL_S = 0.005, 0.100
PIE_TARGET_S = 0.015

# The flood: so much of the line, for so long, as datagrams of a full frame.
FLOOD, FLOOD_S = 1.2, 3.0
FLOOD_LIMIT_PACKETS = 1000
HEADERS_BYTES = 28
# CoDel's first drops are looked at.
SPACINGS = 25


@dataclass(frozen=True)
class _Method:
    """One method of queue management."""

    name: str
    title: str
    aqm: Aqm | Decider | None
    # Where it wants the queue, as a delay; None: it does not say.
    target_s: float | None


METHODS = (
    _Method("tail", "tail drop", None, None),
    _Method("red", "RED", Aqm("red"), None),
    _Method("pie", "PIE", Aqm("pie"), PIE_TARGET_S),
    _Method("codel", "CoDel", Aqm("codel"), CODEL_TARGET_S),
)
FLOODED = "flood"
# The run of a class of the user's.
OWN = "own"


class QueueManagement(SettlingLab):
    """Who keeps a queue short."""

    name: ClassVar = "queue-management"
    title: ClassVar = "Active queue management side by side"
    summary: ClassVar = "tail drop, RED, PIE, CoDel: the same downloads, four queues"
    question: ClassVar = "How can a router keep its queue short and its line busy at once?"
    look_for: ClassVar = (
        "Tail drop: the queue is nearly full all the time, and the ping waits behind it.",
        "PIE and CoDel drop before the queue is full: packets wait for a tenth of the time and "
        "less, and the line is as busy as before.",
        "PIE and CoDel name a delay and keep near it. RED names packets: its usual 5 to 15 are too "
        "few for this path, and a seventh of the line is lost.",
        "The flood does not listen. CoDel's drops come faster and faster by its square-root law, "
        "and the queue grows all the same.",
    )
    original: ClassVar = "no single text: RFC 8289 (CoDel), RFC 8033 (PIE), Floyd and Jacobson 1993"
    settled_s: ClassVar = SETTLED_S
    takes: ClassVar = frozenset({"rate", "queue", "duration", "congestion", "aqm"})
    needs: ClassVar = "active queue management, which simple_switch does not have"
    rates_bps: ClassVar = (2_000_000, 1_000_000_000)

    @property
    def rate_bps(self) -> int:
        """The line."""
        return self.settings.rate_bps or 20_000_000

    @property
    def queue_packets(self) -> int:
        """The limit of its queue, which only tail drop should reach."""
        return self.settings.queue_packets or 400

    @property
    def congestion(self) -> str:
        """The TCP of the downloads."""
        return self.settings.congestion or "reno"

    @property
    def seconds(self) -> int:
        """How long the downloads run."""
        return self.settings.seconds or (15 if self.settings.quick else 40)

    @property
    def place(self) -> Place:
        """The line."""
        return Place(self.topology("codel"), "s1", LINE)

    @property
    def methods(self) -> Sequence[_Method]:
        """The built-in ones, and the user's."""
        decider = Decider.parse(self.settings.aqm or "", Path())
        if decider is None:
            return METHODS
        return (*METHODS, _Method(OWN, classes.words(str(decider)), decider, None))

    def _method(self, name: str) -> _Method:
        (method,) = (each for each in self.methods if each.name == name)
        return method

    def runs(self) -> Sequence[Run]:
        """One for each method; then the flood."""
        return [
            *(
                Run(each.name, f"Four downloads, {each.title}", self.seconds + AROUND_S)
                for each in self.methods
            ),
            Run(FLOODED, "A flood that does not listen, CoDel", FLOOD_S + AROUND_S),
        ]

    def topology(self, name: str) -> Topology:
        """The network of a run."""
        packets = self.queue_packets if name != FLOODED else FLOOD_LIMIT_PACKETS
        aqm = Aqm("codel") if name == FLOODED else self._method(name).aqm
        settings = QueueSettings(limit=Limit(packets=packets), aqm=aqm)
        base = load.load(Path(__file__).with_name("topology.yaml"))
        changed = base.with_settings("s1", LINE, rate_bps=self.rate_bps, every_queue=settings)
        for port in HOSTS:
            # Packets queue before the line, and not before the router.
            own_bps = base.switch("s1").port(port).rate_bps or 0
            faster = {"rate_bps": max(own_bps, ACCESS_TIMES * self.rate_bps)}
            changed = changed.with_settings("s1", port, **faster)
        return changed.with_hosts(tcp=TcpSettings(self.congestion))

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Four downloads and a ping, or datagrams."""
        bench.bring_up(self.topology(run.name))
        flooded = run.name == FLOODED
        senders = [] if flooded else ["h1"]
        with bench.recording([("s1", LINE)], senders=senders) as instruments:
            if flooded:
                gap_s = queue_delay_s(1, self.rate_bps) / FLOOD
                instruments.send_bursts(
                    "flood",
                    "h1",
                    "h3",
                    size_bytes=MTU_BYTES - HEADERS_BYTES,
                    burst=1,
                    offsets_s=[index * gap_s for index in range(round(FLOOD_S / gap_s))],
                )
            else:
                names = [f"download {number + 1}" for number in range(FLOWS)]
                plans = [FlowPlan(name, "h1", "h3", self.congestion) for name in names]
                instruments.flows(plans, seconds=self.seconds)
                instruments.ping(
                    "ping", "h2", "h3", seconds=self.seconds, interval_s=PING_INTERVAL_S
                )
            instruments.finish()
        if not flooded:
            found = Findings(instruments.recording, self.rate_bps)
            instruments.note(
                f"the queue delayed by {found.delay_ms:.3g} ms, the line was busy for "
                f"{found.use:.1%}"
            )
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Delay and use under each method; then the spacing of the drops."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        for method in self.methods:
            found = Findings(recordings[method.name], self.rate_bps)
            low_ms, high_ms, words = (
                (0.0, 0.0, "") if method.name == OWN else self._delay_ms(method)
            )
            # By the fluid model of Reno.
            is_modelled = method.name == "red" and self.congestion == "reno"
            said = f"{self._red_use:.0%} with {RED_MAX} packets" if is_modelled else ""
            rows += [
                Row(f"{method.title}: queue delay", "", words, f"{found.delay_ms:.1f} ms"),
                Row(f"{method.title}: a ping", "", "", f"{found.ping_ms:.1f} ms"),
                Row(f"{method.title}: line used", "", said, f"{found.use:.1%}"),
                Row(f"{method.title}: dropped", "", "", f"{found.loss:.2%}"),
            ]
            numbers.update(
                {
                    f"{method.name}_queue_delay_ms": found.delay_ms,
                    f"{method.name}_ping_ms": found.ping_ms,
                    f"{method.name}_line_share": found.use,
                    f"{method.name}_loss_share": found.loss,
                }
            )
            if method.name == OWN:
                # Nobody knows what it is after.
                continue
            runs = (method.name,)
            # Flows that halve their windows leave three quarters of a line without any queue.
            least_use = 75 if method.name == "red" else 90
            bands += [
                Band(
                    f"{method.title}: queue delay",
                    found.delay_ms,
                    low_ms,
                    high_ms,
                    "ms",
                    runs,
                    unjudged=unjudged_but_for(FILL_QUEUES, self.congestion)
                    or self._too_few_packets(method),
                ),
                Band(f"{method.title}: line used", 100 * found.use, least_use, None, "%", runs),
            ]
        off_ms = self._spacing_off_ms(recordings[FLOODED])
        frame_ms = queue_delay_s(1, self.rate_bps) * 1000
        rows.append(
            Row(
                f"flood: CoDel's first {SPACINGS} drops, away from 100 ms / sqrt(n)",
                "",
                f"at most a frame, {frame_ms:.1f} ms",
                f"{off_ms:.1f} ms",
            )
        )
        bands.append(
            # A drop waits for the frame on the line; the router is looked at once a millisecond.
            Band(
                "flood: CoDel's drops, away from their law",
                off_ms,
                most=2 * frame_ms + 2,
                unit="ms",
                runs=(FLOODED,),
            )
        )
        numbers["flood_spacing_off_ms"] = off_ms
        return Assessment(rows, bands, numbers)

    @property
    def _red_use(self) -> float:
        """What is left of the line if no more than RED's `max` may wait."""
        return reno_utilisation(RED_MAX / bdp_packets(self.rate_bps, RTT_S))

    def _delay_ms(self, method: _Method) -> tuple[float, float, str]:
        """Least, most, and in words, where a method keeps the queue."""
        frame_ms = queue_delay_s(1, self.rate_bps) * 1000
        if method.name == "tail":
            full_ms = self.queue_packets * frame_ms
            return 0.5 * full_ms, full_ms, f"up to {full_ms:.0f} ms"
        if method.name == "red":
            # Its average may go up to twice `max`; the queue itself is below `min` after each loss.
            low_ms, high_ms = 0.5 * RED_MIN * frame_ms, 2 * RED_MAX * frame_ms
            return (
                low_ms,
                high_ms,
                f"{low_ms:.0f} to {high_ms:.0f} ms ({RED_MIN}-{2 * RED_MAX} packets)",
            )
        assert method.target_s is not None
        target_ms = 1000 * method.target_s
        # No target is shorter than what a few frames take.
        most_ms = max(2 * target_ms, target_ms + 6 * frame_ms)
        return 0.4 * target_ms, most_ms, f"near {target_ms:.0f} ms"

    def _too_few_packets(self, method: _Method) -> str:
        """Whether RED's thresholds, which are packets, are next to nothing of this path."""
        part = RED_MAX / bdp_packets(self.rate_bps, RTT_S)
        if method.name != "red" or part >= RED_PART_MIN:
            return ""
        return (
            f"{RED_MAX} packets are {part:.0%} of this path's BDP, so that its queue is empty most "
            "of the time"
        )

    def _spacing_off_ms(self, recording: Recording) -> float:
        """How far the instants of the first drops are from CoDel's law, at most."""
        pairs = list(zip(drop_instants_ms(recording), law_ms(), strict=False))
        if len(pairs) < SPACINGS:
            return math.nan
        return max(abs(found - said) for found, said in pairs)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The four queues, their delays as a distribution, and the flood."""
        found = {
            each.title: Findings(recordings[each.name], self.rate_bps) for each in self.methods
        }
        took = "; ".join(
            f"{name}: {each.delay_ms:.0f} ms, line {each.use:.0%} busy"
            for name, each in found.items()
        )
        return [
            Figure(
                "queues",
                "The same downloads before four queues: what the queue delays a packet by, with "
                "the target where the method has one, and its drops. Mind the scales; slow start "
                f"goes beyond them. {took}.",
                lambda canvas: self._draw_queues(canvas, recordings),
                height=8.5 * len(self.methods) / len(METHODS),
            ),
            Figure(
                "delays",
                "How often the queue delays by how much: the further left and the steeper, the "
                "better for everybody who waits.",
                lambda canvas: self._draw_delays(canvas, recordings),
                height=3.8,
            ),
            Figure(
                "spacing",
                "The flood. Left: the queue grows, because nobody slows down. Right: the time "
                "from each of CoDel's drops to the next one, and its law.",
                lambda canvas: self._draw_flood(canvas, recordings[FLOODED]),
                height=3.8,
            ),
        ]

    def _draw_queues(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        title = (
            f"{FLOWS} downloads on a line of {units.format_rate(self.rate_bps)}, "
            f"TCP {self.congestion}"
        )
        stacked = drawing.stack(canvas, [1] * len(self.methods), title=title)
        for index, (axes, method) in enumerate(zip(stacked, self.methods, strict=True)):
            series = recordings[method.name].ports[PORT]
            axes.plot(
                *drawing.thinned(series.time_s, delays_ms(series.bytes, self.rate_bps)),
                color=drawing.SERIES[index],
                linewidth=0.9,
                label="queue delay",
            )
            if method.target_s is not None:
                drawing.level(axes, 1000 * method.target_s, "target")
            # Slow start fills every queue before any method notices: it goes beyond the picture.
            top = 1.25 * max(Findings(recordings[method.name], self.rate_bps).delays_ms)
            drawing.drop_marks(axes, series.drops, height=top)
            axes.set_ylim(0, top * 1.1)
            axes.set_ylabel("delay (ms)")
            axes.set_title(method.title, fontsize=10.5, loc="left")
            drawing.legend(axes)

    def _draw_delays(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        axes = canvas.subplots()
        for index, method in enumerate(self.methods):
            found = Findings(recordings[method.name], self.rate_bps)
            ordered = sorted(found.delays_ms)
            shown = ordered[:: max(1, len(ordered) // 500)]
            shares = [(place + 1) / len(shown) for place in range(len(shown))]
            own = drawing.SERIES[index]
            axes.plot(shown, shares, color=own, linewidth=1.6, label=method.title)
        axes.set_xscale("log")
        axes.set_xlim(left=0.5)
        axes.set_xlabel("queue delay (ms)")
        axes.set_ylabel("part of the time\nwith at most that")
        axes.set_ylim(0, 1.01)
        drawing.grid(axes)
        drawing.legend(axes)

    def _draw_flood(self, canvas: matplotlib.figure.Figure, recording: Recording) -> None:
        queue, spacing = canvas.subplots(1, 2, width_ratios=(1.2, 1))
        series = recording.ports[PORT]
        queue.plot(
            *drawing.thinned(series.time_s, delays_ms(series.bytes, self.rate_bps)),
            color=drawing.INK,
            linewidth=1,
            label="queue delay",
        )
        drawing.drop_marks(queue, series.drops, height=queue.get_ylim()[1])
        queue.set_xlabel("time (s)")
        queue.set_ylabel("delay (ms)")
        instants, law = drop_instants_ms(recording), law_ms()
        for each, words, look in (
            (instants, "drops", {"linestyle": "", "marker": "o", "markersize": 4}),
            (law, "100 ms / √n", {"linewidth": 1.2}),
        ):
            gaps = [after - before for before, after in pairwise(each)]
            own = drawing.RED if each is instants else drawing.GREY
            spacing.plot(range(1, len(gaps) + 1), gaps, color=own, label=words, **look)
        spacing.set_ylim(0, 110)
        spacing.set_xlabel("drop number")
        spacing.set_ylabel("time to the next one (ms)")
        for axes in (queue, spacing):
            drawing.grid(axes)
            drawing.legend(axes)


def delays_ms(waiting_bytes: Sequence[int], rate_bps: int) -> list[float]:
    """What a packet waits that comes behind so many bytes."""
    return [each * 8 / rate_bps * 1000 for each in waiting_bytes]


def law_ms() -> list[float]:
    """When CoDel drops under overload, from its first drop on: each interval / sqrt(n) later."""
    instants = [0.0]
    for number in range(1, SPACINGS):
        instants.append(instants[-1] + 1000 * CODEL_INTERVAL_S / math.sqrt(number))
    return instants


def drop_instants_ms(recording: Recording) -> list[float]:
    """When CoDel dropped its first packets, from the first one on."""
    drops = [drop.time_s for drop in recording.ports[PORT].drops if drop.reason == "AQM"]
    return [1000 * (time_s - drops[0]) for time_s in drops[:SPACINGS]]


class Findings:
    """A run of downloads once they have settled."""

    def __init__(self, recording: Recording, rate_bps: int) -> None:
        flows = [flow.samples for flow in recording.flows.values()]
        start_s = max(samples[0].time_s for samples in flows) + SETTLED_S
        end_s = min(samples[-1].time_s for samples in flows)
        series = recording.ports[PORT]
        rows = series.rows(start_s, end_s)
        self.delays_ms = delays_ms(series.bytes[rows], rate_bps)
        self.delay_ms = sum(self.delays_ms) / len(self.delays_ms)
        self.use = series.rate_bps(start_s, end_s) / rate_bps
        self.ping_ms = recording.pings["ping"].between(start_s, end_s).mean_ms
        sent = series.departed_bytes[rows]
        dropped = series.dropped_between(start_s, end_s)
        self.loss = dropped / (dropped + (sent[-1] - sent[0]) / FRAME_BYTES)
