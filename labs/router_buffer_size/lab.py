"""Router's buffer size: h1 with Cubic, Reno or BBR beside h3 with Cubic, before three buffers.

The buffers are the original's parts of its bandwidth-delay product: 100 packets of 10 Gb/s times
20 ms, then one product, then one product on a line that loses a packet in ten thousand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure
from matplotlib.axes import Axes

from controller.queueing import Limit, QueueSettings
from labs.bench import Bench, FlowPlan
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import FRAME_BYTES, bdp_bytes, cubic_saw_s, loss_limited_bps
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import TcpBuffer, TcpSettings, Topology

LINE = 3
PORT = f"s1-eth{LINE}"
RTT_S = 0.020
ORIGINAL_RATE_BPS, ORIGINAL_BDP_BYTES = 10_000_000_000, 26_214_400
ALGORITHMS = ("cubic", "reno", "bbr")
NAMES = {"cubic": "Cubic", "reno": "Reno", "bbr": "BBR"}
LOSSY_TIMES = 3
# Samples of a fast line are many; its queue is looked at often enough with these.
SAMPLE_INTERVAL_MS = 5


@dataclass(frozen=True)
class _Path:
    """One buffer, and the loss of the line behind it."""

    name: str
    title: str
    # The same in few words, beside a row of panels.
    row: str
    original_bytes: int
    loss_ppm: int
    original: Mapping[str, str]


def _said(*words: str) -> Mapping[str, str]:
    """The original's results for h1: rate and segments sent again, by h1's algorithm."""
    return {name: f"{word} sent again" for name, word in zip(ALGORITHMS, words, strict=True)}


PATHS = (
    _Path(
        "small",
        "tiny buffer (100 packets at 10 Gb/s)",
        "tiny buffer",
        160_000,
        0,
        _said("86.4 Mb/s, 994", "78.7 Mb/s, 1129", "3.48 Gb/s, 75,818"),
    ),
    _Path(
        "bdp",
        "buffer of one BDP",
        "one BDP",
        ORIGINAL_BDP_BYTES,
        0,
        _said("4.57 Gb/s, 0", "2.74 Gb/s, 1982", "5.64 Gb/s, 16,110"),
    ),
    _Path(
        "lossy",
        "one BDP and a loss of 0.01 %",
        "one BDP, 0.01 % lost",
        ORIGINAL_BDP_BYTES,
        100,
        _said("1.02 Gb/s, 3088", "726 Mb/s, 19,496", "8.72 Gb/s, 25,740"),
    ),
)


class RouterBufferSize(Lab):
    """The buffer that each TCP algorithm needs in a router."""

    name: ClassVar = "router-buffer-size"
    title: ClassVar = "A router's buffer size and TCP's algorithms"
    summary: ClassVar = "Cubic, Reno, BBR beside Cubic: tiny buffer, one BDP, one BDP with loss"
    question: ClassVar = "Which TCP needs a router's buffer, and which takes it from the other?"
    look_for: ClassVar = (
        "Tiny buffer: Cubic and Reno lose packets all the time and stay small; BBR takes the rest.",
        "One bandwidth-delay product: two Cubic flows share, and the queue is never empty.",
        "One product and a line that loses one packet in ten thousand: BBR does not notice. With "
        "such losses Cubic and Reno may have 71 Mb/s: of a line of 1 Gb/s they leave most, before "
        "an empty queue; of a line of 100 Mb/s it is more than their half.",
    )
    original: ClassVar = "lab 11 of the course Network Tools and Protocols (tc tbf and netem)"
    takes: ClassVar = frozenset({"rate", "duration"})
    choices_bps: ClassVar = (1_000_000_000, 100_000_000)
    needs: ClassVar = "queues that are limited in bytes, which simple_switch does not have"

    @property
    def rate_bps(self) -> int:
        """The line between the routers."""
        return self.settings.rate_bps or (100_000_000 if self.settings.quick else 1_000_000_000)

    @property
    def seconds(self) -> int:
        """How long the flows run."""
        return self.settings.seconds or (15 if self.settings.quick else 90)

    @property
    def least_seconds(self) -> int:
        """BBR looks for the round trip every ten seconds."""
        return 12

    @property
    def least_seconds_for(self) -> str:
        """Half of the run is reported."""
        return "until the flows have settled, half of it before anything is reported"

    @property
    def place(self) -> Place:
        """The line between the routers."""
        return Place(self.topology(self.runs()[0]), "s1", LINE)

    @property
    def window_s(self) -> float:
        """The last part of the run, which is reported: 20 of 90 s in the original."""
        return min(20.0, self.seconds / 2)

    def buffer_bytes(self, path: _Path) -> int:
        """The same part of the BDP as in the original, but never less than two packets."""
        own = path.original_bytes / ORIGINAL_BDP_BYTES * bdp_bytes(self.rate_bps, RTT_S)
        return max(2 * FRAME_BYTES, round(own))

    def runs(self) -> Sequence[Run]:
        """Every buffer with every algorithm."""
        return [
            Run(
                f"{path.name}-{algorithm}",
                f"{NAMES[algorithm]} and Cubic, {path.title.partition(' (')[0]}",
                self.seconds + AROUND_S,
                {
                    "buffer_bytes": self.buffer_bytes(path),
                    "loss_ppm": path.loss_ppm,
                    "h1": algorithm,
                },
            )
            for path in PATHS
            for algorithm in ALGORITHMS
        ]

    def topology(self, run: Run) -> Topology:
        """The network of a run."""
        bdp = round(bdp_bytes(self.rate_bps, RTT_S))
        buffer = TcpBuffer(10_240, 87_380, 5 * bdp)
        delay_ns = round(RTT_S / 2 * 1e9)
        limit = Limit(bytes=run.parameters["buffer_bytes"])
        base = load.load(Path(__file__).with_name("topology.yaml"))
        return (
            base.with_settings(
                "s1", LINE, rate_bps=self.rate_bps, every_queue=QueueSettings(limit=limit)
            )
            .with_settings("s2", LINE, rate_bps=self.rate_bps)
            .with_transmit("s1", LINE, delay_ns=delay_ns, loss_ppm=run.parameters["loss_ppm"])
            .with_transmit("s2", LINE, delay_ns=delay_ns)
            .with_hosts(tcp=TcpSettings("cubic", rmem=buffer, wmem=buffer))
        )

    def plans(self, run: Run) -> Sequence[FlowPlan]:
        """Both flows."""
        own = run.parameters["h1"]
        return [FlowPlan("h1", "h1", "h2", own), FlowPlan("h3", "h3", "h4", "cubic")]

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Both flows at once."""
        bench.bring_up(self.topology(run))
        with bench.recording(
            [("s1", LINE)], senders=["h1", "h3"], interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            instruments.flows(self.plans(run), seconds=self.seconds)
            instruments.finish()
        found = Findings(instruments.recording, self.window_s)
        h1, h3 = units.format_rate(found.h1_bps), units.format_rate(found.h3_bps)
        instruments.note(f"h1 {h1}, h3 {h3}, {found.retransmits} segments of h1 sent again")
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The original's table and the bands."""
        rows: list[Row] = []
        numbers: dict[str, float] = {}
        found = {name: Findings(each, self.window_s) for name, each in recordings.items()}
        is_original = self.rate_bps == ORIGINAL_RATE_BPS
        for path in PATHS:
            for algorithm in ALGORITHMS:
                name = f"{path.name}-{algorithm}"
                each = found[name]
                rows.append(
                    Row(
                        f"{path.title}: h1 with {NAMES[algorithm]}",
                        path.original[algorithm] if is_original else "",
                        "",
                        f"{units.format_rate(each.h1_bps)}, {each.retransmits} sent again "
                        f"(h3 {units.format_rate(each.h3_bps)})",
                    )
                )
                key = name.replace("-", "_")
                numbers[f"{key}_h1_bps"] = each.h1_bps
                numbers[f"{key}_h3_bps"] = each.h3_bps
                numbers[f"{key}_line_bps"] = each.line_bps
                numbers[f"{key}_retransmitted_packets"] = each.retransmits
                numbers[f"{key}_dropped_packets"] = each.dropped_packets
        both = found["bdp-cubic"]
        share = both.h1_bps / (both.h1_bps + both.h3_bps)
        bands = [
            Band(
                "small buffer: BBR's goodput, in multiples of Cubic's",
                found["small-bbr"].h1_bps / found["small-cubic"].h1_bps,
                least=5,
                runs=("small-bbr", "small-cubic"),
            ),
            Band(
                "one BDP: h1's share of the goodput of two Cubic flows",
                share,
                0.35,
                0.65,
                runs=("bdp-cubic",),
                unjudged=self._too_short_to_share(),
            ),
            Band(
                "one BDP: part of the line used",
                both.line_bps / self.rate_bps,
                least=0.9,
                runs=("bdp-cubic",),
            ),
            Band(
                "loss: BBR's goodput, in multiples of Cubic's",
                found["lossy-bbr"].h1_bps / found["lossy-cubic"].h1_bps,
                least=LOSSY_TIMES,
                runs=("lossy-bbr", "lossy-cubic"),
                unjudged=self._too_slow_for_loss(),
            ),
        ]
        return Assessment(rows, bands, numbers)

    def _too_short_to_share(self) -> str:
        """Two Cubic flows level out over some saws; empty where these runs are long enough."""
        needed_s = 4 * cubic_saw_s(self.rate_bps, RTT_S)
        if self.seconds >= needed_s:
            return ""
        return f"two Cubic flows find their shares in {needed_s:.0f} s, and ran for {self.seconds}"

    def _too_slow_for_loss(self) -> str:
        """Whether losses limit Cubic to so little of this line that BBR can have three times it."""
        may_have_bps = loss_limited_bps(self._loss_share, RTT_S)
        if LOSSY_TIMES * may_have_bps <= 0.95 * self.rate_bps:
            return ""
        return (
            f"with this loss Cubic may have {units.format_rate(may_have_bps)}, and "
            f"{LOSSY_TIMES} times that is more than a line of {units.format_rate(self.rate_bps)}"
        )

    @property
    def _loss_share(self) -> float:
        (lossy,) = (path for path in PATHS if path.loss_ppm)
        return lossy.loss_ppm / 1e6

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The rates over time; then queue and window for every buffer."""
        shares = Figure(
            "shares",
            "Payload of h1 and h3 over time: a row for each buffer, a column for each algorithm "
            "of h1. h3 is always Cubic.",
            lambda canvas: self._draw_shares(canvas, recordings),
            height=8,
        )
        return [shares, *(self._queues(path, recordings) for path in PATHS)]

    def _draw_shares(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        def draw(axes: Axes, row: int, column: int) -> None:
            recording = recordings[f"{PATHS[row].name}-{ALGORITHMS[column]}"]
            rates = {name: recording.flows[name[:2]].rates(1.0) for name in ("h3, Cubic", "h1")}
            drawing.throughput(axes, rates, line_rate_bps=self.rate_bps)
            # Where both get the same, h3 is a broad band behind h1.
            axes.get_lines()[0].set(linewidth=3.2, alpha=0.55)

        columns = [f"h1 with {NAMES[algorithm]}" for algorithm in ALGORITHMS]
        title = f"A line of {units.format_rate(self.rate_bps)}, RTT 20 ms"
        drawing.matrix(canvas, columns, [path.row for path in PATHS], draw, title=title)

    def _queues(self, path: _Path, recordings: Mapping[str, Recording]) -> Figure:
        def draw(canvas: matplotlib.figure.Figure) -> None:
            rows = drawing.stack(
                canvas, [1.2, 1] * len(ALGORITHMS), title=f"{path.title}: queue and windows"
            )
            for index, algorithm in enumerate(ALGORITHMS):
                recording = recordings[f"{path.name}-{algorithm}"]
                queue, window = rows[2 * index : 2 * index + 2]
                queue.set_title(f"h1 with {NAMES[algorithm]}", fontsize=9.5, loc="left")
                drawing.queues_in_bytes(
                    queue,
                    recording.ports[PORT],
                    {0: "bytes that wait"},
                    limit_bytes=self.buffer_bytes(path),
                )
                drawing.congestion_window(
                    window,
                    {
                        f"h1, {NAMES[algorithm]}": recording.flows["h1"].samples,
                        "h3, Cubic": recording.flows["h3"].samples,
                    },
                    thresholds=False,
                )
            drawing.one_scale(rows[1::2])

        got = "; ".join(
            f"with {NAMES[algorithm]} h1 got {each.h1_bps / self.rate_bps:.0%} of the line and h3 "
            f"{each.h3_bps / self.rate_bps:.0%}"
            for algorithm in ALGORITHMS
            for each in [Findings(recordings[f"{path.name}-{algorithm}"], self.window_s)]
        )
        caption = (
            f"{path.title[0].upper()}{path.title[1:]}: the queue, and both flows' windows. In the "
            f"last {self.window_s:g} s {got}."
        )
        return Figure(f"queue-{path.name}", caption, draw, height=12)


class Findings:
    """The last part of a run."""

    def __init__(self, recording: Recording, window_s: float) -> None:
        h1, h3 = recording.flows["h1"], recording.flows["h3"]
        end_s = min(h1.samples[-1].time_s, h3.samples[-1].time_s)
        start_s = end_s - window_s
        self.h1_bps = h1.throughput_bps(start_s, end_s)
        self.h3_bps = h3.throughput_bps(start_s, end_s)
        series = recording.ports[PORT]
        self.line_bps = series.rate_bps(start_s, end_s)
        self.dropped_packets = series.dropped_packets
        # Over the whole run, as iperf3 reports it.
        self.retransmits = h1.result.retransmits
