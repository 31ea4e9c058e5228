"""Head-of-line blocking, twice: in virtual time against the literature, and live with TCP.

Part A lets `vitrine-sim` count how much FIFO input queues can carry, and what virtual output queues
change. Part B sends three TCP flows through one input port of a real router: two toward a congested
output, one, the victim, toward an output that it has for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from controller.queueing import Arbiter, InputQueueing, InputStage, Limit
from labs import simulator
from labs.bench import Bench, FlowPlan
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.frames import payload_share
from labs.hol_blocking import theory
from labs.hol_blocking.theory import FIFO_SATURATION, FIFO_SATURATION_LIMIT
from labs.recording import Recording
from labs.run import AROUND_S, Run
from labs.simulator import Point, Router
from topo import load, units
from topo.model import Topology

if TYPE_CHECKING:
    import matplotlib.figure

# Part A: the routers whose delay is drawn, as (name, queueing, arbiter).
CURVES = (
    ("FIFO input queues", "fifo", "random"),
    ("VOQ, iSLIP", "voq", "islip:4"),
    ("output queues", "none", "islip:1"),
)
CURVE_PORTS = 16
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95)

# Part B.
INPUT, CONGESTED, IDLE = 1, 2, 3
QUEUE_PACKETS = 20
INPUT_LIMIT_PACKETS = 100
SETTLED_S = 3.0
# A frame takes 1.2 ms on the congested line.
SAMPLE_INTERVAL_MS = 2
# How s2 queues at its inputs, by run.
STAGES = {"fifo": InputQueueing.FIFO, "voq": InputQueueing.VOQ}


class HolBlocking(SettlingLab):
    """A FIFO whose head blocks the packets behind it, and virtual output queues."""

    name: ClassVar = "hol-blocking"
    title: ClassVar = "Head-of-line blocking"
    summary: ClassVar = "FIFO input queues against VOQs: 58.6 % in theory, and a victim with TCP"
    question: ClassVar = "Why does a flow to an idle output wait for a flow to a busy one?"
    look_for: ClassVar = (
        "Part A: the wait of FIFO input queues grows without bound at 58.6 % of the load; virtual "
        "output queues go on to the full load.",
        "Part B, one FIFO: the victim's own output queue is empty, and still it gets a part of its "
        "line only. Its packets stand behind others' in the input queue.",
        "Part B, virtual output queues: the victim has all of its line, and the congested output "
        "carries as much as before.",
    )
    original: ClassVar = (
        "section 1.2 of lab 11 of the course Network Tools and Protocols, which describes the "
        "effect in words"
    )
    settled_s: ClassVar = SETTLED_S
    takes: ClassVar = frozenset({"duration"})
    needs: ClassVar = "an input stage and a fabric, which simple_switch does not have"

    @property
    def slots(self) -> int:
        """How long the simulator looks."""
        return 40_000 if self.settings.quick else 400_000

    @property
    def place(self) -> Place:
        """The congested output, and the input that all flows share."""
        return Place(self.topology(self.runs()[1]), "s2", CONGESTED, INPUT)

    @property
    def seconds(self) -> int:
        """How long the flows run."""
        return self.settings.seconds or (9 if self.settings.quick else 30)

    def runs(self) -> Sequence[Run]:
        """Part A in one, part B once for each kind of queue."""
        slots = {"slots": self.slots}
        simulated_s = 60 * self.slots / 400_000
        return [
            Run(
                "simulation",
                f"Part A: {self.slots} slots in virtual time",
                simulated_s,
                slots,
                is_computed=True,
            ),
            *(
                Run(
                    name,
                    f"Part B: three TCP flows, {name.upper()} at the input",
                    self.seconds + AROUND_S,
                )
                for name in STAGES
            ),
        ]

    def topology(self, run: Run) -> Topology:
        """The network of part B."""
        base = load.load(Path(__file__).with_name("topology.yaml"))
        limit = Limit(packets=INPUT_LIMIT_PACKETS)
        stage = InputStage(
            STAGES[run.name],
            limit=limit if run.name == "fifo" else None,
            voq_limit=limit if run.name == "voq" else None,
            rate_bps=base.switch("s2").port(INPUT).rate_bps or 0,
            arbiter=Arbiter.ISLIP,
        )
        return base.with_input("s2", stage)

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """A simulation, or three flows."""
        if run.name == "simulation":
            return self._simulate(bench.seed)
        bench.bring_up(self.topology(run))
        watched = [("s2", CONGESTED), ("s2", IDLE), ("s2", INPUT)]
        with bench.recording(
            watched, senders=["h1", "h2", "h3"], interval_ms=SAMPLE_INTERVAL_MS
        ) as instruments:
            ends = (("h1", "h4"), ("h2", "h4"), ("h3", "h5"))
            plans = [FlowPlan(source, source, target, "reno") for source, target in ends]
            instruments.flows(plans, seconds=self.seconds)
            instruments.finish()
        victim = _Victim(instruments.recording)
        instruments.note(f"the victim got {victim.share:.0%} of its line")
        return instruments.recording

    def _simulate(self, seed: int) -> Recording:
        saturated = [
            Router(ports, "fifo", "random", loads=(1.0,), slots=self.slots, seed=seed)
            for ports in FIFO_SATURATION
        ]
        # Past its saturation a queue only grows: its wait is the length of the run.
        drawn = [
            Router(
                CURVE_PORTS,
                queueing,
                arbiter,
                loads=tuple(each for each in LOADS if queueing != "fifo" or each < 0.6),
                slots=self.slots,
                seed=seed,
            )
            for _, queueing, arbiter in CURVES
        ]
        found = simulator.measure([*saturated, *drawn])
        recording = Recording()
        recording.tables["saturation"] = [
            {"ports": ports, "throughput": point.throughput}
            for ports, (point,) in zip(FIFO_SATURATION, found[: len(saturated)], strict=True)
        ]
        recording.tables["curves"] = [
            {"router": name, **asdict(point)}
            for (name, _, _), points in zip(CURVES, found[len(saturated) :], strict=True)
            for point in points
        ]
        return recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Saturation against theory; the victim's share of its line."""
        saturation = _saturation(recordings["simulation"])
        rows, bands, numbers = [], [], {}
        for ports, exact in FIFO_SATURATION.items():
            found = saturation[ports]
            rows.append(
                Row(
                    f"A: FIFO inputs carry at most, N = {ports}", "", f"{exact:.4f}", f"{found:.4f}"
                )
            )
            bands.append(
                Band(
                    f"A: N = {ports}, away from theory",
                    abs(found - exact),
                    most=0.005,
                    runs=("simulation",),
                )
            )
            numbers[f"fifo_{ports}_saturation_share"] = found
        (voq,) = (
            point
            for point in _curves(recordings["simulation"])["VOQ, iSLIP"]
            if point.load == LOADS[-1]
        )
        rows.append(
            Row(
                f"A: VOQ and iSLIP carry, N = {CURVE_PORTS}, load {voq.load:g}",
                "",
                f"{voq.load:g}",
                f"{voq.throughput:.4f}",
            )
        )
        bands.append(
            Band(
                "A: VOQ carries what is offered",
                abs(voq.throughput - voq.load),
                most=0.005,
                runs=("simulation",),
            )
        )
        for name, least, most in (("fifo", None, 0.6), ("voq", 0.9, None)):
            victim = _Victim(recordings[name])
            text = f"{units.format_rate(victim.rate_bps)}, {victim.share:.0%} of its line"
            rows.append(Row(f"B: the victim, {name.upper()}", _SAID[name], "", text))
            rows.append(
                Row(
                    f"B: the congested output, {name.upper()}",
                    "",
                    "100% of its line",
                    f"{victim.congested_share:.0%} of its line",
                )
            )
            bands.append(
                Band(
                    f"B: the victim's part of its line, {name.upper()}",
                    victim.share,
                    least,
                    most,
                    runs=(name,),
                )
            )
            numbers[f"{name}_victim_bps"] = victim.rate_bps
            numbers[f"{name}_victim_share"] = victim.share
            numbers[f"{name}_congested_share"] = victim.congested_share
        return Assessment(rows, bands, numbers)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Theory and simulation; then the queues of both live runs."""
        most = ", ".join(
            f"{share:.1%} with {ports} ports"
            for ports, share in _saturation(recordings["simulation"]).items()
        )
        return [
            Figure(
                "theory",
                "Part A. Left: mean wait against load in a router of 16 ports; points are "
                "simulated, lines are the literature's formulas. Right: what FIFO input queues "
                f"carry at most: {most}.",
                lambda canvas: self._draw_theory(canvas, recordings["simulation"]),
                height=4.6,
            ),
            *(self._live_figure(name, recordings) for name in STAGES),
        ]

    def _draw_theory(self, canvas: matplotlib.figure.Figure, recording: Recording) -> None:
        # Imported here: `vitrine up` draws nothing and starts sooner without it.
        from labs import palette
        from labs.report import drawing

        wait, most = canvas.subplots(1, 2, width_ratios=(1.6, 1))
        curves = _curves(recording)
        for (name, points), mark in zip(curves.items(), "vos", strict=True):
            wait.plot(
                [point.load for point in points],
                [point.wait_slots for point in points],
                linestyle="",
                marker=mark,
                markersize=5,
                label=name,
                color=palette.FLOWS[list(curves).index(name)],
            )
        fine = [each / 200 for each in range(10, 192)]
        below = [each for each in fine if each < FIFO_SATURATION_LIMIT - 0.003]
        wait.plot(
            below,
            [theory.fifo_wait(each) for each in below],
            color=palette.FLOWS[0],
            linewidth=1,
            label="FIFO, theory for N = ∞",
        )
        wait.plot(
            fine,
            [simulator.output_queueing_wait(CURVE_PORTS, each) for each in fine],
            color=palette.FLOWS[2],
            linewidth=1,
            label="output queues, theory",
        )
        wait.axvline(
            FIFO_SATURATION_LIMIT,
            color=palette.GREY,
            linewidth=0.8,
            linestyle="--",
            label="2 - √2 = 58.6 %",
        )
        wait.set_yscale("log")
        wait.set_xlabel("load (cells per slot and input)")
        wait.set_ylabel("mean wait (slots)")
        drawing.legend(wait, columns=2)
        wait.grid(visible=True, color="#e6e6e6", linewidth=0.6)
        found = _saturation(recording)
        # They agree to the third digit, so the rings stand around the line's points.
        most.plot(
            list(FIFO_SATURATION),
            list(FIFO_SATURATION.values()),
            marker=".",
            linewidth=1.1,
            color=palette.ORANGE,
            label="exact",
        )
        most.plot(
            list(found),
            list(found.values()),
            linestyle="",
            marker="o",
            markersize=9,
            fillstyle="none",
            color=palette.BLUE,
            label="simulated",
        )
        drawing.grid(most)
        drawing.level(most, FIFO_SATURATION_LIMIT, "N = ∞")
        drawing.legend(most)
        most.set_xscale("log", base=2)
        most.set_xticks(list(found), [str(ports) for ports in found])
        most.set_ylim(0.5, 0.8)
        most.set_xlabel("ports N")
        most.set_ylabel("saturation throughput (part of the lines)")

    def _live_figure(self, name: str, recordings: Mapping[str, Recording]) -> Figure:
        recording = recordings[name]

        def draw(canvas: matplotlib.figure.Figure) -> None:
            # Imported here: see above.
            from labs.report import drawing

            entry = recording.ports[f"s2-eth{INPUT}"]
            heights = [1.4, 1, 1, 1.2, 1.2]
            # A switch that does not sample its input stage leaves the first picture out.
            rows = drawing.stack(
                canvas,
                heights if entry.input.packets else heights[1:],
                title=f"{name.upper()} at the input of s2",
            )
            if entry.input.packets:
                drawing.input_queues(
                    rows[0],
                    entry,
                    {CONGESTED: "toward the congested output", IDLE: "toward the victim's output"},
                    limit_packets=INPUT_LIMIT_PACKETS,
                )
            busy, idle, rates, window = rows[-4:]
            drawing.queue_depth(busy, recording.ports["s2-eth2"], limit_packets=QUEUE_PACKETS)
            busy.set_ylabel("congested output\n(packets)")
            drawing.queue_depth(idle, recording.ports["s2-eth3"], limit_packets=QUEUE_PACKETS)
            idle.set_ylabel("victim's output\n(packets)")
            names = {"h3": "h3, the victim", "h1": "h1", "h2": "h2"}
            rates.set_title("what each flow got; the line is the victim's", fontsize=9, loc="left")
            drawing.throughput(
                rates,
                {label: recording.flows[host].rates(0.5) for host, label in names.items()},
                line_rate_bps=_Victim.LINE_BPS,
            )
            drawing.congestion_window(
                window,
                {label: recording.flows[host].samples for host, label in names.items()},
                thresholds=False,
            )
            # The figures of both runs are compared, so their windows have one scale.
            window.set_ylim(0, 1.05 * _largest_window([recordings[each] for each in STAGES]))

        words = {
            "fifo": "One FIFO: the victim's packets wait behind packets for the congested output.",
            "voq": "Virtual output queues: no packet waits for another packet's output.",
        }
        victim = _Victim(recording)
        caption = (
            f"Part B. {words[name]} The victim got {victim.share:.0%} of its line, the congested "
            f"output carried {victim.congested_share:.0%} of its own."
        )
        return Figure(name, caption, draw, height=9.5)


def _saturation(recording: Recording) -> dict[int, float]:
    """The highest throughput of FIFO input queues, by the number of ports."""
    rows = recording.tables["saturation"]
    return {int(row["ports"]): float(row["throughput"]) for row in rows}


def _curves(recording: Recording) -> dict[str, list[Point]]:
    """The points of each kind of router."""
    curves: dict[str, list[Point]] = {name: [] for name, _, _ in CURVES}
    for row in recording.tables["curves"]:
        values = (float(row[name]) for name in ("load", "throughput", "wait_slots"))
        curves[str(row["router"])].append(Point(*values))
    return curves


def _largest_window(recordings: Sequence[Recording]) -> int:
    """The largest congestion window of any flow, in segments."""
    flows = [flow for recording in recordings for flow in recording.flows.values()]
    return max(sample.cwnd_packets for flow in flows for sample in flow.samples)


# The original's claims about both, without numbers.
_SAID = {"fifo": "must wait", "voq": "no blocking"}


class _Victim:
    """The rate of the flow to the idle output."""

    LINE_BPS = 50_000_000
    CONGESTED_BPS = 10_000_000

    def __init__(self, recording: Recording) -> None:
        flow = recording.flows["h3"]
        others = [recording.flows[host].samples for host in ("h1", "h2")]
        start_s = max(samples[0].time_s for samples in (flow.samples, *others)) + SETTLED_S
        end_s = min(samples[-1].time_s for samples in (flow.samples, *others))
        # With headers, as the line counts.
        self.rate_bps = flow.throughput_bps(start_s, end_s) / payload_share()
        self.share = self.rate_bps / self.LINE_BPS
        congested_bps = recording.ports[f"s2-eth{CONGESTED}"].rate_bps(start_s, end_s)
        self.congested_share = congested_bps / self.CONGESTED_BPS
