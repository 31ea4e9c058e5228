"""Schedulers: small packets, large packets and a ping before one line, under five schedulers.

Part A lets `vitrine-sim` measure how long packets wait under strict priority, where theory knows.
Part B floods one line with datagrams of 66 and of 1514 bytes, twice as much as it carries, and
sends a ping beside them; only the line's scheduler differs between the runs.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.classes import ICMP, Rule, entries
from controller.decider import Decider
from controller.queueing import Discipline, Group, Groups, Limit, QueueSettings, Scheduler
from labs import classes, palette, simulator
from labs.bench import LEAD_S, Bench, Instruments
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import FRAME_BYTES
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from labs.schedulers import theory
from labs.schedulers.theory import Line
from labs.simulator import OnePort
from topo import load
from topo.model import Topology

# Part A: the load of each of two classes.
CLASS_LOAD = 0.4

# Part B. The classes, the lowest first.
LARGE, SMALL, PING = 0, 1, 2
LINE = 4
PORT = f"s1-eth{LINE}"
H1 = ipaddress.IPv4Network("10.0.1.1/32")
H4 = ipaddress.IPv4Network("10.0.4.1/32")
# Toward h4 only: the other ports have one class, and ping's answers go there.
RULES = (Rule(PING, dst=H4, protocol=ICMP), Rule(SMALL, src=H1))
RTT_S = 0.010
QUEUE_BYTES = 50_000
# The overhead of a datagram's frame: 14 bytes of Ethernet, 20 of IP, 8 of UDP.
HEADERS_BYTES = 42
SMALL_BYTES, PING_BYTES = 66, 98
# How much each of both sends, as a part of the line.
OFFERED = 1.2
# The interval of the bursts of small datagrams.
BURST_S = 0.010
PING_INTERVAL_S = 0.1
# The queues are full by then.
SETTLED_S = 1.0
# The delay that the machine may add to a ping.
MACHINE_S = 0.005


FIFO = "fifo"


@dataclass(frozen=True)
class _Part:
    """One scheduler."""

    name: str
    title: str
    look: str


PARTS = (
    _Part(FIFO, "one FIFO for all", "one queue"),
    _Part("strict", "strict priority: ping, small, large", "strict"),
    _Part("wrr", "weighted round robin: a packet each in turn", "WRR"),
    _Part("drr", "deficit round robin: 1514 bytes each in turn", "DRR"),
    _Part("wfq", "weighted fair queueing", "WFQ"),
)


# The run of a class of the user's.
OWN = "own"


class Schedulers(Lab):
    """Schedulers, compared on one line."""

    name: ClassVar = "schedulers"
    title: ClassVar = "Schedulers: who goes first"
    summary: ClassVar = (
        "strict, WRR, DRR, WFQ before one line: shares in bytes, and how long to wait"
    )
    question: ClassVar = "Several queues, one line: whose packet is next, and what does he pay?"
    look_for: ClassVar = (
        "Part A: the high class waits for the packet on the line and for its own; the low class "
        "pays, and the sum stays the same.",
        "Part B: a packet each in turn is fair to packets and not to bytes: 96 % of the line go to "
        "the large ones.",
        "DRR and WFQ give half of the bytes to each. DRR does it in rounds, which a ping feels; "
        "WFQ does it packet by packet.",
        "Strict priority gives the ping the best wait of all, and the large packets nothing.",
    )
    original: ClassVar = "no single text: formulas of Cobham, Shreedhar and Varghese, Parekh"
    takes: ClassVar = frozenset({"duration", "scheduler"})
    needs: ClassVar = "queues with weights, which simple_switch does not have"

    @property
    def packets(self) -> int:
        """How many packet times part A looks."""
        return 100_000 if self.settings.quick else 1_000_000

    @property
    def seconds(self) -> int:
        """How long part B's senders send."""
        return self.settings.seconds or (6 if self.settings.quick else 20)

    @property
    def least_seconds(self) -> int:
        """Pings are few."""
        return 4

    @property
    def least_seconds_for(self) -> str:
        """A second for the queues, and pings."""
        return "for full queues and some pings before them"

    @property
    def place(self) -> Place:
        """The line, with a queue for each class."""
        return Place(self.topology("drr"), "s1", LINE)

    @property
    def line(self) -> Line:
        """The line of the file."""
        port = load.load(Path(__file__).with_name("topology.yaml")).switch("s1").port(LINE)
        assert port.rate_bps is not None
        return Line(port.rate_bps, SMALL_BYTES, FRAME_BYTES, PING_BYTES)

    @property
    def parts(self) -> Sequence[_Part]:
        """The built-in ones, and the user's."""
        own = self.settings.scheduler
        if own is None:
            return PARTS
        return (*PARTS, _Part(OWN, classes.words(own), Path(own).name.partition(":")[2]))

    def runs(self) -> Sequence[Run]:
        """Part A in one, part B once for each scheduler."""
        title = f"Part A: {self.packets} packet times in virtual time"
        return [
            Run("simulation", title, 3e-6 * self.packets, is_computed=True),
            *(
                Run(part.name, f"Part B: {part.title}", LEAD_S + self.seconds + AROUND_S)
                for part in self.parts
            ),
        ]

    def topology(self, name: str) -> Topology:
        """The network with a scheduler."""
        base = load.load(Path(__file__).with_name("topology.yaml"))
        scheduler = self._scheduler(name)
        if scheduler is None:
            return base
        every = QueueSettings(limit=Limit(bytes=QUEUE_BYTES))
        return base.with_settings("s1", LINE, queue_count=3, scheduler=scheduler, every_queue=every)

    def _scheduler(self, name: str) -> Scheduler | None:
        """The line's scheduler in a run; None: one queue for all."""
        if name == FIFO:
            return None
        if name == "strict":
            return Groups.strict(3)
        own = Decider.parse(self.settings.scheduler or "", Path()) if name == OWN else None
        kind = Discipline.DRR if own else Discipline(name)
        return Groups((Group({LARGE: 1, SMALL: 1, PING: 1}, kind, FRAME_BYTES, own),))

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """A simulation, or two floods and a ping."""
        if run.name == "simulation":
            return self._simulate(bench.seed)
        bench.bring_up(self.topology(run.name))
        if run.name != FIFO:
            bench.session("s1").insert(entries(RULES))
        with bench.recording([("s1", LINE)], senders=[]) as instruments:
            start_s = instruments.now_s() + LEAD_S
            instruments.recording.numbers["start_s"] = start_s
            self._flood(instruments, start_s)
            instruments.hold(start_s - instruments.now_s())
            instruments.ping("ping", "h3", "h4", seconds=self.seconds, interval_s=PING_INTERVAL_S)
            instruments.finish()
        found = Shares(instruments.recording, run.name, self.seconds)
        instruments.note(f"a ping took {found.ping_ms:.3g} ms, {found.ping_most_ms:.3g} at most")
        return instruments.recording

    def flood(self, frame_bytes: int) -> tuple[int, float]:
        """How many frames of a length a flood sends at once, and after how many seconds again."""
        a_second = OFFERED * self.line.rate_bps / 8 / frame_bytes
        burst = max(1, round(a_second * BURST_S))
        return burst, burst / a_second

    def _flood(self, instruments: Instruments, start_s: float) -> None:
        """Both send more than the line carries, a little longer than pings are sent."""
        for name, host, frame_bytes in (("small", "h1", SMALL_BYTES), ("large", "h2", FRAME_BYTES)):
            burst, gap_s = self.flood(frame_bytes)
            count = math.ceil((self.seconds + 1) / gap_s)
            instruments.send_bursts(
                name,
                host,
                "h4",
                size_bytes=frame_bytes - HEADERS_BYTES,
                burst=burst,
                offsets_s=[index * gap_s for index in range(count)],
                start_s=start_s,
            )

    def _simulate(self, seed: int) -> Recording:
        recording = Recording()
        both = (CLASS_LOAD, CLASS_LOAD)
        low, high = simulator.mean_waits(OnePort(both, "strict", self.packets, seed))
        (fifo,) = simulator.mean_waits(OnePort((2 * CLASS_LOAD,), "strict", self.packets, seed))
        recording.numbers = {"low_wait": low, "high_wait": high, "fifo_wait": fifo}
        return recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Waits against theory; then bytes and pings under each scheduler."""
        rows, bands, numbers = self._part_a(recordings["simulation"])
        line = self.line
        for part in self.parts:
            found = Shares(recordings[part.name], part.name, self.seconds)
            share = line.small_share(part.name)
            # One queue for all has no counters for each sender.
            if share is not None:
                words = f"{share:.1%} / {1 - share:.1%}"
                got = f"{found.small:.1%} / {1 - found.small:.1%}"
                rows.append(Row(f"B: small / large packets, {part.look}", "", words, got))
                bands.append(
                    Band(
                        f"B: the small packets' part of the bytes, {part.look}",
                        100 * found.small,
                        100 * max(0.0, share - 0.01),
                        100 * min(1.0, share + 0.01),
                        "%",
                        runs=(part.name,),
                    )
                )
                numbers[f"{part.name}_small_share"] = found.small
            took = f"{found.ping_ms:.1f} ms, at most {found.ping_most_ms:.1f} ms"
            if part.name == OWN:
                # Nobody knows what it promises.
                got = f"{found.small:.1%} / {1 - found.small:.1%}"
                rows.append(Row(f"B: small / large packets, {part.look}", "", "", got))
                rows.append(Row(f"B: a ping, {part.look}", "", "", took))
                numbers["own_small_share"] = found.small
            else:
                longest_s = RTT_S + line.longest_wait_s(part.name, QUEUE_BYTES)
                most = f"at most {longest_s * 1000:.1f} ms"
                rows.append(Row(f"B: a ping, {part.look}", "", most, took))
                bands.append(self._ping_band(part, found, longest_s))
            numbers[f"{part.name}_ping_ms"] = found.ping_ms
            numbers[f"{part.name}_ping_most_ms"] = found.ping_most_ms
            numbers[f"{part.name}_line_share"] = found.use
        return Assessment(rows, bands, numbers)

    def _ping_band(self, part: _Part, found: Shares, longest_s: float) -> Band:
        claim, runs = f"B: nine of ten pings, {part.look}", (part.name,)
        most_ms = (longest_s + MACHINE_S) * 1000
        # Behind a full queue a ping waits long, and does not only wait no longer than that.
        least_ms = 0.7 * longest_s * 1000 if part.name == "fifo" else None
        return Band(claim, found.ping_usual_ms, least_ms, most_ms, "ms", runs=runs)

    def _part_a(self, recording: Recording) -> tuple[list[Row], list[Band], dict[str, float]]:
        high, low = theory.strict_waits(2 * CLASS_LOAD, CLASS_LOAD)
        fifo = theory.fifo_wait(2 * CLASS_LOAD)
        # A mean of dependent waits; of a million packets it was off by less than one percent.
        off = 0.03 * math.sqrt(1_000_000 / self.packets)
        rows, bands = [], []
        for key, words, said in (
            ("fifo_wait", "one queue", fifo),
            ("high_wait", "strict priority, high class", high),
            ("low_wait", "strict priority, low class", low),
        ):
            found = recording.numbers[key]
            what = f"A: mean wait, {words}"
            rows.append(Row(what, "", f"{said:.3f} packet times", f"{found:.3f} packet times"))
            low_edge, high_edge = said * (1 - off), said * (1 + off)
            bands.append(
                Band(what, found, low_edge, high_edge, "packet times", runs=("simulation",))
            )
        return rows, bands, dict(recording.numbers)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Shares and pings in one; then whose packets are on the line, from close by."""
        return [
            Figure(
                "shares",
                "Left: how the line is divided between small and large packets; the mark is what "
                "theory says. Right: what each ping took; the bar is the longest wait that the "
                "scheduler promises.",
                lambda canvas: self._draw_shares(canvas, recordings),
                height=4.6,
            ),
            Figure(
                "close",
                "A quarter of a second from close by: what each class has sent. A step is a full "
                "frame. Under WRR one small packet follows it, under DRR and WFQ about 23, which "
                "are as many bytes.",
                lambda canvas: self._draw_close(canvas, recordings),
                height=3.6,
            ),
        ]

    def _draw_shares(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        shares, pings = canvas.subplots(1, 2, sharey=True, width_ratios=(1, 1.3))
        line = self.line
        for place, part in enumerate(self.parts):
            found = Shares(recordings[part.name], part.name, self.seconds)
            share = line.small_share(part.name)
            if part.name == FIFO:
                shares.barh(place, 1, color=drawing.PALE, height=0.6)
                shares.text(0.5, place, "one queue for both", ha="center", va="center", fontsize=9)
            else:
                label = place == 1
                shares.barh(
                    place,
                    found.small,
                    color=palette.BLUE,
                    height=0.6,
                    label="small packets" if label else "_small",
                )
                shares.barh(
                    place,
                    1 - found.small,
                    left=found.small,
                    color=palette.ORANGE,
                    height=0.6,
                    label="large packets" if label else "_large",
                )
                if share is not None:
                    shares.plot(
                        [share, share],
                        [place - 0.42, place + 0.42],
                        color=drawing.INK,
                        linewidth=1.6,
                        label="theory" if label else "_theory",
                    )
            took = [echo.rtt_ms for echo in found.echoes]
            # A little apart, so that equal ones can be seen.
            heights = [place + 0.24 * math.sin(2.4 * index) for index in range(len(took))]
            pings.plot(
                took,
                heights,
                linestyle="",
                marker="o",
                markersize=3,
                alpha=0.6,
                color=palette.GREEN,
                label="a ping" if place == 0 else "_ping",
            )
            if part.name == OWN:
                continue
            longest_ms = (RTT_S + line.longest_wait_s(part.name, QUEUE_BYTES)) * 1000
            pings.plot(
                [longest_ms, longest_ms],
                [place - 0.42, place + 0.42],
                color=drawing.INK,
                linewidth=1.6,
                label="the longest by theory" if place == 0 else "_theory",
            )
        shares.set_yticks(range(len(self.parts)), [part.look for part in self.parts])
        shares.invert_yaxis()
        shares.set_xlim(0, 1)
        shares.set_xlabel("part of the line")
        pings.set_xscale("log")
        pings.set_xticks([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
        pings.minorticks_off()
        pings.set_xlabel("ping (ms)")
        drawing.grid(pings)
        drawing.legend(shares, columns=3)
        drawing.legend(pings)

    def _draw_close(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        shown = [part for part in self.parts if part.name in ("wrr", "drr", "wfq", OWN)]
        grid = canvas.subplots(1, len(shown), sharey=True)
        for axes, part in zip(grid, shown, strict=True):
            recording = recordings[part.name]
            series, start_s = recording.ports[PORT], recording.numbers["start_s"] + SETTLED_S + 1
            rows = series.rows(start_s, start_s + 0.25)
            times = [1000 * (time_s - start_s) for time_s in series.time_s[rows]]
            for class_, words, own in (
                (SMALL, "small", palette.BLUE),
                (LARGE, "large", palette.ORANGE),
            ):
                sent = series.queues[class_].departed_bytes[rows]
                kilobytes = [(each - sent[0]) / 1000 for each in sent]
                axes.plot(times, kilobytes, drawstyle="steps-post", color=own, label=words)
            axes.set_title(part.look, fontsize=10.5, loc="left")
            axes.set_xlabel("time (ms)")
            axes.set_ylabel("sent (kB)")
            axes.label_outer()
            drawing.grid(axes)
        # The same in all of them; beside a long name there would be no room.
        drawing.legend(grid[0])


class Shares:
    """The bytes sent while both floods ran, and the round trips of the pings."""

    def __init__(self, recording: Recording, name: str, seconds: float) -> None:
        first_s = recording.numbers["start_s"]
        start_s, end_s = first_s + SETTLED_S, first_s + seconds - 0.5
        series = recording.ports[PORT]
        self.use = series.rate_bps(start_s, end_s)
        self.small = math.nan
        if name != FIFO:
            small, large = (series.rate_bps(start_s, end_s, each) for each in (SMALL, LARGE))
            self.small = small / (small + large)
        self.echoes = recording.pings["ping"].between(start_s, end_s).echoes
        took = sorted(echo.rtt_ms for echo in self.echoes)
        self.ping_ms = sum(took) / len(took) if took else math.nan
        self.ping_usual_ms = took[len(took) * 9 // 10] if took else math.nan
        self.ping_most_ms = took[-1] if took else math.nan
