"""The square-root rule: one, ten and forty Reno flows before buffers that the rule gives them.

The line grows with the flows, so that each of them has the same window; the buffer is a part of
RTT x C / sqrt(n). Senders are at different distances, so that they do not halve at one instant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.queueing import Limit, QueueSettings
from labs import palette
from labs.bench import Bench, FlowPlan
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import bdp_packets, reno_utilisation
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import Topology

LINE = 11
PORT = f"s1-eth{LINE}"
SENDERS = 10
# The mean of all senders.
RTT_S = 0.050
SETTLED_S = 8.0
SAMPLE_INTERVAL_MS = 5


@dataclass(frozen=True)
class _Load:
    """So many flows, and a line on which each has a window of about 20 packets or more."""

    flows: int
    rate_bps: int

    @property
    def title(self) -> str:
        """How many they are."""
        return units.counted(self.flows, "flow")

    @property
    def bdp(self) -> float:
        """The bandwidth-delay product, in packets."""
        return bdp_packets(self.rate_bps, RTT_S)


LOADS = (_Load(1, 10_000_000), _Load(10, 50_000_000), _Load(40, 200_000_000))
PARTS = (0.25, 0.5, 1.0, 2.0)
QUICK_PARTS = (0.25, 1.0)


class SquareRootRule(Lab):
    """How little is enough."""

    name: ClassVar = "square-root-rule"
    title: ClassVar = "The square-root rule"
    summary: ClassVar = "1, 10 and 40 flows before buffers of RTT x C / sqrt(n)"
    question: ClassVar = "How much buffer does a line need that many flows share?"
    look_for: ClassVar = (
        "With RTT x C / sqrt(n) of buffer the line is busy, whether one or forty flows share it.",
        "Forty flows need a sixth of the buffer that one of them needs for the same use.",
        "The sum of many saws is hardly a saw any more: look at the queue.",
    )
    original: ClassVar = "no single text: Appenzeller, Keslassy and McKeown (2004)"
    takes: ClassVar = frozenset({"duration"})

    @property
    def parts(self) -> tuple[float, ...]:
        """Buffers as fractions of the rule's size."""
        return QUICK_PARTS if self.settings.quick else PARTS

    @property
    def seconds(self) -> int:
        """How long the flows run."""
        return self.settings.seconds or (24 if self.settings.quick else 60)

    @property
    def least_seconds(self) -> int:
        """The span that is not measured, and some teeth of the saw of one flow."""
        return 20

    @property
    def least_seconds_for(self) -> str:
        """A tooth of one flow takes two seconds and more."""
        return "for some teeth of the saw of a single flow"

    @property
    def place(self) -> Place:
        """The line."""
        return Place(self.topology(LOADS[0], 1.0), "s1", LINE)

    def packets(self, load_: _Load, part: float) -> int:
        """A buffer in packets."""
        return max(2, round(part * load_.bdp / math.sqrt(load_.flows)))

    def runs(self) -> Sequence[Run]:
        """Every number of flows with every buffer."""
        return [
            Run(
                _name(load_, part),
                f"{load_.title}, {part:g} of the rule: {self.packets(load_, part)} packets",
                self.seconds + AROUND_S,
            )
            for load_ in LOADS
            for part in self.parts
        ]

    def topology(self, load_: _Load, part: float) -> Topology:
        """The network of a run."""
        limit = QueueSettings(limit=Limit(packets=self.packets(load_, part)))
        base = load.load(Path(__file__).with_name("topology.yaml"))
        return base.with_settings("s1", LINE, rate_bps=load_.rate_bps, every_queue=limit)

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """All flows at once, spread over the senders."""
        ((load_, part),) = (
            (load_, part)
            for load_ in LOADS
            for part in self.parts
            if _name(load_, part) == run.name
        )
        bench.bring_up(self.topology(load_, part))
        with bench.recording(
            [("s1", LINE)], senders=[], interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            plans = [
                FlowPlan(f"flow {number + 1}", f"h{number % SENDERS + 1}", f"h{LINE}", "reno")
                for number in range(load_.flows)
            ]
            instruments.flows(plans, seconds=self.seconds)
            instruments.finish()
        instruments.note(f"the line was busy for {self._use(load_, instruments.recording):.1%}")
        return instruments.recording

    def _use(self, load_: _Load, recording: Recording) -> float:
        """The part of the line that was used once the flows had settled."""
        series = recording.ports[PORT]
        begin_s = series.time_s[0]
        return series.rate_bps(begin_s + SETTLED_S, begin_s + self.seconds - 1) / load_.rate_bps

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The use of the line, and what one flow would make of so short a buffer."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        for load_ in LOADS:
            for part in self.parts:
                name, packets = _name(load_, part), self.packets(load_, part)
                use = self._use(load_, recordings[name])
                expected = f"at least {_bound(load_, packets):.0%}"
                if load_.flows == 1:
                    expected = f"{reno_utilisation(packets / load_.bdp):.0%}"
                what = f"{load_.title}, buffer {packets} packets ({part:g} of the rule)"
                rows.append(Row(what, "", expected, f"{use:.1%}"))
                numbers[f"{name.replace('-', '_')}_line_share"] = use
                if part == 1:
                    bands.append(Band(f"{what}: line used", 100 * use, 95, None, "%", (name,)))
        # The rule is about what many flows gain on one: with the same part of the path as buffer.
        most = LOADS[-1]
        name = _name(most, 1.0)
        use = self._use(most, recordings[name])
        gain = 100 * (use - reno_utilisation(self.packets(most, 1.0) / most.bdp))
        claim = f"{most.title}, 1 of the rule: more than one flow makes of such a buffer"
        bands.append(Band(claim, gain, 5, None, "points", (name,)))
        return Assessment(rows, bands, numbers)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Use against the buffer; then the queues."""
        return [
            Figure(
                "use",
                "How busy the line is. Left: by the buffer as a part of the bandwidth-delay "
                "product, with the fluid model of one flow. Right: the same points by the part of "
                f"the rule's buffer; with all of it {self._told(recordings)}.",
                lambda canvas: self._draw_use(canvas, recordings),
                height=4.2,
            ),
            Figure(
                "queues",
                "The queue with the rule's buffer: a saw for one flow, noise for many.",
                lambda canvas: self._draw_queues(canvas, recordings),
                height=5.6,
            ),
        ]

    def _told(self, recordings: Mapping[str, Recording]) -> str:
        """How busy the line was with the rule's buffer."""
        uses = [(load_, self._use(load_, recordings[_name(load_, 1.0)])) for load_ in LOADS]
        busy = ", ".join(f"{use:.0%} with {load_.title}" for load_, use in uses)
        return f"the line is busy for {busy}"

    def _draw_use(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        by_bdp, by_rule = canvas.subplots(1, 2, sharey=True)
        lowest = 1.0
        for index, load_ in enumerate(LOADS):
            uses = [self._use(load_, recordings[_name(load_, part)]) for part in self.parts]
            lowest = min(lowest, *uses)
            buffers = [self.packets(load_, part) / load_.bdp for part in self.parts]
            own, label = palette.FLOWS[index], load_.title
            by_bdp.plot(buffers, uses, marker="o", color=own, linewidth=1.2, label=label)
            by_rule.plot(self.parts, uses, marker="o", color=own, linewidth=1.2, label=label)
        fine = [0.02 * 2 ** (step / 10) for step in range(67)]
        by_bdp.plot(
            fine,
            [reno_utilisation(each) for each in fine],
            color=palette.GREY,
            linestyle="--",
            linewidth=1,
            label="one flow, model",
        )
        by_bdp.set_ylabel("part of the line used")
        by_bdp.set_xlabel("buffer (BDP)")
        by_rule.set_xlabel("buffer (RTT x C / sqrt(n))")
        for axes, marked in ((by_bdp, (0.03, 0.1, 0.3, 1, 3)), (by_rule, self.parts)):
            axes.set_xscale("log")
            axes.set_xticks(marked, [f"{each:g}" for each in marked])
            axes.minorticks_off()
            # All that was measured is shown, and a little of the model below it.
            axes.set_ylim(min(0.7, lowest - 0.03), 1.01)
            drawing.grid(axes)
            drawing.legend(axes, columns=2)

    def _draw_queues(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        rows = drawing.stack(canvas, [1] * len(LOADS), title="Queues with the rule's buffer")
        for axes, load_ in zip(rows, LOADS, strict=True):
            series = recordings[_name(load_, 1.0)].ports[PORT]
            drawing.queue_depth(axes, series, limit_packets=self.packets(load_, 1.0))
            title = f"{load_.title}, {units.format_rate(load_.rate_bps)}"
            axes.set_title(title, fontsize=10, loc="left")


def _bound(load_: _Load, packets: int) -> float:
    """The use of the line by flows whose windows are independent of each other, at least."""
    shares = packets / ((load_.bdp + packets) / math.sqrt(load_.flows))
    return math.erf(3 * math.sqrt(3) / (2 * math.sqrt(2)) * shares)


def _name(load_: _Load, part: float) -> str:
    """A run's name: flows-10-part-50."""
    return f"flows-{load_.flows}-part-{round(100 * part)}"
