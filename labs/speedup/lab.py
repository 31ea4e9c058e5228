"""Speedup: what a crossbar gains that is faster than its lines.

Part A lets `vitrine-sim` run a 16 x 16 router at several speedups. Part B compares a crossbar cell
by cell with a router that has output queues only. Part C sends four TCP flows through FIFO queues
of a real router whose crossbar becomes faster from run to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from labs import palette, simulator
from labs.bench import Bench, FlowPlan
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from labs.simulator import Router
from labs.speedup import mimicry
from topo import load
from topo.model import Topology

# Part A.
PORTS = 16
PATTERNS = ("uniform", "diagonal", "logdiagonal", "unbalanced:0.5")
ARBITERS = {"islip:1": "iSLIP, 1 iteration", "pim:1": "PIM, 1 iteration", "wavefront": "wavefront"}
SPEEDUPS = ("1", "5/4", "3/2", "7/4", "2")
# Nearly all that the lines carry; and how long a cell may wait before the fabric at speedup 2.
LOAD, INPUT_WAIT_MOST = 0.99, 0.30
# A mean over 30,000 slots of 16 inputs is off by less.
CARRIED_OFF = 0.004

# Part B.
MIMIC_PORTS, MIMIC_LOAD = 8, 0.9
# The premise of the theorem.
LEAST = 2 - Fraction(1, MIMIC_PORTS)
MIMICS = (Fraction(1), Fraction(5, 4), Fraction(3, 2), LEAST, Fraction(2))

# Part C.
RUNS = {"one": Fraction(1), "five-fourths": Fraction(5, 4), "two": Fraction(2)}
OUTPUTS = {"h3": 3, "h4": 4}
LINE_BPS = 20_000_000
SETTLED_S = 3.0
SAMPLE_INTERVAL_MS = 5


class Speedup(SettlingLab):
    """How much faster."""

    name: ClassVar = "speedup"
    title: ClassVar = "Speedup: a crossbar that is faster than its lines"
    summary: ClassVar = "CIOQ at twice the speed: 100 %, and exactly like output queues"
    question: ClassVar = "How much faster than its lines must a crossbar be, and what for?"
    look_for: ClassVar = (
        "Part A: at twice the speed even the simplest arbiter carries every pattern, and cells "
        "hardly wait at the inputs.",
        "Part B: at twice the speed not a single cell leaves later than from output queues, if the "
        "most critical one crosses first. In the order of their arrival some are late.",
        "Part C: FIFO queues before a fast crossbar no longer block any packet.",
    )
    original: ClassVar = "no single text: Chuang, Goel, McKeown and Prabhakar (1999)"
    settled_s: ClassVar = SETTLED_S
    takes: ClassVar = frozenset({"duration"})
    needs: ClassVar = "an input stage and a fabric, which simple_switch does not have"

    @property
    def slots(self) -> int:
        """How long part A looks."""
        return 10_000 if self.settings.quick else 30_000

    @property
    def mimic_slots(self) -> int:
        """How long part B looks."""
        return 2_000 if self.settings.quick else 20_000

    @property
    def seconds(self) -> int:
        """How long the flows of part C run."""
        return self.settings.seconds or (10 if self.settings.quick else 30)

    @property
    def place(self) -> Place:
        """One of both outputs."""
        return Place(self.topology("one"), "s1", OUTPUTS["h3"])

    def runs(self) -> Sequence[Run]:
        """Parts A and B are computed; part C has a run for each speedup."""
        return [
            Run("simulation", f"Part A: {self.slots} slots each", 2e-4 * self.slots, {}, True),
            Run("mimicry", f"Part B: {self.mimic_slots} slots each", 2e-4 * self.slots, {}, True),
            *(
                Run(name, f"Part C: four TCP flows, speedup {each}", self.seconds + AROUND_S)
                for name, each in RUNS.items()
            ),
        ]

    def topology(self, name: str) -> Topology:
        """The network of part C at a speedup."""
        base = load.load(Path(__file__).with_name("topology.yaml"))
        stage = base.switch("s1").input
        assert stage is not None
        return base.with_input("s1", replace(stage, speedup=RUNS[name]))

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """A simulation, a comparison, or four flows."""
        if run.name == "simulation":
            return self._simulate(bench.seed)
        if run.name == "mimicry":
            return self._compare(bench.seed)
        bench.bring_up(self.topology(run.name))
        watched = [("s1", port) for port in (*OUTPUTS.values(), 1, 2)]
        with bench.recording(
            watched, senders=["h1", "h2"], interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            plans = [
                FlowPlan(f"{source} to {target}", source, target, "reno")
                for source in ("h1", "h2")
                for target in OUTPUTS
            ]
            instruments.flows(plans, seconds=self.seconds)
            instruments.finish()
        instruments.note(f"both outputs carried {_use(instruments.recording):.0%} of their lines")
        return instruments.recording

    def _simulate(self, seed: int) -> Recording:
        asked = [
            (arbiter, pattern, speedup)
            for arbiter in ARBITERS
            for pattern in PATTERNS
            for speedup in SPEEDUPS
        ]
        found = simulator.measure(
            [
                Router(
                    PORTS,
                    "voq",
                    arbiter,
                    loads=(LOAD,),
                    slots=self.slots,
                    pattern=pattern,
                    speedup=speedup,
                    seed=seed,
                )
                for arbiter, pattern, speedup in asked
            ]
        )
        recording = Recording()
        recording.tables["speedups"] = [
            {
                "arbiter": arbiter,
                "pattern": pattern,
                "speedup": float(Fraction(speedup)),
                **asdict(point),
            }
            for (arbiter, pattern, speedup), (point,) in zip(asked, found, strict=True)
        ]
        return recording

    def _compare(self, seed: int) -> Recording:
        recording = Recording()
        asked = [(speedup, False) for speedup in MIMICS] + [(Fraction(2), True)]
        recording.tables["mimicry"] = []
        for speedup, in_order in asked:
            found = mimicry.run(
                MIMIC_PORTS,
                speedup,
                load=MIMIC_LOAD,
                slots=self.mimic_slots,
                seed=seed,
                in_order=in_order,
            )
            recording.tables["mimicry"].append(
                {
                    # Not as 7/4: what is read back would be a word in one row, a number in another.
                    "speedup": float(speedup),
                    "order": "arrival" if in_order else "critical",
                    "cells": found.cells,
                    "late": found.late,
                    "latest_slots": found.latest_slots,
                }
            )
        return recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The throughput at twice the speed; late cells; the throughput of TCP."""
        rows: list[Row] = []
        bands: list[Band] = []
        numbers: dict[str, float] = {}
        table = recordings["simulation"].tables["speedups"]
        for arbiter, words in ARBITERS.items():
            own = [row for row in table if row["arbiter"] == arbiter]
            for speedup in (1, 2):
                at = [row for row in own if row["speedup"] == speedup]
                least = min(float(row["throughput"]) for row in at)
                wait = max(float(row["input_wait_slots"]) for row in at)
                what = f"A: {words}, speedup {speedup}: the worst of four patterns"
                key = f"{arbiter.replace(':', '_')}_speedup_{speedup}"
                numbers[f"{key}_carried_share"] = least
                if speedup == 1:
                    rows.append(Row(what, "", "", f"{least:.1%} carried"))
                    continue
                rows.append(
                    Row(what, "", f"{LOAD:.0%} carried", f"{least:.1%}, {wait:.2f} slots of wait")
                )
                low = 100 * (LOAD - CARRIED_OFF)
                bands += [
                    Band(f"{what}, carried", 100 * least, low, None, "%", ("simulation",)),
                    Band(
                        f"{what}, wait at the input",
                        wait,
                        None,
                        INPUT_WAIT_MOST,
                        "slots",
                        ("simulation",),
                    ),
                ]
                numbers[f"{key}_input_wait_slots"] = wait
        for row in recordings["mimicry"].tables["mimicry"]:
            self._assess_mimicry(row, rows, bands, numbers)
        uses = {name: _use(recordings[name]) for name in RUNS}
        for name, factor in RUNS.items():
            expected = "75% for random cells" if factor == 1 else ""
            what = f"C: FIFO queues, speedup {factor}: of both lines"
            rows.append(Row(what, "", expected, f"{uses[name]:.1%}"))
            numbers[f"fifo_{name.replace('-', '_')}_share"] = uses[name]
        bands += [
            # 3/4 for cells that come at random; TCP leaves gaps of its own.
            Band("C: speedup 1, of both lines", 100 * uses["one"], None, 92, "%", ("one",)),
            Band("C: speedup 2, of both lines", 100 * uses["two"], 96, None, "%", ("two",)),
        ]
        return Assessment(rows, bands, numbers)

    def _assess_mimicry(
        self,
        row: Mapping[str, float | str],
        rows: list[Row],
        bands: list[Band],
        numbers: dict[str, float],
    ) -> None:
        speedup, late, cells = (float(row[key]) for key in ("speedup", "late", "cells"))
        critical = row["order"] == "critical"
        order = "the most critical first" if critical else "in order of arrival"
        what = f"B: speedup {speedup:g}, {order}: late cells"
        exact = critical and speedup >= LEAST
        said = "none" if exact else "some" if speedup == 1 or not critical else ""
        rows.append(Row(what, "", said, f"{late:.0f} of {cells:.0f}"))
        word = f"{row['order']}_{speedup:g}".replace(".", "_")
        numbers[f"mimicry_{word}_late_cells"] = late
        if exact:
            bands.append(Band(what, late, None, 0, "cells", ("mimicry",)))
        elif said:
            bands.append(Band(what, late, 1, None, "cells", ("mimicry",)))

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Parts A and B against the speedup; part C over time."""
        uses = ", ".join(
            f"speedup {each}: {_use(recordings[name]):.0%}" for name, each in RUNS.items()
        )
        return [
            Figure(
                "speedup",
                f"Left: the least that each arbiter carries under four patterns at load {LOAD:g}, "
                "16 ports. Right: the part of the cells that leave later than from output queues, "
                f"{MIMIC_PORTS} ports; the line is 2 - 1/N, from which on none is late.",
                lambda canvas: self._draw_speedup(canvas, recordings),
                height=4.2,
            ),
            Figure(
                "flows",
                "Part C: what both outputs carry together, and what waits at the inputs. Of both "
                f"lines, {uses}.",
                lambda canvas: self._draw_flows(canvas, recordings),
                height=5.4,
            ),
        ]

    def _draw_speedup(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        carried, late = canvas.subplots(1, 2)
        table = recordings["simulation"].tables["speedups"]
        places = [float(Fraction(each)) for each in SPEEDUPS]
        lines = {
            words: [
                min(
                    float(row["throughput"])
                    for row in table
                    if row["arbiter"] == arbiter and row["speedup"] == place
                )
                for place in places
            ]
            for arbiter, words in ARBITERS.items()
        }
        drawing.compare(carried, places, lines)
        carried.set_ylabel("carried (part of the lines)")
        carried.set_ylim(0.6, 1.02)
        mimics = recordings["mimicry"].tables["mimicry"]
        critical = [row for row in mimics if row["order"] == "critical"]
        late.plot(
            [float(row["speedup"]) for row in critical],
            [100 * float(row["late"]) / float(row["cells"]) for row in critical],
            marker="o",
            color=palette.BLUE,
            label="the most critical first",
        )
        (arrival,) = (row for row in mimics if row["order"] == "arrival")
        late.plot(
            [float(arrival["speedup"])],
            [100 * float(arrival["late"]) / float(arrival["cells"])],
            linestyle="",
            marker="D",
            color=palette.RED,
            label="in order of arrival",
        )
        late.axvline(float(LEAST), color=palette.GREY, linestyle="--", linewidth=1)
        late.set_ylabel("late cells (%)")
        late.set_ylim(bottom=-2)
        for axes in (carried, late):
            axes.set_xlabel("speedup")
            drawing.grid(axes)
            drawing.legend(axes, columns=2)

    def _draw_flows(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        grid = canvas.subplots(2, len(RUNS), sharex=True, sharey="row")
        for column, (name, speedup) in enumerate(RUNS.items()):
            recording = recordings[name]
            rates, waiting = grid[0][column], grid[1][column]
            both = [
                drawing.port_rate(recording.ports[f"s1-eth{port}"], 0.5)
                for port in OUTPUTS.values()
            ]
            sums = [sum(pair) / 1e6 for pair in zip(both[0][1], both[1][1], strict=False)]
            rates.plot(both[0][0][: len(sums)], sums, color=palette.BLUE, label="both outputs")
            drawing.level(rates, 2 * LINE_BPS / 1e6, "both lines")
            rates.set_ylim(0, 2.2 * LINE_BPS / 1e6)
            rates.set_ylabel("rate (Mb/s)")
            rates.set_title(f"speedup {speedup}", fontsize=10.5, loc="left", pad=20)
            for port, own in ((1, palette.ORANGE), (2, palette.GREEN)):
                series = recording.ports[f"s1-eth{port}"]
                packets = series.input.packets
                waiting.plot(
                    *drawing.thinned(series.time_s[-len(packets) :], packets),
                    color=own,
                    linewidth=0.8,
                    label=f"input {port}",
                )
            waiting.set_ylabel("waits at the input\n(packets)")
            waiting.set_xlabel("time (s)")
            for axes in (rates, waiting):
                drawing.grid(axes)
                drawing.legend(axes)
                axes.label_outer()


def _use(recording: Recording) -> float:
    """The part of both lines that is used once the flows have settled."""
    flows = [flow.samples for flow in recording.flows.values()]
    start_s = max(samples[0].time_s for samples in flows) + SETTLED_S
    end_s = min(samples[-1].time_s for samples in flows)
    carried = [
        recording.ports[f"s1-eth{port}"].rate_bps(start_s, end_s) for port in OUTPUTS.values()
    ]
    return sum(carried) / (len(carried) * LINE_BPS)
