"""A shared buffer: the limit on each queue's part of it, and the queues that are locked out.

Part A floods one output after the other of a router whose queues share one memory, and looks at
how long the queues become, for four values of alpha. Part B sends bursts from three hosts to one
output at the same instant (incast), first alone, then while another output is flooded, and changes
who may take what: everybody everything, dynamic thresholds, or a fixed part each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.queueing import BufferShare, Limit, QueueSettings
from labs import palette
from labs.bench import LEAD_S, Bench, Instruments
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import FRAME_BYTES, MTU_BYTES, queue_delay_s
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from labs.shared_buffer.theory import fair_share, first_drop
from topo import load
from topo.model import Topology

BUFFER_BYTES = 200_000
LINE_BPS, SENDER_BPS = 10_000_000, 100_000_000
# Sender and receiver of each flood, in the order in which they begin; and the receivers' ports.
PAIRS = (("h1", "h5"), ("h2", "h6"), ("h3", "h7"), ("h4", "h8"))
PORTS = {"h5": 5, "h6": 6, "h7": 7, "h8": 8}
# The load of a flood in lines, two datagrams at once; IP and UDP take 28 bytes of each.
FLOOD, AT_ONCE = 1.5, 2
HEADERS_BYTES = 28

# Part A.
ALPHAS = {"half": Fraction(1, 2), "one": Fraction(1), "two": Fraction(2), "eight": Fraction(8)}
# A queue is looked at in the last part of each stage.
LOOKED_AT = 0.4

# Part B: the datagrams that each of three hosts sends, at the same instant.
INCAST, VICTIM, BURST = ("h1", "h2", "h3"), "h5", 20
HOG = ("h4", "h8")
BURST_GAP_S = 0.25
SETTLING_S = 0.75
POLICIES = {
    "complete": "no limit but the memory",
    "dynamic": "dynamic thresholds, alpha = 1",
    "static": "a quarter of it for each output",
}
QUIET, HOGGED = "alone", "beside the flood"


class SharedBuffer(Lab):
    """Queues of a router that share one memory."""

    name: ClassVar = "shared-buffer"
    title: ClassVar = "A shared buffer: thresholds, lock-out, incast"
    summary: ClassVar = "one memory for all queues: dynamic thresholds, lock-out and incast"
    question: ClassVar = "All ports share one memory: how much of it may a single queue take?"
    look_for: ClassVar = (
        "Part A: with each output that is flooded, the others give way, and all stand at the same "
        "height; a part of the memory stays free on purpose.",
        "Part B, no limit: alone the burst loses nothing; beside a flood that has "
        "nothing to do with it, it loses nearly everything.",
        "Part B, fixed parts: the flood does not matter, but the burst always loses, although "
        "most of the memory is empty.",
        "Part B, dynamic thresholds: nothing is lost alone, and beside the flood there is room.",
    )
    original: ClassVar = "no single text: formulas of Choudhury and Hahne (1998)"
    takes: ClassVar = frozenset({"duration"})
    needs: ClassVar = "a buffer that queues share, which simple_switch does not have"

    @property
    def stage_s(self) -> float:
        """Part A: how long it takes until the next output is flooded."""
        return (self.settings.seconds or (3 if self.settings.quick else 6)) / len(PAIRS)

    @property
    def bursts(self) -> int:
        """Part B: how many bursts there are alone, and as many beside the flood."""
        return 3 if self.settings.quick else 8

    @property
    def least_seconds(self) -> int:
        """Four stages."""
        return 3

    @property
    def least_seconds_for(self) -> str:
        """A queue fills in a third of a second."""
        return "for the queues to settle in each of four stages"

    @property
    def place(self) -> Place:
        """The output that the bursts go to."""
        return Place(self.topology("dynamic"), "s1", PORTS[VICTIM])

    def runs(self) -> Sequence[Run]:
        """Part A for each alpha, part B for each policy."""
        return [
            *(
                Run(name, f"Part A: alpha = {alpha}", LEAD_S + 4 * self.stage_s + AROUND_S)
                for name, alpha in ALPHAS.items()
            ),
            *(
                Run(name, f"Part B: {words}", LEAD_S + self._both_s + AROUND_S)
                for name, words in POLICIES.items()
            ),
        ]

    @property
    def _both_s(self) -> float:
        """Both parts of a run of part B."""
        return 2 * (self.bursts * BURST_GAP_S + SETTLING_S)

    def topology(self, name: str) -> Topology:
        """The network of a run."""
        base = load.load(Path(__file__).with_name("topology.yaml"))
        if name == "static":
            # No shared memory at all: each output has its own quarter.
            switch = dataclasses.replace(base.switch("s1"), buffer_bytes=None)
            base = dataclasses.replace(base, switches=(switch,))
            each = QueueSettings(limit=Limit(bytes=BUFFER_BYTES // len(PORTS)))
        else:
            alpha = None if name == "complete" else ALPHAS.get(name, Fraction(1))
            each = QueueSettings(limit=Limit(bytes=BUFFER_BYTES), share=BufferShare(alpha))
        for port in PORTS.values():
            base = base.with_settings("s1", port, every_queue=each)
        return base

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """One flood after the other; or bursts alone, and bursts beside a flood."""
        bench.bring_up(self.topology(run.name))
        watched = [("s1", port) for port in PORTS.values()]
        with bench.recording(watched, senders=[]) as instruments:
            start_s = instruments.now_s() + LEAD_S
            if run.name in ALPHAS:
                self._flood_in_turn(instruments, start_s)
            else:
                self._burst(instruments, QUIET, start_s)
                # Between both the flood fills its queue.
                half_s = self._both_s / 2
                self._flood(instruments, HOG, start_s + half_s, half_s)
                self._burst(instruments, HOGGED, start_s + half_s + SETTLING_S)
            # The begin is known before: the moments are those of the senders' clock.
            instruments.recording.numbers["start_s"] = start_s
            instruments.finish()
        if run.name in POLICIES:
            found = Incast(instruments.recording)
            instruments.note(
                f"lost {found.lost[QUIET]:.0%} of the bursts alone, {found.lost[HOGGED]:.0%} "
                "beside the flood"
            )
        return instruments.recording

    def _flood_in_turn(self, instruments: Instruments, start_s: float) -> None:
        for index, pair in enumerate(PAIRS):
            stages = len(PAIRS) - index
            self._flood(instruments, pair, start_s + index * self.stage_s, stages * self.stage_s)

    def _flood(
        self, instruments: Instruments, pair: tuple[str, str], start_s: float, seconds: float
    ) -> None:
        source, target = pair
        gap_s = AT_ONCE * queue_delay_s(1, LINE_BPS) / FLOOD
        instruments.send_bursts(
            f"flood of {source}",
            source,
            target,
            size_bytes=MTU_BYTES - HEADERS_BYTES,
            burst=AT_ONCE,
            offsets_s=[index * gap_s for index in range(round(seconds / gap_s))],
            start_s=start_s,
        )

    def _burst(self, instruments: Instruments, when: str, start_s: float) -> None:
        for host in INCAST:
            instruments.send_bursts(
                f"{host} {when}",
                host,
                VICTIM,
                size_bytes=MTU_BYTES - HEADERS_BYTES,
                burst=BURST,
                offsets_s=[index * BURST_GAP_S for index in range(self.bursts)],
                start_s=start_s,
            )

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Queues against the formula; what the bursts lose."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        for name, alpha in ALPHAS.items():
            for full in range(1, len(PAIRS) + 1):
                queues = self._queues_bytes(recordings[name], full)
                mean = sum(queues) / full
                said = fair_share(BUFFER_BYTES, float(alpha), full)
                what = f"A: alpha = {alpha}, {full} flooded: each queue"
                rows.append(Row(what, "", f"{said / 1000:.1f} kB", f"{mean / 1000:.1f} kB"))
                # A queue stops short of its threshold by less than a frame; what others hold of
                # theirs moves it by as much.
                off = (1 + float(alpha)) * FRAME_BYTES
                edges = (said - off) / 1000, (said + off) / 1000
                bands.append(Band(what, mean / 1000, *edges, "kB", runs=(name,)))
                numbers[f"alpha_{name}_{full}_queue_bytes"] = mean
        for name, words in POLICIES.items():
            found = Incast(recordings[name])
            for when in (QUIET, HOGGED):
                expected, low, high = self._loss(name, when)
                lost = f"{found.lost[when]:.0%}"
                rows.append(Row(f"B: {words}: lost, {when}", "", expected, lost))
                bands.append(
                    Band(
                        f"B: {words}: lost, {when}",
                        100 * found.lost[when],
                        low,
                        high,
                        "%",
                        runs=(name,),
                    )
                )
                key = when.partition(" ")[0]
                numbers[f"{name}_{key}_lost_share"] = found.lost[when]
        return Assessment(rows, bands, numbers)

    def _queues_bytes(self, recording: Recording, full: int) -> list[float]:
        """The mean length of the flooded queues at the end of a stage."""
        end_s = recording.numbers["start_s"] + full * self.stage_s
        found = []
        for _, target in PAIRS[:full]:
            series = recording.ports[f"s1-eth{PORTS[target]}"]
            lengths = series.bytes[series.rows(end_s - LOOKED_AT * self.stage_s, end_s)]
            found.append(sum(lengths) / len(lengths))
        return found

    def _loss(self, name: str, when: str) -> tuple[str, float | None, float | None]:
        """The loss of a burst, by the memory it finds: in words, at least, at most; percent."""
        total = len(INCAST) * BURST * FRAME_BYTES
        # The hosts send at once, each at its own line's rate; meanwhile the output sends, too.
        speed = len(INCAST) * SENDER_BPS / LINE_BPS
        sent = total / speed
        if name == "complete" and when == HOGGED:
            return "nearly all", 80, None
        if name == "complete":
            room = float(BUFFER_BYTES)
        elif name == "static":
            room = BUFFER_BYTES / len(PORTS)
        else:
            room = first_drop(BUFFER_BYTES, 1, 1 if when == HOGGED else 0, speed)
        lost = max(0.0, 1 - (room + sent) / total)
        words = f"{lost:.0%}: {room / 1000:.0f} kB of room"
        # A frame more or less from each host.
        off = 100 * (len(INCAST) + 1) * FRAME_BYTES / total
        return words, max(0.0, 100 * lost - off), 100 * lost + off

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The stairs of part A; the bursts of part B."""
        return [
            Figure(
                "stairs",
                "Part A: four outputs are flooded one after the other. Lines: their queues. "
                "Dashes: the formula for this number of full queues. Grey: free memory.",
                lambda canvas: self._draw_stairs(canvas, recordings),
                height=6.4,
            ),
            Figure(
                "incast",
                "Part B: bursts of three hosts to one output, alone and then beside a flood of "
                "another output. Bars: the part of each that was lost.",
                lambda canvas: self._draw_incast(canvas, recordings),
                height=7.4,
            ),
        ]

    def _draw_stairs(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        grid = canvas.subplots(2, 2, sharex=True, sharey=True)
        for axes, (name, alpha) in zip(grid.flat, ALPHAS.items(), strict=True):
            recording = recordings[name]
            start_s = recording.numbers["start_s"]
            held: list[float] = []
            for index, (_, target) in enumerate(PAIRS):
                series = recording.ports[f"s1-eth{PORTS[target]}"]
                times, lengths = _from(series.time_s, series.bytes, start_s)
                axes.plot(
                    *drawing.thinned(times, lengths),
                    color=palette.FLOWS[index],
                    linewidth=1.1,
                    label=f"to {target}",
                )
                held = [a + b for a, b in zip(held or [0.0] * len(lengths), lengths, strict=True)]
            free = [BUFFER_BYTES / 1000 - each for each in held]
            axes.plot(*drawing.thinned(times, free), color="#bbbbbb", linewidth=0.9, label="free")
            for full in range(1, len(PAIRS) + 1):
                said = fair_share(BUFFER_BYTES / 1000, float(alpha), full)
                span = [(full - 1) * self.stage_s, full * self.stage_s]
                axes.plot(
                    span,
                    [said, said],
                    color=drawing.INK,
                    linestyle="--",
                    linewidth=1.1,
                    label=r"$\alpha B / (1 + \alpha n)$" if full == 1 else "_theory",
                )
            axes.set_title(f"alpha = {alpha}", fontsize=10.5, loc="left", pad=20)
            axes.set_ylim(0, 200)
            axes.set_xlim(-0.1, len(PAIRS) * self.stage_s)
            axes.set_ylabel("queue (kB)")
            axes.set_xlabel("time (s)")
            axes.label_outer()
            drawing.grid(axes)
            drawing.legend(axes, columns=6)
            legend = axes.get_legend()
            if axes is not grid.flat[0] and legend is not None:
                legend.remove()

    def _draw_incast(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        grid = canvas.subplots(len(POLICIES), 2, sharex="col", sharey="col", width_ratios=(3.2, 1))
        for (queues, lost), (name, words) in zip(grid, POLICIES.items(), strict=True):
            recording = recordings[name]
            start_s = recording.numbers["start_s"]
            for index, (target, label) in enumerate(
                ((HOG[1], "the flooded output"), (VICTIM, "the bursts' output"))
            ):
                series = recording.ports[f"s1-eth{PORTS[target]}"]
                own = (palette.GREY, palette.RED)[index]
                queues.plot(
                    *_from(series.time_s, series.bytes, start_s),
                    color=own,
                    linewidth=1,
                    label=label,
                )
            queues.set_title(words, fontsize=10.5, loc="left")
            queues.set_ylabel("queue (kB)")
            queues.set_xlim(-0.1, self._both_s)
            queues.set_ylim(0, 210)
            found = Incast(recording)
            shares = [100 * found.lost[when] for when in (QUIET, HOGGED)]
            bars = lost.bar((0, 1), shares, 0.6, color=palette.RED, label="lost")
            lost.bar_label(bars, [f"{share:.0f} %" for share in shares], fontsize=9)
            lost.set_xticks((0, 1), ("alone", "beside\nthe flood"))
            lost.set_ylim(0, 115)
            lost.set_ylabel("lost (%)")
            for axes in (queues, lost):
                drawing.grid(axes)
            drawing.legend(queues)
        grid[-1][0].set_xlabel("time (s)")


def _from(
    times_s: Sequence[float], lengths: Sequence[int], start_s: float
) -> tuple[list[float], list[float]]:
    """Times from an instant on, and lengths in kilobytes."""
    shown = [(time_s - start_s, each / 1000) for time_s, each in zip(times_s, lengths, strict=True)]
    shown = [point for point in shown if point[0] >= 0]
    return [time_s for time_s, _ in shown], [each for _, each in shown]


class Incast:
    """The losses of the bursts, alone and beside the flood."""

    def __init__(self, recording: Recording) -> None:
        self.lost: dict[str, float] = {}
        for when in (QUIET, HOGGED):
            bursts = [recording.bursts[f"{host} {when}"] for host in INCAST]
            self.lost[when] = sum(each.lost for each in bursts) / sum(each.sent for each in bursts)
