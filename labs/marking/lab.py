"""Marks instead of drops: flows before one line, under four ways to tell them to slow down.

Two of Reno before a full queue; two of Reno and two of DCTCP before a queue that marks from a
threshold on; and four of Prague beside four of Cubic before two queues that DualPI2 manages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.queueing import Aqm, Discipline, Group, Groups, Limit, QueueSettings
from labs import settings as labs_settings
from labs.bench import Bench, FlowPlan
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.frames import FRAME_BYTES, bdp_packets, queue_delay_s, reno_utilisation
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import Topology

LINE = 3
PORT = f"s1-eth{LINE}"
RTT_S = 0.020
SETTLED_S = 4.0
# The queues of DualPI2: where they wait whose ECN bits say so, and all others.
CLASSIC, L4S = 0, 1
# DualPI2's own goals: what RFC 9332 gives Classic traffic, and where the L4S ramp begins and ends.
CLASSIC_TARGET_S = 0.015
L4S_MIN_S, L4S_MAX_S = 0.0008, 0.0012
# Windows in the steady state, as many packets: Prague's is 2 / p of marks, Cubic's at such sizes
# 1.68 / sqrt(p). On paths shorter than 25 ms Prague grows by the square of their ratio less.
# DualPI2 couples both: it marks Prague's packets with 2 p', Cubic's with p' squared.
PRAGUE, CUBIC, COUPLING, REFERENCE_RTT_S = 2.0, 1.68, 2.0, 0.025
# Cubic grows by so much a round trip where it does as Reno; with slower saws p' is not steady.
CUBIC_STEP, SAW_S_MAX = 0.5, 0.5
# DCTCP keeps the line busy if its threshold is more than a seventh of the path.
DCTCP_PART = 7


@dataclass(frozen=True)
class _Part:
    """One run: who sends, and how the queue tells them."""

    name: str
    title: str
    # Of h1 and of h2.
    congestion: tuple[str, str]
    # How many flows each of them has.
    flows: int = 1


PARTS = (
    _Part("drop", "Reno, tail drop", ("reno", "reno")),
    _Part("reno", "Reno, marks from a threshold on", ("reno", "reno")),
    _Part("dctcp", "DCTCP, marks from a threshold on", ("dctcp", "dctcp")),
    _Part("l4s", "Prague beside Cubic, DualPI2", ("prague", "cubic"), flows=4),
)


class Marking(SettlingLab):
    """How to tell a sender."""

    name: ClassVar = "marking"
    title: ClassVar = "ECN, DCTCP and L4S: marks instead of drops"
    summary: ClassVar = "ECN, DCTCP, L4S: a queue of ten packets, without any loss"
    question: ClassVar = "Can a queue be a tenth as long if senders are told instead of dropped?"
    look_for: ClassVar = (
        "Reno takes a mark for a loss: it halves its window, the short queue empties, and the "
        "line is idle.",
        "DCTCP counts how many packets are marked and gives way by as much: the queue stays at "
        "its threshold, and nothing is lost.",
        "DualPI2 has a queue for each kind: Prague's packets wait for less than a millisecond, "
        "Cubic's for fifteen, and nobody starves.",
    )
    original: ClassVar = "no single text: DCTCP (2010), RFC 8257, RFC 9331 and RFC 9332"
    settled_s: ClassVar = SETTLED_S
    takes: ClassVar = frozenset({"rate", "duration"})
    needs: ClassVar = "queues that mark, which simple_switch does not have"
    rates_bps: ClassVar = (20_000_000, 1_000_000_000)

    @property
    def rate_bps(self) -> int:
        """The line."""
        return self.settings.rate_bps or 40_000_000

    @property
    def seconds(self) -> int:
        """How long the flows run."""
        return self.settings.seconds or (14 if self.settings.quick else 40)

    @property
    def bdp(self) -> float:
        """What fills the path, in packets."""
        return bdp_packets(self.rate_bps, RTT_S)

    @property
    def threshold_packets(self) -> int:
        """Where marking begins: a little more than DCTCP needs."""
        return round(self.bdp / DCTCP_PART) + 1

    @property
    def limit_packets(self) -> int:
        """The queue's limit: three times what fills the path."""
        return round(3 * self.bdp)

    @property
    def place(self) -> Place:
        """The line."""
        return Place(self.topology("drop"), "s1", LINE)

    @property
    def parts(self) -> Sequence[_Part]:
        """The runs whose TCPs the hosts of this world have."""
        known = labs_settings.algorithms(self.settings.world)
        return [part for part in PARTS if set(part.congestion) <= set(known)]

    @property
    def left_out(self) -> Sequence[str]:
        """The runs whose TCPs they do not have."""
        left = [part for part in PARTS if part not in self.parts]
        return [
            f"{part.title}: this machine's kernel lacks {' or '.join(sorted(set(part.congestion)))}"
            "; --world virtual has it."
            for part in left
        ]

    def runs(self) -> Sequence[Run]:
        """One for each way to tell."""
        return [Run(part.name, part.title, self.seconds + AROUND_S) for part in self.parts]

    def topology(self, name: str) -> Topology:
        """The network of a run."""
        limit = Limit(packets=self.limit_packets)
        base = load.load(Path(__file__).with_name("topology.yaml"))
        if name == "l4s":
            # The L4S queue goes first, and cannot starve the other one.
            weights = Group({CLASSIC: 1, L4S: 9}, Discipline.DRR, FRAME_BYTES)
            dualpi2 = Aqm("dualpi2", l4s_class=L4S)
            return base.with_settings(
                "s1",
                LINE,
                rate_bps=self.rate_bps,
                queue_count=2,
                scheduler=Groups((weights,)),
                every_queue=QueueSettings(limit=limit),
                queues={CLASSIC: QueueSettings(limit=limit, aqm=dualpi2)},
            )
        marks = None
        if name != "drop":
            marks = Aqm("ecn_step", threshold=Limit(packets=self.threshold_packets))
        every = QueueSettings(limit=limit, aqm=marks)
        return base.with_settings("s1", LINE, rate_bps=self.rate_bps, every_queue=every)

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """All flows at once."""
        (part,) = (each for each in PARTS if each.name == run.name)
        bench.bring_up(self.topology(run.name))
        with bench.recording([("s1", LINE)], senders=["h1", "h2"]) as instruments:
            plans = [
                FlowPlan(_flow(host, number), host, "h3", congestion)
                for host, congestion in zip(("h1", "h2"), part.congestion, strict=True)
                for number in range(part.flows)
            ]
            instruments.flows(plans, seconds=self.seconds)
            instruments.finish()
        found = Findings(instruments.recording, self.rate_bps)
        instruments.note(f"the line was busy for {found.use:.1%}, {found.dropped} dropped")
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Queue, use, losses and shares of each run."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        for part in self.parts:
            found = Findings(recordings[part.name], self.rate_bps)
            if part.name == "l4s":
                rows += self._l4s_rows(part, found)
                bands += self._l4s_bands(part, found)
                numbers["l4s_l4s_delay_ms"] = found.delay_ms(L4S)
                numbers["l4s_classic_delay_ms"] = found.delay_ms(CLASSIC)
            else:
                rows += self._rows(part, found)
                bands += self._bands(part, found)
                numbers[f"{part.name}_queue_packets"] = found.queue_packets
            numbers[f"{part.name}_line_share"] = found.use
            numbers[f"{part.name}_dropped_packets"] = found.dropped
            numbers[f"{part.name}_h1_share"] = found.h1_share
        return Assessment(rows, bands, numbers)

    def _rows(self, part: _Part, found: Findings) -> list[Row]:
        threshold = self.threshold_packets
        queue, use = {
            "drop": (f"up to {self.limit_packets} packets", "100%"),
            "reno": (f"saws below {threshold}", f"{self._reno_use:.0%}"),
            "dctcp": (f"near {threshold} packets", "100%"),
        }[part.name]
        return [
            Row(f"{part.title}: mean queue", "", queue, f"{found.queue_packets:.1f} packets"),
            Row(f"{part.title}: line used", "", use, f"{found.use:.1%}"),
            Row(f"{part.title}: dropped", "", "", f"{found.dropped} packets"),
            Row(f"{part.title}: h1's part", "", "50%", f"{found.h1_share:.0%}"),
        ]

    @property
    def _reno_use(self) -> float:
        """The fluid model's line with so short a queue."""
        return reno_utilisation(self.threshold_packets / self.bdp)

    def _bands(self, part: _Part, found: Findings) -> list[Band]:
        runs, use = (part.name,), 100 * found.use
        queue, used = f"{part.title}: mean queue", f"{part.title}: line used"
        packets = found.queue_packets
        if part.name == "drop":
            return [
                Band(queue, packets, 0.3 * self.limit_packets, None, "packets", runs),
                Band(used, use, 98, None, "%", runs),
            ]
        dropped = Band(f"{part.title}: dropped", found.dropped, None, 0, "packets", runs)
        if part.name == "reno":
            # Two flows: at best one at a time halves its window, at worst both do.
            return [Band(used, use, 75, 100 * (1 + self._reno_use) / 2, "%", runs), dropped]
        low, high = 0.4 * self.threshold_packets, 1.6 * self.threshold_packets
        return [
            Band(queue, packets, low, high, "packets", runs),
            Band(used, use, 98, None, "%", runs),
            dropped,
        ]

    def _l4s_rows(self, part: _Part, found: Findings) -> list[Row]:
        l4s = f"near {1000 * L4S_MIN_S:g} to {1000 * L4S_MAX_S:g} ms"
        classic = f"near {1000 * CLASSIC_TARGET_S:g} ms"
        return [
            Row("DualPI2: Prague's packets wait", "", l4s, f"{found.delay_ms(L4S):.2f} ms"),
            Row("DualPI2: Cubic's packets wait", "", classic, f"{found.delay_ms(CLASSIC):.1f} ms"),
            Row("DualPI2: line used", "", "100%", f"{found.use:.1%}"),
            Row(
                "DualPI2: Prague's part", "", f"{self._coupled(found):.0%}", f"{found.h1_share:.0%}"
            ),
        ]

    def _l4s_bands(self, part: _Part, found: Findings) -> list[Band]:
        runs = (part.name,)
        frame_ms = 1000 * queue_delay_s(1, self.rate_bps)
        # Marks begin at the ramp; a frame of the other queue may be on the line.
        most_ms = 1000 * L4S_MAX_S + 3 * frame_ms
        target_ms = 1000 * CLASSIC_TARGET_S
        # The formulas are for a steady p', and it follows Cubic's saw: within a factor of two.
        ratio = self._coupled(found) / (1 - self._coupled(found))
        low, high = (100 * each / (1 + each) for each in (ratio / 2, 2 * ratio))
        return [
            Band("DualPI2: Prague's packets wait", found.delay_ms(L4S), None, most_ms, "ms", runs),
            Band(
                "DualPI2: Cubic's packets wait",
                found.delay_ms(CLASSIC),
                0.4 * target_ms,
                1.6 * target_ms,
                "ms",
                runs,
            ),
            Band("DualPI2: line used", 100 * found.use, 95, None, "%", runs),
            Band(
                "DualPI2: Prague's part of both",
                100 * found.h1_share,
                low,
                high,
                "%",
                runs,
                unjudged=self._too_slow_a_saw(part),
            ),
        ]

    def _too_slow_a_saw(self, part: _Part) -> str:
        """Whether p' has time to follow the saw of each Cubic flow; the formulas have it steady."""
        classic_s = RTT_S + CLASSIC_TARGET_S
        window = bdp_packets(self.rate_bps, classic_s) / (2 * part.flows)
        # As slow as Reno's here: from 70 % on half a packet a round trip, about.
        saw_s = 0.3 * window / CUBIC_STEP * classic_s
        if saw_s <= SAW_S_MAX:
            return ""
        return (
            f"a Cubic flow's saw takes {saw_s:.1f} s at this rate and p' follows it, while the "
            "formulas are for a steady p'"
        )

    def _coupled(self, found: Findings) -> float:
        """Prague's part of the line by the formulas, with the round trips that were measured."""
        l4s_s, classic_s = (RTT_S + found.delay_ms(each) / 1000 for each in (L4S, CLASSIC))
        grows = min(1.0, (l4s_s / REFERENCE_RTT_S) ** 2)
        prague, cubic = PRAGUE * grows / COUPLING / l4s_s, CUBIC / classic_s
        return prague / (prague + cubic)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Queues and windows of all runs; then who got how much."""
        words = "; ".join(
            f"{part.title}: line {Findings(recordings[part.name], self.rate_bps).use:.0%} busy"
            for part in self.parts
        )
        return [
            Figure(
                "queues",
                f"What waits, a row for each run, on a scale of its own. {words}.",
                lambda canvas: self._draw_queues(canvas, recordings),
                height=2.1 * len(self.parts),
            ),
            Figure(
                "windows",
                "The windows of each host's first flow: Reno halves, DCTCP and Prague trim.",
                lambda canvas: self._draw_windows(canvas, recordings),
                height=2.0 * len(self.parts),
            ),
        ]

    def _draw_queues(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        title = f"A line of {units.format_rate(self.rate_bps)}, RTT 20 ms"
        rows = drawing.stack(canvas, [1] * len(self.parts), title=title)
        for axes, part in zip(rows, self.parts, strict=True):
            series = recordings[part.name].ports[PORT]
            classes = {0: "packets that wait"}
            if part.name == "l4s":
                classes = {CLASSIC: "Classic queue", L4S: "L4S queue"}
            for index, (class_, label) in enumerate(classes.items()):
                packets = series.queues[class_].packets
                own = (drawing.INK, drawing.RED)[index]
                axes.plot(
                    *drawing.thinned(series.time_s, packets), color=own, linewidth=0.9, label=label
                )
            if part.name in ("reno", "dctcp"):
                drawing.level(axes, self.threshold_packets, "marks from here on")
            settled = Findings(recordings[part.name], self.rate_bps)
            top = max(*series.packets[settled.rows], 2 * self.threshold_packets) * 1.15
            drawing.drop_marks(axes, series.drops, height=top)
            axes.set_ylim(0, top * 1.1)
            axes.set_ylabel("queue\n(packets)")
            axes.set_title(part.title, fontsize=10.5, loc="left")
            drawing.legend(axes)

    def _draw_windows(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        rows = drawing.stack(canvas, [1] * len(self.parts), title="Congestion windows")
        for axes, part in zip(rows, self.parts, strict=True):
            flows = recordings[part.name].flows
            drawing.congestion_window(
                axes,
                {
                    f"{host}, {congestion}": flows[host].samples
                    for host, congestion in zip(("h1", "h2"), part.congestion, strict=True)
                },
                thresholds=False,
            )
            axes.set_title(part.title, fontsize=10.5, loc="left")


def _flow(host: str, number: int) -> str:
    """A flow's name: h1, then h1 (2)."""
    return host if number == 0 else f"{host} ({number + 1})"


class Findings:
    """A run once its flows have settled."""

    def __init__(self, recording: Recording, rate_bps: int) -> None:
        flows = list(recording.flows.values())
        start_s = max(flow.samples[0].time_s for flow in flows) + SETTLED_S
        end_s = min(flow.samples[-1].time_s for flow in flows)
        self._series = recording.ports[PORT]
        self._rate_bps = rate_bps
        self.rows = self._series.rows(start_s, end_s)
        self.use = self._series.rate_bps(start_s, end_s) / rate_bps
        self.queue_packets = self._series.mean_packets(start_s, end_s)
        self.dropped = self._series.dropped_between(start_s, end_s)
        got = {"h1": 0.0, "h2": 0.0}
        for flow in flows:
            got[flow.source] += flow.throughput_bps(start_s, end_s)
        self.h1_share = got["h1"] / sum(got.values())

    def delay_ms(self, class_: int) -> float:
        """What a packet of a class waits, by Little's law: what waits through what is sent."""
        queue = self._series.queues[class_]
        waiting = queue.bytes[self.rows]
        times, sent = self._series.time_s[self.rows], queue.departed_bytes[self.rows]
        bytes_a_s = (sent[-1] - sent[0]) / (times[-1] - times[0])
        return sum(waiting) / len(waiting) / bytes_a_s * 1000
