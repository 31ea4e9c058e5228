"""Congestion controls against each other: BBR beside Cubic before six buffers, losses, distances.

Two flows share a line. First only the buffer changes, then one flow after the other has a line that
loses one packet in a hundred for itself, and last two Reno flows come from different distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.queueing import Limit, QueueSettings
from labs import palette
from labs.bench import Bench, FlowPlan
from labs.congestion_controls.theory import bbr_share, lossy_share, near_share
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import bdp_packets, payload_share, queue_delay_s
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import Topology

LINE = 3
PORT = f"s1-eth{LINE}"
RTT_S = 0.050
# The far sender's own round trip on top of it.
FAR_S = 0.150
BUFFERS = (0.5, 1, 2, 4, 8)
LOSS_PPM = 10_000
# The part of a run that is left to the flows to find each other.
SETTLING = 0.3
SAMPLE_INTERVAL_MS = 5
# The bands, in percent: BBR's least part with short buffers, its distance from the model with long
# ones, its least fall between both; a nearer flow's least part beside a far one's.
SHORT_LEAST, MODEL_OFF, FALL_LEAST, NEAR_LEAST = 75, 10, 25, 60


@dataclass(frozen=True)
class _Part:
    """One run."""

    name: str
    title: str
    # The congestion controls of h1 and h2; None: that host sends nothing.
    one: str
    other: str | None
    buffer_bdp: float = 1
    loss_ppm: int = 0
    is_far: bool = False


def _word(buffer_bdp: float) -> str:
    """0.5 as half, else the number, for names."""
    return "half" if buffer_bdp == 0.5 else f"{buffer_bdp:g}"


PARTS = (
    *(
        _Part(f"buffer-{_word(each)}", f"BBR beside Cubic, {each:g} BDP", "bbr", "cubic", each)
        for each in BUFFERS
    ),
    _Part("cubic-reno", "Cubic beside Reno, 1 BDP", "cubic", "reno"),
    _Part("loss-bbr", "BBR alone, one packet in a hundred lost", "bbr", None, 2, LOSS_PPM),
    _Part("loss-reno", "Reno alone, one packet in a hundred lost", "reno", None, 2, LOSS_PPM),
    _Part("far", "Reno beside Reno from four times as far", "reno", "reno", is_far=True),
)
NAMES = {"cubic": "Cubic", "reno": "Reno", "bbr": "BBR"}


class CongestionControls(Lab):
    """BBR, Cubic and Reno on one line."""

    name: ClassVar = "congestion-controls"
    title: ClassVar = "Congestion controls against each other"
    summary: ClassVar = "BBR, Cubic, Reno on one line: buffers, losses and distances decide"
    question: ClassVar = (
        "Two flows share a line, each with another TCP: who gets how much, and why?"
    )
    look_for: ClassVar = (
        "Before a short buffer BBR takes nearly all, before a long one half and less: the model "
        "of Ware and others, which knows the buffer only, says how much at most.",
        "A line that loses one packet in a hundred leaves Reno a seventh; BBR does not notice.",
        "Two flows of one kind are not equal either, if one of them comes from further away.",
    )
    original: ClassVar = "no single text: Ware et al. (2019), Mathis et al. (1997)"
    takes: ClassVar = frozenset({"rate", "duration"})
    rates_bps: ClassVar = (5_000_000, 1_000_000_000)

    @property
    def rate_bps(self) -> int:
        """The line."""
        return self.settings.rate_bps or 20_000_000

    @property
    def seconds(self) -> int:
        """How long the flows run."""
        return self.settings.seconds or (60 if self.settings.quick else 120)

    @property
    def least_seconds(self) -> int:
        """BBR looks for the round trip every ten seconds."""
        return 40

    @property
    def least_seconds_for(self) -> str:
        """Some of its rounds, and some of Cubic's saws."""
        return "for BBR to look for the round trip some times"

    @property
    def place(self) -> Place:
        """The line."""
        return Place(self.topology(PARTS[1]), "s1", LINE)

    def packets(self, buffer_bdp: float) -> int:
        """A buffer in packets."""
        return max(2, round(buffer_bdp * bdp_packets(self.rate_bps, RTT_S)))

    def runs(self) -> Sequence[Run]:
        """Buffers, then losses, then distances."""
        return [Run(part.name, part.title, self.seconds + AROUND_S) for part in PARTS]

    def topology(self, part: _Part) -> Topology:
        """The network of a run."""
        limit = QueueSettings(limit=Limit(packets=self.packets(part.buffer_bdp)))
        base = load.load(Path(__file__).with_name("topology.yaml"))
        changed = base.with_settings("s1", LINE, rate_bps=self.rate_bps, every_queue=limit)
        if part.loss_ppm:
            changed = changed.with_transmit("s1", LINE, loss_ppm=part.loss_ppm)
        if part.is_far:
            # Half of it on the way back, half on the way there.
            half_ns = round(FAR_S / 2 * 1e9)
            changed = changed.with_transmit("s1", 2, delay_ns=half_ns)
            changed = changed.with_receive("s1", 2, delay_ns=half_ns)
        return changed

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """One flow or two."""
        (part,) = (each for each in PARTS if each.name == run.name)
        bench.bring_up(self.topology(part))
        plans = [FlowPlan("h1", "h1", "h3", part.one)]
        if part.other is not None:
            plans.append(FlowPlan("h2", "h2", "h3", part.other))
        senders = [plan.source for plan in plans]
        with bench.recording(
            [("s1", LINE)], senders=senders, interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            instruments.flows(plans, seconds=self.seconds)
            instruments.finish()
        found = Findings(instruments.recording, self.rate_bps)
        instruments.note(f"h1 got {found.one:.0%} of the line, h2 {found.other:.0%}")
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Shares against the models."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        for part in PARTS:
            found = Findings(recordings[part.name], self.rate_bps)
            runs, share = (part.name,), 100 * found.one_of_both
            if part.name.startswith("buffer"):
                said = bbr_share(part.buffer_bdp, self.rate_bps, RTT_S)
                rows.append(Row(f"{part.title}: BBR's part", "", f"{said:.0%}", f"{share:.0f}%"))
                bands.append(self._buffer_band(part, share, 100 * said))
            elif part.name == "cubic-reno":
                rows.append(Row(f"{part.title}: Cubic's part", "", "", f"{share:.0f}%"))
                bands.append(Band(f"{part.title}: Cubic's part of both", share, 40, 80, "%", runs))
            elif part.name == "loss-bbr":
                rows.append(Row(f"{part.title}: of the line", "", "nearly all", f"{found.one:.0%}"))
                bands.append(
                    Band(f"{part.title}: of the line", 100 * found.one, 80, None, "%", runs)
                )
            elif part.name == "loss-reno":
                said = lossy_share(part.loss_ppm / 1e6, self.rate_bps, RTT_S)
                rows.append(
                    Row(f"{part.title}: of the line", "", f"{said:.0%}", f"{found.one:.0%}")
                )
                bands.append(
                    Band(
                        f"{part.title}: of the line",
                        100 * found.one,
                        60 * said,
                        130 * said,
                        "%",
                        runs,
                    )
                )
            else:
                queue_s = queue_delay_s(1, self.rate_bps) * found.queue_packets
                near_s, far_s = RTT_S + queue_s, RTT_S + FAR_S + queue_s
                # Between the root of losses that strike both alike and of losses that strike
                # at random: rates go with the first or the second power of the round trip.
                low, high = (near_share(near_s, far_s, power) for power in (1, 2))
                words = f"{low:.0%} to {high:.0%}"
                rows.append(Row(f"{part.title}: the near one's part", "", words, f"{share:.0f}%"))
                bands.append(
                    Band(
                        f"{part.title}: the near one's part of both",
                        share,
                        NEAR_LEAST,
                        100 * high,
                        "%",
                        runs,
                    )
                )
            key = part.name.replace("-", "_")
            numbers[f"{key}_h1_share"] = found.one
            numbers[f"{key}_h2_share"] = found.other
            numbers[f"{key}_queue_packets"] = found.queue_packets
            numbers[f"{key}_dropped_packets"] = found.dropped
        bands.append(self._fall_band(recordings))
        return Assessment(rows, bands, numbers)

    def _buffer_band(self, part: _Part, share: float, said: float) -> Band:
        claim, runs = f"{part.title}: BBR's part of both", (part.name,)
        if part.buffer_bdp <= 1:
            # Nothing is left for the others by the model; their losses still find some room.
            return Band(claim, share, SHORT_LEAST, None, "%", runs)
        # The model is a bound: it has BBR fill its two products at every instant.
        return Band(claim, share, None, said + MODEL_OFF, "%", runs)

    def _fall_band(self, recordings: Mapping[str, Recording]) -> Band:
        """The model falls from 100 to 57 %; the measured part must fall as clearly."""
        names = [f"buffer-{_word(each)}" for each in (1, BUFFERS[-1])]
        short, long = (
            100 * Findings(recordings[each], self.rate_bps).one_of_both for each in names
        )
        claim = f"BBR beside Cubic: what BBR loses from 1 to {BUFFERS[-1]:g} BDP"
        return Band(claim, short - long, FALL_LEAST, None, "points", tuple(names))

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The share against the buffer; then all runs over time."""
        found = {part.name: Findings(recordings[part.name], self.rate_bps) for part in PARTS}
        beside = [found[part.name] for part in PARTS if part.name.startswith("buffer")]
        shortest, longest = beside[0], beside[-1]
        frame_ms = queue_delay_s(1, self.rate_bps) * 1000
        told = "; ".join(f"{part.title}: {_parts(found[part.name])}" for part in PARTS)
        return [
            Figure(
                "share",
                "BBR beside Cubic: BBR's share of the goodput, by the buffer, and the model: "
                f"{shortest.one_of_both:.0%} before {BUFFERS[0]:g} BDP, "
                f"{longest.one_of_both:.0%} before {BUFFERS[-1]:g}. Right: what the buffer costs "
                f"every flow, the mean delay of the queue: {shortest.queue_packets * frame_ms:.0f} "
                f"and {longest.queue_packets * frame_ms:.0f} ms.",
                lambda canvas: self._draw_share(canvas, recordings),
                height=4,
            ),
            Figure(
                "rates",
                f"The rates of both flows over time, and their shares of the line: {told}.",
                lambda canvas: self._draw_rates(canvas, recordings),
                height=1.5 * len(PARTS),
            ),
        ]

    def _draw_share(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        share, delay = canvas.subplots(1, 2, width_ratios=(1.5, 1))
        found = [
            Findings(recordings[part.name], self.rate_bps)
            for part in PARTS
            if part.name.startswith("buffer")
        ]
        share.plot(
            BUFFERS,
            [each.one_of_both for each in found],
            marker="o",
            linewidth=1.4,
            color=palette.BLUE,
            label="BBR's part, measured",
        )
        fine = [0.5 * 2 ** (step / 20) for step in range(81)]
        share.plot(
            fine,
            [bbr_share(each, self.rate_bps, RTT_S) for each in fine],
            color=palette.GREY,
            linestyle="--",
            linewidth=1.2,
            label="model",
        )
        share.axhline(0.5, color=drawing.PALE, linewidth=1.5)
        share.set_ylim(0, 1.05)
        share.set_ylabel("BBR's part of both")
        frame_ms = queue_delay_s(1, self.rate_bps) * 1000
        delay.plot(
            BUFFERS,
            [each.queue_packets * frame_ms for each in found],
            marker="o",
            linewidth=1.4,
            color=palette.ORANGE,
            label="queue delay",
        )
        delay.set_ylabel("mean delay (ms)")
        for axes in (share, delay):
            axes.set_xscale("log", base=2)
            axes.set_xticks(BUFFERS, [f"{each:g}" for each in BUFFERS])
            axes.set_xlabel("buffer (BDP)")
            drawing.grid(axes)
            drawing.legend(axes)

    def _draw_rates(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        title = f"A line of {units.format_rate(self.rate_bps)}, RTT 50 ms"
        for axes, part in zip(
            drawing.stack(canvas, [1] * len(PARTS), title=title), PARTS, strict=True
        ):
            flows = recordings[part.name].flows
            rates = {f"h1, {NAMES[part.one]}": flows["h1"].rates(1.0)}
            if part.other is not None:
                far = ", far" if part.is_far else ""
                rates[f"h2, {NAMES[part.other]}{far}"] = flows["h2"].rates(1.0)
            drawing.throughput(axes, rates, line_rate_bps=self.rate_bps)
            axes.set_title(part.title, fontsize=10, loc="left")


def _parts(found: Findings) -> str:
    """The shares of h1 and h2 of the line; that of h1 where it was alone."""
    both = f"{found.one:.0%} and {found.other:.0%}"
    return both if found.other else f"{found.one:.0%}"


class Findings:
    """A run once its flows have found each other."""

    def __init__(self, recording: Recording, rate_bps: int) -> None:
        flows = recording.flows
        begin_s = max(flow.samples[0].time_s for flow in flows.values())
        end_s = min(flow.samples[-1].time_s for flow in flows.values())
        start_s = begin_s + SETTLING * (end_s - begin_s)

        def part(host: str) -> float:
            if host not in flows:
                return 0.0
            # With headers, as the line counts.
            return flows[host].throughput_bps(start_s, end_s) / payload_share() / rate_bps

        self.one, self.other = part("h1"), part("h2")
        self.one_of_both = self.one / (self.one + self.other)
        series = recording.ports[PORT]
        self.queue_packets = series.mean_packets(start_s, end_s)
        self.dropped = series.dropped_between(start_s, end_s)
