"""Sizing router buffers: one Reno flow, and a bottleneck's queue of 72 to 2 packets.

A second family of runs leaves the queue long and limits the flow from its ends: by the receiver's
window, and by a slow start that stops far too early.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.queueing import Limit, QueueSettings
from labs.bench import Bench
from labs.congestion import FILL_QUEUES, unjudged_but_for
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import FRAME_BYTES, PAYLOAD_BYTES, bdp_packets, reno_utilisation
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from labs.sizing_router_buffers.findings import PORT, RTT_S, SETTLED_S, Findings
from topo import load, units
from topo.model import TcpBuffer, TcpSettings, Topology

BOTTLENECK = 2
# A slow-start threshold far below the BDP of 17 packets, and the window every flow begins with.
THRESHOLD_PACKETS = 4
INITIAL_WINDOW_PACKETS = 10
ORIGINAL_RATE_BPS = 10_000_000


@dataclass(frozen=True)
class _Original:
    throughput_mbps: float
    goodput_mbps: float
    loss: float
    rtt_s: float


# The original's table, by packets of buffer.
ORIGINAL = {
    72: _Original(10.03, 10.03, 0.00024, 0.081),
    36: _Original(10.02, 10.02, 0.00084, 0.046),
    18: _Original(9.99, 9.99, 0.00192, 0.030),
    9: _Original(9.45, 9.42, 0.00330, 0.024),
    2: _Original(2.11, 2.01, 0.04719, 0.021),
}
# The original's own answer to which buffer is just enough stands between two of its rows.
JUST_ENOUGH = 21
SIZES = (72, 36, JUST_ENOUGH, 18, 9, 2)
# The utilisation that the line must have, by packets of buffer.
USE_BANDS = {72: (0.97, None), 36: (0.97, None), 18: (0.97, None), 9: (0.85, 0.98)}
# The smallest buffer again, with acknowledgements as Linux sends them: one for two packets, so that
# each releases two at once. `differences` has found that this makes such a row in Linux; the
# original's simulator could not be examined.
DELAYED, DELAYED_PACKETS, DELAYED_USE_MAX = "delayed", 2, 0.75
# Where each host answers in no time, as in virtual time, two packets always come just as two have
# left, and fit. No real host answers so; nine in ten of Linux's answers are 10 to 100 us late.
DELAYED_JITTER_NS = 100_000


class SizingRouterBuffers(Lab):
    """How much buffer does one flow need?"""

    name: ClassVar = "sizing-router-buffers"
    title: ClassVar = "Sizing router buffers"
    summary: ClassVar = "one Reno flow, six buffer sizes: how much buffer keeps a line busy?"
    question: ClassVar = "How many packets must a router's buffer hold so that its line stays busy?"
    look_for: ClassVar = (
        "The saw becomes lower and faster as the buffer shrinks. Find the largest buffer whose saw "
        "touches zero: there the line begins to stand still.",
        "From one bandwidth-delay product on, a larger buffer gains nothing.",
        "What a larger buffer costs, the round trip, goes on rising.",
        "A flow that is limited by its receiver's window neither queues nor loses.",
    )
    original: ClassVar = "a university's exercise with the simulator ns-2 (packets of 1500 bytes)"
    takes: ClassVar = frozenset({"rate", "duration", "congestion"})

    @property
    def rate_bps(self) -> int:
        """The bottleneck."""
        return self.settings.rate_bps or 10_000_000

    @property
    def window_s(self) -> int:
        """How long is measured, from second 2 on."""
        return self.settings.seconds or (6 if self.settings.quick else 10)

    @property
    def flow_s(self) -> int:
        """How long a flow runs."""
        return round(SETTLED_S) + self.window_s + 1

    @property
    def least_seconds(self) -> int:
        """Some teeth of the saw."""
        return 5

    @property
    def least_seconds_for(self) -> str:
        """A saw with one tooth has no mean."""
        return "for some teeth of the saw"

    @property
    def place(self) -> Place:
        """The bottleneck."""
        return Place(self.topology(self.runs()[0]), "s1", BOTTLENECK)

    @property
    def is_original(self) -> bool:
        """Whether line and TCP are those of the original."""
        return self.rate_bps == ORIGINAL_RATE_BPS and self.congestion == "reno"

    @property
    def congestion(self) -> str:
        """The flow's TCP."""
        return self.settings.congestion or "reno"

    @property
    def _scale(self) -> float:
        """Buffers grow with the rate, so that they stay the same part of the BDP."""
        return self.rate_bps / ORIGINAL_RATE_BPS

    @property
    def sizes(self) -> Sequence[int]:
        """The original's buffers, without those that would be another one's at this rate."""
        own = {self.packets(packets): packets for packets in reversed(SIZES)}
        return [packets for packets in SIZES if own[self.packets(packets)] == packets]

    def packets(self, of_original: int) -> int:
        """A buffer of the original at this lab's rate."""
        return max(1, round(of_original * self._scale))

    def runs(self) -> Sequence[Run]:
        """Buffers from large to small; then, unless quick, a flow that its ends limit."""
        seconds = self.flow_s + AROUND_S
        runs = [
            Run(
                f"buffer-{packets}",
                f"A buffer of {self.packets(packets)} packets",
                seconds,
                {"buffer_packets": self.packets(packets)},
            )
            for packets in self.sizes
        ]
        few = self.packets(DELAYED_PACKETS)
        title = f"A buffer of {few} packets, delayed acknowledgements"
        runs.append(Run(DELAYED, title, seconds, {"buffer_packets": few}))
        if self.settings.quick:
            return runs
        ample = self.packets(72)
        return [
            *runs,
            *(
                Run(
                    f"window-{percent}",
                    f"The receiver's window at {percent} % of the BDP",
                    seconds,
                    {"buffer_packets": ample, "window_bytes": self._window_bytes(percent)},
                )
                for percent in (100, 50)
            ),
            Run(
                "threshold",
                f"A slow start that stops at {THRESHOLD_PACKETS} packets",
                seconds,
                {"buffer_packets": ample, "threshold_packets": THRESHOLD_PACKETS},
            ),
        ]

    def _window_bytes(self, percent: int) -> int:
        """The receive buffer for a window of that part of the BDP: Linux offers half of it."""
        segments = bdp_packets(self.rate_bps, RTT_S) * percent / 100
        return round(2 * segments * PAYLOAD_BYTES)

    def topology(self, run: Run) -> Topology:
        """The network of a run."""
        limit = Limit(packets=run.parameters["buffer_packets"])
        base = load.load(Path(__file__).with_name("topology.yaml"))
        changed = base.with_settings(
            "s1", BOTTLENECK, rate_bps=self.rate_bps, every_queue=QueueSettings(limit=limit)
        )
        sender = TcpSettings(
            self.congestion, ssthresh_packets=run.parameters.get("threshold_packets")
        )
        window = run.parameters.get("window_bytes")
        receiver = TcpSettings(
            self.congestion,
            rmem=TcpBuffer(4096, window, window) if window else None,
            # Every packet is acknowledged at once. Linux may wait 40 ms for a second one.
            quickack=run.name != DELAYED,
        )
        if run.name == DELAYED:
            changed = changed.with_receive("s1", BOTTLENECK, jitter_ns=DELAYED_JITTER_NS)
        return changed.with_hosts("h1", tcp=sender).with_hosts("h2", tcp=receiver)

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """One flow, measured from second 2 on."""
        bench.bring_up(self.topology(run))
        with bench.recording([("s1", BOTTLENECK)], senders=["h1"]) as instruments:
            instruments.flow(
                "flow",
                "h1",
                "h2",
                seconds=self.flow_s,
                congestion=self.congestion,
            )
            instruments.finish()
        found = Findings(instruments.recording, self.window_s, self.rate_bps)
        use = found.throughput_bps / self.rate_bps
        instruments.note(f"the line was busy for {use:.1%}, RTT {found.rtt_ms:.0f} ms")
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The original's table, and the bands."""
        found = {
            packets: Findings(recordings[f"buffer-{packets}"], self.window_s, self.rate_bps)
            for packets in self.sizes
        }
        rows: list[Row] = []
        numbers: dict[str, float] = {}
        for packets, each in found.items():
            rows += self._rows(packets, each, f"buffer {self.packets(packets)}")
            numbers.update(each.numbers(f"buffer_{packets}"))
        for run in self.runs():
            if run.name.startswith("buffer"):
                continue
            each = Findings(recordings[run.name], self.window_s, self.rate_bps)
            numbers.update(each.numbers(run.name.replace("-", "_")))
            if run.name == DELAYED:
                name = f"buffer {self.packets(DELAYED_PACKETS)}, delayed acknowledgements"
                rows += self._rows(DELAYED_PACKETS, each, name)
                share = each.throughput_bps / self.rate_bps
                claim = f"{name}: part of the line that is used"
                delayed = Band(
                    claim,
                    share,
                    most=DELAYED_USE_MAX,
                    runs=(DELAYED,),
                    unjudged=self._no_reno or self._room_for_a_pair,
                )
            elif run.name == "threshold":
                rows += self._threshold_rows(found[72], each)
            else:
                rows += self._window_rows(run, each)
        return Assessment(rows, [*self._bands(found), delayed], numbers)

    def _rows(self, packets: int, found: Findings, name: str) -> list[Row]:
        said, own = self._said(packets), self.packets(packets)
        bdp = bdp_packets(self.rate_bps, RTT_S)
        # The fluid model is Reno's.
        is_reno = self.congestion == "reno"
        theory = units.format_rate(reno_utilisation(own / bdp) * self.rate_bps) if is_reno else ""
        empty = ("never" if own >= bdp else "at each loss") if is_reno else ""
        full_ms = (RTT_S + own * FRAME_BYTES * 8 / self.rate_bps) * 1000
        return [
            Row(
                f"{name}: throughput",
                said[0],
                theory,
                units.format_rate(found.throughput_bps),
            ),
            Row(
                f"{name}: goodput",
                said[1],
                "",
                units.format_rate(found.goodput_bps),
            ),
            Row(f"{name}: loss rate", said[2], "", f"{found.loss:.3%}"),
            Row(
                f"{name}: drops at each loss", "", "1" if is_reno else "", f"{found.drops_each:.2g}"
            ),
            Row(
                f"{name}: mean RTT",
                said[3],
                f"{RTT_S * 1000:.0f} to {full_ms:.0f} ms",
                f"{found.rtt_ms:.0f} ms",
            ),
            Row(
                f"{name}: queue empty",
                "",
                empty,
                f"{found.empty_share:.1%} of the time",
            ),
        ]

    def _said(self, packets: int) -> tuple[str, str, str, str]:
        """Throughput, goodput, loss and round trip of the original, where this run is like it."""
        if not self.is_original or packets not in ORIGINAL:
            return "", "", "", ""
        said = ORIGINAL[packets]
        return (
            f"{said.throughput_mbps:g} Mb/s",
            f"{said.goodput_mbps:g} Mb/s",
            f"{said.loss:.3%}",
            f"{said.rtt_s * 1000:.0f} ms",
        )

    def _window_rows(self, run: Run, found: Findings) -> list[Row]:
        percent = int(run.name.partition("-")[2])
        # Of the window that was offered, not of the one that was meant: only that limits the flow.
        segments = found.window_bytes / PAYLOAD_BYTES
        theory_bps = min(float(self.rate_bps), segments * FRAME_BYTES * 8 / RTT_S)
        return [
            Row(
                f"window {percent} % of the BDP: offered (ss)",
                "",
                f"{run.parameters['window_bytes'] // 2:,} bytes",
                f"{found.window_bytes:,} bytes",
            ),
            Row(
                f"window {percent} % of the BDP: throughput",
                "full" if percent == 100 else "under-used",
                units.format_rate(theory_bps),
                units.format_rate(found.throughput_bps),
            ),
            Row(
                f"window {percent} % of the BDP: drops, longest queue",
                "none",
                "0, 0 packets",
                f"{found.dropped_packets}, {found.highest_packets} packets",
            ),
        ]

    def _threshold_rows(self, without: Findings, found: Findings) -> list[Row]:
        """When the line is full: the window doubles each round trip, or grows by one packet."""
        # On a slow line the first window is enough.
        needed = max(bdp_packets(self.rate_bps, RTT_S), INITIAL_WINDOW_PACKETS)
        doublings = math.ceil(math.log2(needed / INITIAL_WINDOW_PACKETS))
        steps = math.ceil(needed - INITIAL_WINDOW_PACKETS)
        return [
            Row(
                f"line full after, {name}",
                "",
                f"{(1 + trips) * RTT_S * 1000:.0f} ms",
                f"{each.full_after_s * 1000:.0f} ms",
            )
            for name, trips, each in (
                ("slow start", doublings, without),
                (f"threshold of {THRESHOLD_PACKETS} packets", steps, found),
            )
        ]

    def _bands(self, found: Mapping[int, Findings]) -> list[Band]:
        bdp = bdp_packets(self.rate_bps, RTT_S)
        no_saw = unjudged_but_for(FILL_QUEUES, self.congestion)
        bands = [
            Band(
                f"buffer {self.packets(packets)}: part of the line that is used",
                found[packets].throughput_bps / self.rate_bps,
                least,
                most,
                runs=(f"buffer-{packets}",),
                # From one product on any TCP that fills queues will do; below it depends on how
                # far the TCP falls at a loss.
                unjudged=no_saw if most is None else self._no_reno,
            )
            for packets, (least, most) in USE_BANDS.items()
            if packets in found
        ]
        if JUST_ENOUGH in found:
            enough = f"buffer {self.packets(JUST_ENOUGH)}"
            bands.append(
                Band(
                    f"{enough}: part of the time in which the queue is empty",
                    found[JUST_ENOUGH].empty_share,
                    most=0.005,
                    runs=(f"buffer-{JUST_ENOUGH}",),
                    unjudged=no_saw or self._too_few_to_halve,
                )
            )
        if 2 in found:
            bands.append(
                Band(
                    f"buffer {self.packets(2)}: no more than a Reno without any timeout could use",
                    found[2].throughput_bps / self.rate_bps,
                    most=reno_utilisation(self.packets(2) / bdp),
                    runs=("buffer-2",),
                    unjudged=self._no_reno,
                )
            )
        for larger, smaller in itertools.pairwise(found):
            names = f"{self.packets(larger)} over {self.packets(smaller)}"
            bands.append(
                Band(
                    f"mean RTT rises with the buffer, {names}",
                    found[larger].rtt_ms / found[smaller].rtt_ms,
                    least=1,
                    runs=(f"buffer-{larger}", f"buffer-{smaller}"),
                    unjudged=no_saw,
                )
            )
        for larger, smaller in ((72, 9), (9, 2)):
            if not {larger, smaller} <= found.keys():
                continue
            names = f"{self.packets(larger)} over {self.packets(smaller)}"
            bands.append(
                Band(
                    f"loss rate falls with the buffer, {names}",
                    found[larger].loss / max(found[smaller].loss, 1e-9),
                    most=1,
                    runs=(f"buffer-{larger}", f"buffer-{smaller}"),
                    unjudged=no_saw,
                )
            )
        return bands

    @property
    def _no_reno(self) -> str:
        return unjudged_but_for(("reno",), self.congestion)

    @property
    def _room_for_a_pair(self) -> str:
        """The two packets that an acknowledgement releases; empty where there is none."""
        few = self.packets(DELAYED_PACKETS)
        if few <= DELAYED_PACKETS:
            return ""
        return f"an acknowledgement releases two packets, for which a buffer of {few} has room"

    @property
    def _too_few_to_halve(self) -> str:
        """Windows are whole packets: half of one may be less than the product, by a part of one."""
        bdp = bdp_packets(self.rate_bps, RTT_S)
        halved = int((bdp + self.packets(JUST_ENOUGH)) / 2)
        if halved >= bdp:
            return ""
        return f"half of a window is {halved} whole packets here, and the BDP is {bdp:.1f}"

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The saw for each buffer under each other; then windows; then the trade."""
        runs = self.runs()
        found = {
            packets: Findings(recordings[f"buffer-{packets}"], self.window_s, self.rate_bps)
            for packets in self.sizes
        }
        empty = ", ".join(
            f"{each.empty_share:.0%} with {self.packets(packets)}"
            for packets, each in found.items()
        )
        saw = Figure(
            "queues",
            "The queue before the bottleneck, all on one scale: the saw shrinks with the buffer. "
            f"Where it touches zero the line stands still. After second {SETTLED_S:g} of the flow "
            f"it was empty for this part of the time, by packets of buffer: {empty}.",
            lambda canvas: self._draw_queues(canvas, runs, recordings),
            height=1.5 * len(runs) + 0.5,
        )
        small = self._small_runs()
        bdp = bdp_packets(self.rate_bps, RTT_S)
        close = Figure(
            "small-queues",
            f"The same, enlarged: the buffers of less than one bandwidth-delay product, {bdp:.1f} "
            "packets, on one scale of their own.",
            lambda canvas: self._draw_queues(canvas, small, recordings),
            height=1.5 * len(small) + 0.5,
        )
        windows = Figure(
            "windows",
            "The congestion window of the same flows, each beside the bandwidth-delay product, "
            "all on one scale.",
            lambda canvas: self._draw_windows(canvas, recordings),
            height=1.4 * len(self.sizes) + 0.5,
        )
        use, rtt = (
            ", ".join(text(packets) for packets in self.sizes)
            for text in (
                lambda packets: f"{found[packets].throughput_bps / self.rate_bps:.0%}",
                lambda packets: f"{found[packets].rtt_ms:.0f} ms",
            )
        )
        sizes = ", ".join(str(self.packets(packets)) for packets in self.sizes)
        trade = Figure(
            "trade",
            f"What a larger buffer gains and what it costs. With {sizes} packets the line was used "
            f"to {use}; the mean round trip was {rtt}.",
            lambda canvas: self._draw_trade(canvas, recordings),
            height=3.6,
        )
        return [saw, *([close] if small else []), windows, trade]

    def _small_runs(self) -> Sequence[Run]:
        """Those whose buffer, and nothing else, keeps the line from being busy."""
        bdp = bdp_packets(self.rate_bps, RTT_S)
        return [run for run in self.runs() if run.parameters["buffer_packets"] < bdp]

    def _draw_queues(
        self,
        canvas: matplotlib.figure.Figure,
        runs: Sequence[Run],
        recordings: Mapping[str, Recording],
    ) -> None:
        title = f"One flow of TCP {self.congestion}, {units.format_rate(self.rate_bps)}, 20 ms"
        rows = drawing.stack(canvas, [1] * len(runs), title=title)
        for axes, run in zip(rows, runs, strict=True):
            drawing.queue_depth(
                axes,
                recordings[run.name].ports[PORT],
                limit_packets=run.parameters["buffer_packets"],
            )
            axes.set_title(run.title, fontsize=9, loc="left")
        drawing.one_scale(rows)

    def _draw_windows(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        bdp = bdp_packets(self.rate_bps, RTT_S)
        rows = drawing.stack(canvas, [1] * len(self.sizes), title="The flow's window")
        for axes, packets in zip(rows, self.sizes, strict=True):
            samples = recordings[f"buffer-{packets}"].flows["flow"].samples
            drawing.congestion_window(axes, {"flow": samples}, thresholds=False)
            drawing.level(axes, bdp, f"bandwidth-delay product: {bdp:.1f} packets")
            drawing.legend(axes)
            axes.set_title(f"A buffer of {self.packets(packets)} packets", fontsize=9, loc="left")
        drawing.one_scale(rows)

    def _draw_trade(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        sizes = sorted(self.sizes)
        found = [
            Findings(recordings[f"buffer-{size}"], self.window_s, self.rate_bps) for size in sizes
        ]
        own = [self.packets(size) for size in sizes]
        use, rtt = canvas.subplots(1, 2)
        drawing.compare(
            use,
            own,
            {
                "measured": [each.throughput_bps / self.rate_bps for each in found],
                **self._original_line(sizes, lambda said: said.throughput_mbps / 10),
                **self._theory_line(own),
            },
        )
        use.set_ylabel("part of the line used")
        use.set_ylim(0, 1.05)
        drawing.compare(
            rtt,
            own,
            {
                "measured": [each.rtt_ms for each in found],
                **self._original_line(sizes, lambda said: said.rtt_s * 1000),
            },
        )
        rtt.set_ylabel("mean RTT (ms)")
        for axes in (use, rtt):
            axes.set_xscale("log", base=2)
            # Near to its neighbour, and so a line lower.
            enough = self.packets(JUST_ENOUGH)
            axes.set_xticks(own, [f"\n{size}" if size == enough else str(size) for size in own])
            axes.set_xlabel("buffer (packets)")

    def _theory_line(self, own: Sequence[int]) -> dict[str, Sequence[float]]:
        """The fluid model, which is Reno's."""
        if self.congestion != "reno":
            return {}
        bdp = bdp_packets(self.rate_bps, RTT_S)
        return {"fluid theory": [reno_utilisation(size / bdp) for size in own]}

    def _original_line(
        self, sizes: Sequence[int], value: Callable[[_Original], float]
    ) -> dict[str, Sequence[float]]:
        """Through the sizes that the original has."""
        if not self.is_original:
            return {}
        return {"the original": [value(ORIGINAL[s]) if s in ORIGINAL else math.nan for s in sizes]}
