"""Windows and the bandwidth-delay product: one flow, with hosts' buffers too small and then ample.

Two more runs are about the window itself: it closes because the receiver stops reading for a while,
and it is at most 65,535 bytes because the hosts know no window scaling.

A last pair of runs loses packets: what arrives behind a loss waits in the receiver's buffer for
what was lost, so that a window of one product is too small even for a TCP that ignores losses.

The original's buffers are parts of its bandwidth-delay product (10 Gb/s times 20 ms); at another
rate the same parts are used, so that the shape stays.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.queueing import Limit, QueueSettings
from labs import palette
from labs.bench import Bench, FlowPlan
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.frames import bdp_bytes, payload_share
from labs.measure.sockets import SocketSample
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import TcpBuffer, TcpSettings, Topology

LINE = 2
RTT_S = 0.020
ORIGINAL_RATE_BPS = 10_000_000_000
SETTLED_S = 2.0
# The largest window that the header has room for without the window scale option.
UNSCALED_BYTES = 65_535
PAUSE_S_MAX = 3.0
# Samples of a fast line are many; its queue is looked at often enough with these.
SAMPLE_INTERVAL_MS = 5


@dataclass(frozen=True)
class _Part:
    name: str
    title: str
    # The largest buffer of the hosts' TCP in the original, in bytes.
    original_bytes: int
    original: str
    # The part of the line that the flow must use; None: it follows from the window.
    use: tuple[float | None, float | None] | None = None
    # The TCP that the part is about, if it is about one, and how many frames the line loses.
    congestion: str | None = None
    loss_ppm: int = 0
    # The receiver stops reading for a while.
    pauses: bool = False
    # Windows may be larger than their field in the header.
    scaling: bool = True


PARTS = (
    _Part("small", "Buffers of 16 MiB at 10 Gb/s: 0.67 BDP", 16_777_216, "about 3 Gb/s"),
    _Part(
        "ample", "Buffers of 50 MiB at 10 Gb/s: 2.1 BDP", 52_428_800, "about 10 Gb/s", (0.9, None)
    ),
)
LATE = _Part("late", "A receiver that stops reading, 2.1 BDP", 52_428_800, "", pauses=True)
UNSCALED = _Part("unscaled", "Hosts without window scaling, 2.1 BDP", 52_428_800, "", scaling=False)
WINDOWS = (LATE, UNSCALED)
# The original calls one in a hundred a high to moderate loss. It requires four products there, and
# twice that in Linux.
LOSS_PPM = 10_000
LOSSY = (
    _Part(
        *("bbr", "BBR and a loss of 1 %, 2.1 BDP", 52_428_800, "too small", (None, 0.75)),
        congestion="bbr",
        loss_ppm=LOSS_PPM,
    ),
    _Part(
        *("bbr-large", "BBR and a loss of 1 %, 8.4 BDP", 209_715_200, "enough", (0.8, None)),
        congestion="bbr",
        loss_ppm=LOSS_PPM,
    ),
)
# There is one flow; a run has the same colour in all figures.
COLOURS = dict(zip((part.name for part in (*PARTS, *LOSSY, *WINDOWS)), palette.FLOWS, strict=False))


class BdpTcpWindows(SettlingLab):
    """One flow over a long fat path."""

    name: ClassVar = "bdp-tcp-windows"
    title: ClassVar = "The bandwidth-delay product and TCP's windows"
    summary: ClassVar = "a long fat path: TCP's window limits the rate until it holds the BDP"
    question: ClassVar = "Why does a flow get a third of a line that is empty?"
    look_for: ClassVar = (
        "With small buffers the bytes under way rise to the window that the receiver offers, and "
        "stop there: below the bandwidth-delay product.",
        "With ample buffers they rise past the product: the line is full, the rest stands in the "
        "router's queue.",
        "Rate times round trip, the bytes under way and the window are one number, seen from three "
        "sides.",
    )
    original: ClassVar = "lab 8 of the course Network Tools and Protocols (Mininet, netem, 10 Gb/s)"
    settled_s: ClassVar = SETTLED_S
    takes: ClassVar = frozenset({"rate", "duration", "congestion"})
    choices_bps: ClassVar = (1_000_000_000, 100_000_000)
    needs: ClassVar = "queues that are limited in bytes, which simple_switch does not have"

    @property
    def rate_bps(self) -> int:
        """The line between the routers."""
        return self.settings.rate_bps or (100_000_000 if self.settings.quick else 1_000_000_000)

    @property
    def seconds(self) -> int:
        """How long each flow runs."""
        return self.settings.seconds or (8 if self.settings.quick else 30)

    @property
    def place(self) -> Place:
        """The long line."""
        return Place(self.topology(self.runs()[0]), "s1", LINE)

    @property
    def congestion(self) -> str:
        """The flow's TCP."""
        return self.settings.congestion or "cubic"

    def buffer_bytes(self, part: _Part) -> int:
        """The hosts' largest buffer: the same part of the BDP as in the original."""
        return round(part.original_bytes * self.rate_bps / ORIGINAL_RATE_BPS)

    @property
    def parts(self) -> Sequence[_Part]:
        """Small buffers, ample buffers; then, unless quick, windows that close, and losses."""
        return PARTS if self.settings.quick else (*PARTS, *WINDOWS, *LOSSY)

    @property
    def pause_s(self) -> tuple[float, float]:
        """When the receiver of a run stops reading after the start, and for how long."""
        return SETTLED_S, min(PAUSE_S_MAX, (self.seconds - SETTLED_S) / 2)

    def runs(self) -> Sequence[Run]:
        """One for each of the parts."""
        return [
            Run(
                part.name,
                part.title,
                self.seconds + AROUND_S,
                {
                    "rate_bps": self.rate_bps,
                    "buffer_bytes": self.buffer_bytes(part),
                    "congestion": part.congestion or self.congestion,
                    "loss_ppm": part.loss_ppm,
                    **({"pauses": 1} if part.pauses else {}),
                    **({} if part.scaling else {"window_scaling": 0}),
                },
            )
            for part in self.parts
        ]

    def topology(self, run: Run) -> Topology:
        """The network of a run."""
        bdp = round(bdp_bytes(self.rate_bps, RTT_S))
        most = run.parameters["buffer_bytes"]
        buffer = TcpBuffer(min(10_240, most), min(87_380, most), most)
        base = load.load(Path(__file__).with_name("topology.yaml"))
        return (
            base.with_settings(
                "s1",
                LINE,
                rate_bps=self.rate_bps,
                every_queue=QueueSettings(limit=Limit(bytes=2 * bdp)),
            )
            .with_settings("s2", LINE, rate_bps=self.rate_bps)
            .with_transmit(
                "s1",
                LINE,
                delay_ns=round(RTT_S * 1e9),
                loss_ppm=run.parameters["loss_ppm"],
            )
            .with_hosts(
                tcp=TcpSettings(run.parameters["congestion"], rmem=buffer, wmem=buffer),
                sysctls={
                    "net.ipv4.tcp_window_scaling": str(run.parameters.get("window_scaling", 1))
                },
            )
        )

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """One flow."""
        bench.bring_up(self.topology(run))
        with bench.recording(
            [("s1", LINE)], senders=["h1"], interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            pause_s = self.pause_s if "pauses" in run.parameters else None
            plan = FlowPlan("flow", "h1", "h2", run.parameters["congestion"], pause_s=pause_s)
            instruments.flows([plan], seconds=self.seconds)
            instruments.finish()
        found = Findings(instruments.recording)
        under_way = f"{found.in_flight_bytes / 1e6:.2f} MB under way"
        instruments.note(f"{units.format_rate(found.rate_bps)} with {under_way}")
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The rate, and the window that explains it."""
        bdp = bdp_bytes(self.rate_bps, RTT_S)
        is_original = self.rate_bps == ORIGINAL_RATE_BPS
        rows = [
            Row(
                "bandwidth-delay product",
                "25,000,000 bytes" if is_original else "",
                f"{bdp:,.0f} bytes",
                "",
            )
        ]
        bands: list[Band] = []
        numbers: dict[str, float] = {"bdp_bytes": bdp}
        for part in PARTS:
            found = Findings(recordings[part.name])
            most = self.buffer_bytes(part)
            # Linux before 6.6 offers half of a receive buffer as window, and so do virtual hosts;
            # newer kernels offer as much as they find to be payload.
            limit_bps = min(self.rate_bps * payload_share(), most / 2 * 8 / RTT_S)
            rows += [
                Row(
                    f"{part.name} buffers, {most:,} bytes: payload",
                    part.original if is_original else "",
                    units.format_rate(limit_bps),
                    units.format_rate(found.rate_bps),
                ),
                Row(
                    f"{part.name} buffers: window offered (ss)",
                    "",
                    f"{most // 2:,} bytes, half of it",
                    f"{found.window_bytes:,} bytes",
                ),
                Row(
                    f"{part.name} buffers: under way (ss)",
                    "",
                    f"rate x RTT = {found.rate_bps * found.rtt_s / 8:,.0f} bytes",
                    f"{found.in_flight_bytes:,.0f} bytes",
                ),
            ]
            share = found.rate_bps / self.rate_bps
            bands.append(
                Band(
                    f"{part.name} buffers: part of the line that is used",
                    share,
                    *(part.use or self._use(part, found)),
                    runs=(part.name,),
                )
            )
        if LATE.name in recordings:
            self._assess_windows(recordings, rows, bands, numbers)
        for part in LOSSY:
            if part.name not in recordings:
                continue
            found = Findings(recordings[part.name])
            share = found.rate_bps / self.rate_bps
            what = f"BBR, 1 % loss, buffers of {self.buffer_bytes(part) / bdp:.1f} BDP"
            rows += [
                Row(
                    f"{what}: payload",
                    part.original if is_original else "",
                    "",
                    f"{units.format_rate(found.rate_bps)}, {share:.0%} of the line",
                ),
                Row(f"{what}: window offered (ss)", "", "", f"{found.window_bytes / bdp:.1f} BDP"),
            ]
            least, most_use = part.use or (None, None)
            bands.append(
                Band(f"{what}: part of the line", share, least, most_use, runs=(part.name,))
            )
        for name, recording in recordings.items():
            found = Findings(recording)
            numbers.update(
                {
                    f"{name}_payload_bps": found.rate_bps,
                    f"{name}_window_bytes": found.window_bytes,
                    f"{name}_in_flight_bytes": found.in_flight_bytes,
                    f"{name}_rtt_s": found.rtt_s,
                    f"{name}_retransmitted_packets": found.retransmits,
                }
            )
        return Assessment(rows, bands, numbers)

    def _assess_windows(
        self,
        recordings: Mapping[str, Recording],
        rows: list[Row],
        bands: list[Band],
        numbers: dict[str, float],
    ) -> None:
        """For how long a window was closed, and how much one without scaling carries."""
        _, span_s = self.pause_s
        closed_s = longest_closed_s(recordings[LATE.name].flows["flow"].samples)
        what = f"a receiver that does not read for {span_s:g} s"
        rows.append(
            Row(
                f"{what}: longest time at window 0 (ss)",
                "",
                f"at most {span_s:g} s: until then the buffer fills",
                f"{closed_s:.2f} s",
            )
        )
        # It is seen from one sample of ss to the next. Filling the buffer takes some round trips.
        bands.append(
            Band(
                f"{what}: seconds at window 0",
                closed_s,
                0.7 * span_s,
                span_s + 0.3,
                runs=(LATE.name,),
            )
        )
        numbers["late_closed_s"] = closed_s
        found = Findings(recordings[UNSCALED.name])
        limit_bps = UNSCALED_BYTES * 8 / RTT_S
        what = "no window scaling"
        rows += [
            Row(
                f"{what}: payload",
                "",
                f"65,535 bytes / RTT = {units.format_rate(limit_bps)}",
                units.format_rate(found.rate_bps),
            ),
            Row(
                f"{what}: window offered (ss)",
                "",
                "at most 65,535 bytes",
                f"{found.window_bytes:,} bytes",
            ),
        ]
        bands.append(
            Band(
                f"{what}: part of 65,535 bytes in each round trip",
                found.rate_bps / limit_bps,
                0.7,
                1.03,
                runs=(UNSCALED.name,),
            )
        )

    def _use(self, part: _Part, found: Findings) -> tuple[float, float]:
        """The part of the line that a flow must use whose window is too small.

        No more than the window that was offered in each round trip, and at least three quarters of
        what kernels offer that give half of a buffer.
        """
        bdp = bdp_bytes(self.rate_bps, RTT_S)
        return 0.75 * self.buffer_bytes(part) / 2 / bdp, 1.03 * found.window_bytes / bdp

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Rate, window and queue of small and ample buffers in one picture; then those of BBR."""
        small, ample = (Findings(recordings[part.name]) for part in PARTS)
        figures = [
            Figure(
                "windows",
                "Small buffers: the bytes under way stop at the window that the receiver offers, "
                f"{small.window_bytes / 1e6:.2f} MB, and the flow gets "
                f"{small.rate_bps / self.rate_bps:.0%} of the line. Ample buffers: "
                f"{ample.in_flight_bytes / 1e6:.2f} MB fill the path, and the flow gets "
                f"{ample.rate_bps / self.rate_bps:.0%}.",
                lambda canvas: self._draw(canvas, {it.name: recordings[it.name] for it in PARTS}),
                height=8.5,
            )
        ]
        if LATE.name in recordings:
            figures.append(self._closing(recordings[LATE.name]))
        lossy = {part.name: recordings[part.name] for part in LOSSY if part.name in recordings}
        if lossy:
            shares = [Findings(each).rate_bps / self.rate_bps for each in lossy.values()]
            figures.append(
                Figure(
                    "losses",
                    "BBR over a line that loses one packet in a hundred. Data behind a "
                    "lost packet wait in the receiver's buffer until it has been sent again: "
                    f"with 2.1 BDP of buffer the flow gets {shares[0]:.0%} of the line, with "
                    f"8.4 BDP {shares[1]:.0%}.",
                    lambda canvas: self._draw(canvas, lossy, "bbr"),
                    height=8.5,
                )
            )
        return figures

    def _closing(self, recording: Recording) -> Figure:
        """The window that closes."""
        flow = recording.flows["flow"]
        closed_s = longest_closed_s(flow.samples)
        after_s, span_s = self.pause_s
        began_s = flow.samples[0].time_s + after_s
        dropped = recording.ports[f"s1-eth{LINE}"].dropped_between(began_s, began_s + span_s)

        def draw(canvas: matplotlib.figure.Figure) -> None:
            window, rate = drawing.stack(
                canvas, [1.2, 1], title="A receiver that stops reading and goes on"
            )
            times = [sample.time_s for sample in flow.samples]
            for values, own, label in (
                ([it.receiver_window_bytes / 1e6 for it in flow.samples], palette.GREY, "window"),
                (
                    [it.in_flight_bytes / 1e6 for it in flow.samples],
                    COLOURS[LATE.name],
                    "under way",
                ),
            ):
                window.plot(times, values, color=own, linewidth=1.1, label=label)
            window.set_ylabel("bytes (MB)")
            window.set_ylim(bottom=0)
            drawing.legend(window)
            drawing.throughput(
                rate,
                {"payload": flow.rates(0.25)},
                line_rate_bps=self.rate_bps,
                colours={"payload": COLOURS[LATE.name]},
            )
            events = [(began_s, "h2 stops reading"), (began_s + span_s, "h2 goes on")]
            drawing.moments((window, rate), events)

        caption = (
            f"The receiver reads nothing for {span_s:g} s. Its buffer fills, the window that it "
            f"offers closes, and for {closed_s:.2f} s h1 may send nothing. Meanwhile the router "
            f"drops {dropped} packets: the network is not at fault. As soon as the receiver reads "
            "again, the window opens."
        )
        return Figure("closing", caption, draw, height=5.5)

    def _label(self, part: _Part) -> str:
        """As the figures call it: by name, and those of BBR by size."""
        if part in PARTS:
            return f"{part.name} buffers"
        size = self.buffer_bytes(part) / bdp_bytes(self.rate_bps, RTT_S)
        return f"buffers of {size:.1f} BDP"

    def _draw(
        self,
        canvas: matplotlib.figure.Figure,
        recordings: Mapping[str, Recording],
        congestion: str | None = None,
    ) -> None:
        rate, window, queue = drawing.stack(
            canvas,
            [1.1, 1.5, 1],
            title=f"One flow of TCP {congestion or self.congestion}, "
            f"{units.format_rate(self.rate_bps)}, RTT {RTT_S * 1000:.0f} ms",
        )
        labels = {part.name: self._label(part) for part in self.parts}
        flows = {labels[name]: each.flows["flow"] for name, each in recordings.items()}
        colours = {labels[name]: COLOURS[name] for name in recordings}
        drawing.throughput(
            rate,
            {name: flow.rates(0.25) for name, flow in flows.items()},
            line_rate_bps=self.rate_bps,
            colours=colours,
        )
        for name, flow in flows.items():
            colour = colours[name]
            times = [sample.time_s for sample in flow.samples]
            for value, line, label in (
                ([each.in_flight_bytes / 1e6 for each in flow.samples], "-", "under way"),
                ([each.receiver_window_bytes / 1e6 for each in flow.samples], ":", "window"),
            ):
                window.plot(
                    times, value, line, color=colour, linewidth=1.1, label=f"{name}: {label}"
                )
        bdp = bdp_bytes(self.rate_bps, RTT_S) / 1e6
        drawing.level(window, bdp, f"bandwidth-delay product: {bdp:.2f} MB")
        window.set_ylabel("bytes (MB)")
        window.set_ylim(bottom=0)
        drawing.legend(window, columns=3)
        for name, recording in recordings.items():
            series = recording.ports[f"s1-eth{LINE}"]
            queue.plot(
                *drawing.thinned(series.time_s, [each / 1e6 for each in series.bytes]),
                color=COLOURS[name],
                linewidth=0.9,
                label=labels[name],
            )
        drawing.level(queue, 2 * bdp, f"limit: {2 * bdp:.2f} MB")
        queue.set_ylabel("queue (MB)")
        drawing.legend(queue)


def longest_closed_s(samples: Sequence[SocketSample]) -> float:
    """The longest time for which each sample of a connection has a window of 0."""
    longest_s = 0.0
    for is_closed, group in itertools.groupby(samples, lambda it: it.receiver_window_bytes == 0):
        times = [sample.time_s for sample in group]
        if is_closed:
            longest_s = max(longest_s, times[-1] - times[0])
    return longest_s


class Findings:
    """A flow once it has settled."""

    def __init__(self, recording: Recording) -> None:
        flow = recording.flows["flow"]
        start_s, end_s = flow.samples[0].time_s + SETTLED_S, flow.samples[-1].time_s
        settled = [each for each in flow.samples if each.time_s >= start_s]
        self.rate_bps = flow.throughput_bps(start_s, end_s)
        self.window_bytes = max(each.receiver_window_bytes for each in settled)
        self.in_flight_bytes = sum(each.in_flight_bytes for each in settled) / len(settled)
        self.rtt_s = sum(each.rtt_ms for each in settled) / len(settled) / 1000
        self.retransmits = flow.result.retransmits
