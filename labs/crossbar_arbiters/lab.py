"""Crossbar arbiters: in virtual time against the literature, and a ping beside TCP in a router.

Part A lets `vitrine-sim` run a 16 x 16 router with seven arbiters under four patterns of traffic.
Part B sends two TCP flows and a ping from three inputs to one output of a router whose crossbar is
no faster than that output, and lets three arbiters decide who is next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.decider import Decider
from controller.queueing import Arbiter
from labs import classes, palette, simulator
from labs.bench import Bench, FlowPlan
from labs.crossbar_arbiters import theory
from labs.crossbar_arbiters.theory import PORTS, SATURATION, WAITS
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.frames import queue_delay_s
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from labs.simulator import Router
from topo import load
from topo.model import Topology

# Part A: arbiters by their names in the simulator, and the highest load that each is measured at:
# past what it carries, its queues only grow.
ARBITERS = {
    "lqf": ("maximum weight (LQF)", 0.95),
    "pim:4": ("PIM, 4 iterations", 0.95),
    "islip:4": ("iSLIP, 4 iterations", 0.95),
    "wavefront": ("wavefront", 0.95),
    "islip:1": ("iSLIP, 1 iteration", 0.95),
    "pim:1": ("PIM, 1 iteration", 0.6),
    "round_robin:1": ("round robin (RRM)", 0.6),
}
LOADS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
# Patterns in the order of the figure; the first two are in the table.
PATTERNS = ("uniform", "diagonal", "logdiagonal", "unbalanced:0.5")
JUDGED_PATTERNS = PATTERNS[:2]
# From here on a router carries everything but what fills its queues.
NEARLY_ALL = 0.98
# The waits that are judged: how far a mean over 100,000 slots may be off.
JUDGED = (("islip:4", 0.8, 0.03), ("islip:1", 0.8, 0.034), ("pim:4", 0.9, 0.036))
JUDGED_SLOTS = 100_000
# The same for the highest throughput, where 15,000 slots were observed.
CARRIED, CARRIED_SLOTS = 0.006, 15_000

# Part B.
OUTPUT = 4
# The inputs by the sender of each.
INPUTS = {"h1": 1, "h2": 2, "h3": 3}
RTT_S = 0.004
LINE_BPS = 20_000_000
PING_INTERVAL_S = 0.05
SETTLED_S = 3.0
SAMPLE_INTERVAL_MS = 2
# A longer wait means no service at all: a full queue of both flows is gone in 0.07 s.
ANSWERED_MS = 1000.0
# The frame that crosses, one of the other input, and the one on the line.
ISLIP_PING_MS = (RTT_S + queue_delay_s(3, LINE_BPS)) * 1000
BESIDE = {
    "islip": (Arbiter.ISLIP, "iSLIP"),
    "ocf": (Arbiter.OCF, "oldest cell first"),
    "lqf": (Arbiter.LQF, "longest queue first"),
}


# The run of the user's own class, and how long it is simulated: it decides in Python.
OWN, OWN_SLOTS = "own", 20_000


class CrossbarArbiters(SettlingLab):
    """The throughput, waits and starvation of crossbar arbiters."""

    name: ClassVar = "crossbar-arbiters"
    title: ClassVar = "Crossbar arbiters: who may cross"
    summary: ClassVar = "PIM, iSLIP, wavefront, maximum weight: throughput, and starvation"
    question: ClassVar = (
        "Which inputs may send to which outputs now, and what does a good answer cost?"
    )
    look_for: ClassVar = (
        "Part A, left: one iteration of iSLIP carries everything, but a cell waits ten times as "
        "long as with four; four iterations are nearly as good as output queues.",
        "Part A, right: uniform traffic flatters every arbiter. On a diagonal the fast ones lose a "
        "fifth of the lines; only the maximum weight, which no hardware computes, loses nothing.",
        "Part B: longest queue first carries as much as the others, and answers no ping while the "
        "flows run, for 60 pings are a shorter queue than four frames. Look at h2, too.",
    )
    original: ClassVar = "no single text: the figures are simulations after McKeown (1999)"
    settled_s: ClassVar = SETTLED_S
    takes: ClassVar = frozenset({"duration", "arbiter"})
    needs: ClassVar = "an input stage and a fabric, which simple_switch does not have"

    @property
    def arbiters(self) -> Mapping[str, tuple[str, float]]:
        """Those of part A, and the user's."""
        own = self.settings.arbiter
        return ARBITERS if own is None else {**ARBITERS, own: (classes.words(own), max(LOADS))}

    @property
    def beside(self) -> Mapping[str, tuple[Arbiter | Decider, str]]:
        """Those of part B, and the user's."""
        decider = Decider.parse(self.settings.arbiter or "", Path())
        if decider is None:
            return BESIDE
        return {**BESIDE, OWN: (decider, classes.words(str(decider)))}

    @property
    def slots(self) -> int:
        """How long the simulator looks."""
        return 20_000 if self.settings.quick else JUDGED_SLOTS

    @property
    def saturated_slots(self) -> int:
        """The same where every queue is full; as many pass before."""
        return 6_000 if self.settings.quick else 2 * CARRIED_SLOTS

    @property
    def seconds(self) -> int:
        """How long the flows of part B run."""
        return self.settings.seconds or (10 if self.settings.quick else 20)

    @property
    def place(self) -> Place:
        """The output that all inputs want."""
        return Place(self.topology("islip"), "s1", OUTPUT)

    def runs(self) -> Sequence[Run]:
        """Part A in one, part B once for each arbiter."""
        title = f"Part A: {len(self.arbiters)} arbiters, {self.slots} slots each in virtual time"
        return [
            Run("simulation", title, 0.0003 * self.slots, {"slots": self.slots}, is_computed=True),
            *(
                Run(name, f"Part B: a ping beside two flows, {words}", self.seconds + AROUND_S)
                for name, (_, words) in self.beside.items()
            ),
        ]

    def topology(self, name: str) -> Topology:
        """The network of part B with an arbiter."""
        base = load.load(Path(__file__).with_name("topology.yaml"))
        stage = base.switch("s1").input
        assert stage is not None
        arbiter, _ = self.beside[name]
        if isinstance(arbiter, Decider):
            return base.with_input("s1", replace(stage, decider=arbiter))
        return base.with_input("s1", replace(stage, arbiter=arbiter))

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """A simulation, or two flows and a ping."""
        if run.name == "simulation":
            return self._simulate(bench.seed)
        bench.bring_up(self.topology(run.name))
        watched = [("s1", OUTPUT), *(("s1", port) for port in INPUTS.values())]
        with bench.recording(
            watched, senders=["h1", "h2"], interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            plans = [FlowPlan(source, source, "h4", "reno") for source in ("h1", "h2")]
            instruments.flows(plans, seconds=self.seconds)
            instruments.ping("ping", "h3", "h4", seconds=self.seconds, interval_s=PING_INTERVAL_S)
            instruments.finish()
        found = Beside(instruments.recording)
        instruments.note(f"a ping: {found.ping_words}")
        return instruments.recording

    def _simulate(self, seed: int) -> Recording:
        def router(arbiter: str, **changes: object) -> Router:
            own = Router(PORTS, "voq", arbiter, loads=(1.0,), slots=self.slots, seed=seed)
            return replace(own, **changes)  # type: ignore[arg-type]

        recording = Recording()
        waits = simulator.measure(
            [
                router(
                    arbiter,
                    loads=tuple(each for each in LOADS if each <= most),
                    slots=self.slots if arbiter in ARBITERS else min(self.slots, OWN_SLOTS),
                )
                for arbiter, (_, most) in self.arbiters.items()
            ]
        )
        recording.tables["waits"] = [
            {"arbiter": arbiter, **asdict(point)}
            for arbiter, found in zip(self.arbiters, waits, strict=True)
            for point in found
        ]
        slots = self.saturated_slots
        asked = [(arbiter, pattern) for arbiter in SATURATION for pattern in PATTERNS]
        carried = simulator.measure(
            [
                router(arbiter, pattern=pattern, slots=slots, warm_up=slots)
                for arbiter, pattern in asked
            ]
        )
        recording.tables["carried"] = [
            {"arbiter": arbiter, "pattern": pattern, "throughput": point.throughput}
            for (arbiter, pattern), (point,) in zip(asked, carried, strict=True)
        ]
        return recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Waits and throughput against what is known; then what the ping waits for."""
        waits, carried = Waits(recordings["simulation"]), _carried(recordings["simulation"])
        rows, bands, numbers = [], [], {}
        for arbiter, known in WAITS.items():
            for load_, wait in known.items():
                found = waits.at(arbiter, load_)
                what = f"A: mean wait at load {load_:g}, {ARBITERS[arbiter][0]}"
                rows.append(Row(what, "", f"{wait:.3g} slots", f"{found:.3g} slots"))
                numbers[f"{_key(arbiter)}_at_{round(100 * load_)}_percent_wait_slots"] = found
        for arbiter, load_, off in JUDGED:
            exact = WAITS[arbiter][load_]
            off *= math.sqrt(JUDGED_SLOTS / self.slots)
            bands.append(
                Band(
                    f"A: mean wait at load {load_:g}, {ARBITERS[arbiter][0]}",
                    waits.at(arbiter, load_),
                    exact * (1 - off),
                    exact * (1 + off),
                    "slots",
                    runs=("simulation",),
                )
            )
        if (own := self.settings.arbiter) is not None:
            for load_, found in zip(*waits.of(own), strict=True):
                what = f"A: mean wait at load {load_:g}, {classes.words(own)}"
                rows.append(Row(what, "", "", f"{found:.3g} slots"))
                numbers[f"own_at_{round(100 * load_)}_percent_wait_slots"] = found
        for (arbiter, pattern), found in carried.items():
            numbers[f"{_key(arbiter)}_{_key(pattern)}_carried_share"] = found
            if pattern not in JUDGED_PATTERNS:
                continue
            exact = SATURATION[arbiter][pattern]
            what = f"A: carried at most, {pattern} traffic, {ARBITERS[arbiter][0]}"
            rows.append(Row(what, "", f"{exact:.1%}", f"{found:.1%}"))
            low, high = exact - self._carried_off, exact + self._carried_off
            if exact > NEARLY_ALL:
                # A run from empty queues is still filling them.
                low, high = NEARLY_ALL - self._carried_off, 1.0
            bands.append(Band(what, 100 * found, 100 * low, 100 * high, "%", runs=("simulation",)))
        for name, (_, words) in self.beside.items():
            beside = Beside(recordings[name])
            rows += [
                Row(f"B: a ping, {words}", "", self._said(name, beside), beside.ping_words),
                Row(f"B: the output, {words}", "", "100% of its line", f"{beside.use:.1%}"),
                Row(f"B: the smaller flow, {words}", "", "", f"{beside.smaller_share:.0%} of both"),
            ]
            claim = f"B: part of the line used, {words}"
            if name != OWN:
                # The aim of a user's class is unknown.
                bands += [
                    self._ping_band(name, beside),
                    Band(claim, 100 * beside.use, least=95, unit="%", runs=(name,)),
                ]
            if beside.answered_share:
                numbers[f"{name}_ping_ms"] = beside.ping_ms
            numbers[f"{name}_answered_pings_share"] = beside.answered_share
            numbers[f"{name}_line_share"] = beside.use
            numbers[f"{name}_smaller_flow_share"] = beside.smaller_share
            numbers[f"{name}_queue_packets"] = beside.mean_voq_packets
        return Assessment(rows, bands, numbers)

    @property
    def _carried_off(self) -> float:
        return CARRIED * max(1.0, math.sqrt(CARRIED_SLOTS / self.saturated_slots))

    def _said(self, name: str, beside: Beside) -> str:
        """The round trip of a ping by an arbiter's own rule."""
        if name == "islip":
            return f"up to {ISLIP_PING_MS:.2g} ms"
        if name == "ocf":
            return f"{_fifo_ping_ms(beside):.3g} ms"
        return "never answered" if name == "lqf" else ""

    def _ping_band(self, name: str, beside: Beside) -> Band:
        claim, runs = f"B: a ping, {BESIDE[name][1]}", (name,)
        if name == "islip":
            # The machine adds some milliseconds of its own.
            return Band(claim, beside.ping_ms, most=ISLIP_PING_MS + 4, unit="ms", runs=runs)
        if name == "ocf":
            said = _fifo_ping_ms(beside)
            return Band(claim, beside.ping_ms, 0.75 * said, 1.25 * said, "ms", runs=runs)
        claim = f"B: pings answered within a second, {BESIDE[name][1]}"
        return Band(claim, 100 * beside.answered_share, most=5, unit="%", runs=runs)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Part A in one figure; part B's three arbiters beside each other."""
        took = "; ".join(
            f"{words}: {Beside(recordings[name]).ping_words}"
            for name, (_, words) in self.beside.items()
        )
        return [
            Figure(
                "beside",
                "Part B. Above: what waits in the three virtual output queues toward one output. "
                "Below: what each of h3's pings took, on a logarithmic scale. In the mean: "
                f"{took}.",
                lambda canvas: self._draw_beside(canvas, recordings),
                height=6.2,
            ),
            Figure(
                "waits",
                "Part A, uniform traffic: the mean wait of a cell against the load, 16 ports. "
                "Points are ours, rings are known from elsewhere, the line is the formula for "
                "output queues, the least possible wait.",
                lambda canvas: self._draw_waits(canvas, recordings["simulation"]),
                height=5.2,
            ),
            Figure(
                "carried",
                "Part A: what each arbiter carries at most under four patterns. Grey marks: known "
                "from elsewhere.",
                lambda canvas: self._draw_carried(canvas, recordings["simulation"]),
                height=4.2,
            ),
        ]

    def _draw_beside(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        grid = canvas.subplots(2, len(self.beside), sharex=True, sharey="row")
        for column, (name, (_, words)) in enumerate(self.beside.items()):
            recording = recordings[name]
            waiting, ping = grid[0][column], grid[1][column]
            for host, port in INPUTS.items():
                series = recording.ports[f"s1-eth{port}"]
                packets = series.input.voqs.get(OUTPUT, [])
                times = series.time_s[-len(packets) :] if packets else []
                waiting.plot(
                    *drawing.thinned(times, packets),
                    color=palette.of_name(host),
                    linewidth=0.9,
                    label=f"{host}, ping" if host == "h3" else host,
                )
            waiting.set_ylabel("virtual output queue\n(packets)")
            waiting.set_title(words, fontsize=10.5, loc="left", pad=20)
            drawing.legend(waiting, columns=3)
            echoes = recording.pings["ping"].echoes
            ping.plot(
                [echo.time_s for echo in echoes],
                [echo.rtt_ms for echo in echoes],
                linestyle="",
                marker=".",
                markersize=4,
                color=palette.of_name("h3"),
                label="h3's ping",
            )
            ping.set_yscale("log")
            ping.set_ylim(2, 10_000)
            ping.set_ylabel("ping (ms)")
            ping.set_xlabel("time (s)")
            for axes in (waiting, ping):
                drawing.grid(axes)
                axes.label_outer()

    def _draw_waits(self, canvas: matplotlib.figure.Figure, recording: Recording) -> None:
        axes = canvas.subplots()
        waits = Waits(recording)
        for index, (arbiter, (words, _)) in enumerate(self.arbiters.items()):
            own = (*palette.FLOWS, drawing.INK)[index]
            loads, found = waits.of(arbiter)
            axes.plot(loads, found, marker="o", markersize=4, linewidth=1.2, color=own, label=words)
            known = WAITS.get(arbiter, {})
            axes.plot(
                list(known),
                list(known.values()),
                linestyle="",
                marker="o",
                markersize=9,
                fillstyle="none",
                color=own,
                label="_known",
            )
        fine = [each / 100 for each in range(28, 97)]
        axes.plot(
            fine,
            [simulator.output_queueing_wait(PORTS, each) for each in fine],
            color=palette.GREY,
            linewidth=1.2,
            linestyle="--",
            label="output queues, formula",
        )
        limit = theory.pim_once(PORTS)
        axes.axvline(limit, color=palette.GREY, linewidth=0.8, linestyle=":")
        axes.annotate(
            f"one iteration of PIM\ncarries {limit:.1%}",
            (limit, 300),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=8.5,
            va="top",
        )
        axes.set_yscale("log")
        axes.set_xlabel("load (cells per slot and input)")
        axes.set_ylabel("mean wait (slots)")
        drawing.grid(axes)
        drawing.legend(axes, columns=4)

    def _draw_carried(self, canvas: matplotlib.figure.Figure, recording: Recording) -> None:
        axes = canvas.subplots()
        carried = _carried(recording)
        width = 0.8 / len(SATURATION)
        for index, arbiter in enumerate(SATURATION):
            places = [
                column + (index - (len(SATURATION) - 1) / 2) * width
                for column in range(len(PATTERNS))
            ]
            axes.bar(
                places,
                [carried[arbiter, pattern] for pattern in PATTERNS],
                width * 0.9,
                color=palette.FLOWS[list(ARBITERS).index(arbiter)],
                label=ARBITERS[arbiter][0],
            )
            axes.plot(
                places,
                [SATURATION[arbiter][pattern] for pattern in PATTERNS],
                linestyle="",
                marker="_",
                markersize=11,
                markeredgewidth=1.6,
                color="#333333",
                label="known" if index == 0 else "_known",
            )
        words = ("uniform", "diagonal: 2/3 and 1/3", "log-diagonal", "unbalanced: half to one")
        axes.set_xticks(range(len(PATTERNS)), words)
        axes.set_ylim(0.5, 1.03)
        axes.set_ylabel("carried at most\n(part of the lines)")
        drawing.grid(axes)
        drawing.legend(axes, columns=4)


class Waits:
    """The waits of part A."""

    def __init__(self, recording: Recording) -> None:
        self._waits: dict[str, dict[float, float]] = {}
        for row in recording.tables["waits"]:
            loads = self._waits.setdefault(str(row["arbiter"]), {})
            loads[float(row["load"])] = float(row["wait_slots"])

    def of(self, arbiter: str) -> tuple[list[float], list[float]]:
        """Loads and mean waits."""
        found = self._waits[arbiter]
        return list(found), list(found.values())

    def at(self, arbiter: str, load_: float) -> float:
        """The mean wait at a load, in slots."""
        return self._waits[arbiter][load_]


def _carried(recording: Recording) -> dict[tuple[str, str], float]:
    """The highest throughput, by arbiter and pattern."""
    return {
        (str(row["arbiter"]), str(row["pattern"])): float(row["throughput"])
        for row in recording.tables["carried"]
    }


def _key(name: str) -> str:
    """A name as a part of a number's name: islip:4 as islip_4, unbalanced:0.5 as unbalanced_0_5."""
    return name.replace(":", "_").replace(".", "_")


def _fifo_ping_ms(beside: Beside) -> float:
    """The round trip of a ping that waits for every earlier frame of either input."""
    return (RTT_S + 2 * beside.mean_voq_packets * queue_delay_s(1, LINE_BPS)) * 1000


class Beside:
    """The results of a run of part B once the flows have settled."""

    def __init__(self, recording: Recording) -> None:
        flows = [recording.flows[host].samples for host in ("h1", "h2")]
        start_s = max(samples[0].time_s for samples in flows) + SETTLED_S
        end_s = min(samples[-1].time_s for samples in flows)
        # Pings of the last second may find the flows gone.
        asked_until_s = end_s - ANSWERED_MS / 1000
        answers = recording.pings["ping"].between(start_s, asked_until_s).echoes
        prompt = [echo.rtt_ms for echo in answers if echo.rtt_ms <= ANSWERED_MS]
        self.answered_share = len(prompt) * PING_INTERVAL_S / (asked_until_s - start_s)
        self.ping_ms = sum(prompt) / len(prompt) if prompt else math.nan
        output = recording.ports[f"s1-eth{OUTPUT}"]
        self.use = output.rate_bps(start_s, end_s) / LINE_BPS
        got = [recording.flows[host].throughput_bps(start_s, end_s) for host in ("h1", "h2")]
        self.smaller_share = min(got) / sum(got)
        depths: list[int] = []
        for host in ("h1", "h2"):
            series = recording.ports[f"s1-eth{INPUTS[host]}"]
            depths += series.input.voqs[OUTPUT][series.rows(start_s, end_s)]
        # Of the two flows' queues, each.
        self.mean_voq_packets = sum(depths) / len(depths)

    @property
    def ping_words(self) -> str:
        """`4.6 ms`; and how many were answered at all, where some were not."""
        if not self.answered_share:
            return "none answered while the flows ran"
        share = f", {self.answered_share:.0%} answered" if self.answered_share < 0.95 else ""
        return f"{self.ping_ms:.3g} ms{share}"
