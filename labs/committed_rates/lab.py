"""Committed rates: two customers, the colours of their packets, and what a colour is worth.

Part A sends through one contract at several rates, and in bursts: which colours come out of a
meter? Part B lets Alice keep to her committed rate and Bob send three times his. Behind the router
that meters them stands another one, whose line is too slow for both, and which looks at colours in
three ways: not at all, through a meter that is blind for them, and through one that is aware of
them. The routers' program is written for the Portable Switch Architecture, whose meters take a
colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from random import Random
from typing import ClassVar

import matplotlib.figure

from controller.entities import Item, Meter
from controller.entries import Call, Entry, Exact, Ternary
from controller.session import Session
from labs import palette
from labs.bench import LEAD_S, Bench, Instruments
from labs.committed_rates import theory
from labs.committed_rates.theory import ALICE_BPS, BOB_BPS, COMMITTED_BPS, PEAK_BPS, Colours
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.frames import FRAME_BYTES
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load
from topo.model import Topology

LINE = ("s2", 2)
PORT = "s2-eth2"
# The colours by their numbers in metering.p4, and what they are called on the wire (RFC 2597).
GREEN, YELLOW, RED = 1, 2, 3
COLOURS = {GREEN: "green", YELLOW: "yellow", RED: "red"}
DSCP = {GREEN: 10, YELLOW: 12, RED: 14}
# The customers by the numbers that the tables give them; at s1 these are their contracts', too.
CUSTOMERS = {1: "alice", 2: "bob"}
ADDRESSES = {1: IPv4Address("10.0.1.1"), 2: IPv4Address("10.0.2.1")}
# The provider's contract at s2, for both together.
BOTH = 0
# The burst allowed at once: for each customer, and at s2 for both, with some room for packets that
# bunch on the way.
BURST_FRAMES, BOTH_BURST_FRAMES = 15, 60
PEAK_BURST_FRAMES = 30
# A datagram that becomes a full frame.
PAYLOAD_BYTES = FRAME_BYTES - 42
# Part A: the rates in turn, and bursts after which the meter has time to fill again.
RATES_BPS = (1_000_000, 4_000_000, 12_000_000)
BURSTS = "bursts"
BURST, BURST_EVERY_S = 30, 0.5
# Between two phases the meter fills, and nothing is under way while counters are read.
PAUSE_S = 0.5
# Part B is measured from here on: the queues are full.
SETTLED_S = 2.0


@dataclass(frozen=True)
class Part:
    """How s2 treats the colours that s1 has given."""

    name: str
    title: str
    look: str
    # The action of its table of contracts.
    action: str
    # Whether it gives green packets a class of their own.
    sorts: bool


PARTS = (
    Part("plain", "one class for all colours", "no meter", "meter_aware", sorts=False),
    Part("blind", "a meter that is blind for colours", "blind", "meter_blind", sorts=True),
    Part("aware", "a meter that is aware of colours", "aware", "meter_aware", sorts=True),
)
EDGE = "edge"
# Where axes of parts end: a mark at 1 stands clear of the frame.
AXIS_END = 1.02


class CommittedRates(Lab):
    """The treatment of a colour."""

    name: ClassVar = "committed-rates"
    title: ClassVar = "Committed rates: what a colour is worth"
    summary: ClassVar = "meters, colours and classes of service on PSA: who pays for Bob's excess?"
    question: ClassVar = (
        "A customer pays for a committed rate: how does it survive routers that do not know him?"
    )
    look_for: ClassVar = (
        "Part A: a meter passes the committed rate as green whatever is sent, and of a burst as "
        "much as its bucket holds.",
        "Part B: a second meter that is blind for colours is of no use to Alice: she loses as much "
        "as with no meter at all.",
        "With one that is aware of them all her packets arrive, and Bob pays for his excess alone.",
    )
    original: ClassVar = "no single text: RFC 2697 and 2698 (meters), RFC 2597 (assured forwarding)"
    takes: ClassVar = frozenset({"duration"})
    needs: ClassVar = "a switch for programs of the Portable Switch Architecture"

    @property
    def seconds(self) -> int:
        """How long each phase of part A and each run of part B is measured."""
        return self.settings.seconds or (6 if self.settings.quick else 20)

    @property
    def least_seconds(self) -> int:
        """Chance has to even out."""
        return 4

    @property
    def least_seconds_for(self) -> str:
        """Packets come at random."""
        return "for enough packets of each colour"

    @property
    def place(self) -> Place:
        """The provider's line."""
        return Place(self.topology(), *LINE)

    @property
    def line_bps(self) -> int:
        """Its rate."""
        rate_bps = self.topology().switch(LINE[0]).port(LINE[1]).rate_bps
        assert rate_bps is not None
        return rate_bps

    @property
    def phases(self) -> Sequence[str]:
        """Part A's, by name."""
        return [*(f"{rate_bps // 1000}k" for rate_bps in RATES_BPS), BURSTS]

    def topology(self) -> Topology:
        """The network, the same for all runs."""
        return load.load(Path(__file__).with_name("topology.yaml"))

    def runs(self) -> Sequence[Run]:
        """Part A in one, part B once for each way to look at colours."""
        edge_s = len(self.phases) * (self.seconds + PAUSE_S)
        title = f"Part A: one contract, {len(self.phases)} kinds of traffic"
        return [
            Run(EDGE, title, LEAD_S + edge_s + AROUND_S),
            *(
                Run(
                    part.name,
                    f"Part B: {part.title}",
                    LEAD_S + SETTLED_S + self.seconds + AROUND_S,
                )
                for part in PARTS
            ),
        ]

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Fills tables and meters of both routers, and lets the customers send."""
        bench.bring_up(self.topology())
        self.meter_customers(bench.session("s1"))
        (part,) = [each for each in PARTS if each.name == run.name] or [PARTS[0]]
        self.meter_both(bench.session("s2"), part)
        with bench.recording([LINE], senders=[]) as instruments:
            if run.name == EDGE:
                self._conduct_edge(instruments, bench)
            else:
                self._conduct_line(instruments, bench)
            instruments.finish()
        return instruments.recording

    def meter_customers(self, edge: Session) -> None:
        """Fills the tables and meters of s1, which knows Alice and Bob."""
        edge.insert(self.contracts("meter_blind", {1: 1, 2: 2}))
        edge.insert(treatments(sorts=False))
        edge.modify(_meter(customer) for customer in CUSTOMERS)

    def meter_both(self, provider: Session, part: Part) -> None:
        """The same for s2, which has one contract for both."""
        provider.insert(self.contracts(part.action, {1: BOTH, 2: BOTH}))
        provider.insert(treatments(sorts=part.sorts))
        # A meter without rates leaves the colours as they are.
        if part.sorts:
            provider.modify([self.meter_of_both()])

    def contracts(self, action: str, contract_of: Mapping[int, int]) -> list[Item]:
        """The metered customers and their contracts."""
        return [
            Entry(
                "contracts",
                {"hdr.ipv4.src_addr": Ternary(address, 0xFFFFFFFF)},
                Call(action, contract=contract_of[customer], customer=customer),
                priority=1,
            )
            for customer, address in ADDRESSES.items()
        ]

    def meter_of_both(self) -> Meter:
        """The provider's contract: the sum of the committed rates."""
        return Meter(
            "contract_meters",
            BOTH,
            committed_rate=2 * COMMITTED_BPS // 8,
            committed_burst=BOTH_BURST_FRAMES * FRAME_BYTES,
            peak_rate=3 * PEAK_BPS // 8,
            peak_burst=2 * BOTH_BURST_FRAMES * FRAME_BYTES,
        )

    def _conduct_edge(self, instruments: Instruments, bench: Bench) -> None:
        """Alice sends in phases; s1's counters are read between two."""
        start_s = instruments.now_s() + LEAD_S
        numbers = instruments.recording.numbers
        each_s = self.seconds + PAUSE_S
        for index, phase in enumerate(self.phases):
            offsets, burst = self.sending(phase)
            begins_s = start_s + index * each_s
            instruments.send_bursts(
                phase,
                "h1",
                "h3",
                size_bytes=PAYLOAD_BYTES,
                burst=burst,
                offsets_s=offsets,
                start_s=begins_s,
            )
        instruments.hold(start_s - 0.1 - instruments.now_s())
        before = counted(bench, "s1", "metered")
        for index, phase in enumerate(self.phases):
            instruments.hold(start_s + (index + 1) * each_s - 0.1 - instruments.now_s())
            now = counted(bench, "s1", "metered")
            for number, colour in COLOURS.items():
                key = (1, number)
                numbers[f"{phase}_{colour}_bytes"] = now[key] - before[key]
            before = now

    def sending(self, phase: str) -> tuple[list[float], int]:
        """When a phase's bursts are sent, and how many frames each has."""
        if phase == BURSTS:
            count = int(self.seconds / BURST_EVERY_S)
            return [index * BURST_EVERY_S for index in range(count)], BURST
        gap_s = FRAME_BYTES * 8 / (1000 * int(phase.removesuffix("k")))
        return [index * gap_s for index in range(int(self.seconds / gap_s))], 1

    def _conduct_line(self, instruments: Instruments, bench: Bench) -> None:
        """Both send at random; s2's counters are read at two instants while they do."""
        start_s = instruments.now_s() + LEAD_S
        dice = Random(bench.seed)
        for host, rate_bps in (("h1", ALICE_BPS), ("h2", BOB_BPS)):
            instruments.send_bursts(
                host,
                host,
                "h3",
                size_bytes=PAYLOAD_BYTES,
                burst=1,
                offsets_s=at_random(dice, rate_bps, SETTLED_S + self.seconds + 1),
                start_s=start_s,
            )
        instruments.recording.numbers["start_s"] = start_s
        instruments.hold(start_s + SETTLED_S - instruments.now_s())
        before = {name: counted(bench, "s2", name) for name in ("metered", "left")}
        instruments.hold(self.seconds)
        for name, earlier in before.items():
            now = counted(bench, "s2", name)
            for (customer, number), count in now.items():
                key = f"{CUSTOMERS[customer]}_{COLOURS[number]}_{name}_bytes"
                instruments.recording.numbers[key] = count - earlier[customer, number]
        found = Shares(instruments.recording)
        arrived = " and ".join(
            f"{found.arrived[name]:.0%} of {name.title()}'s" for name in CUSTOMERS.values()
        )
        instruments.note(f"{arrived} bytes came through the line")

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The colours of part A; then what arrived of each customer."""
        rows, bands, numbers = self._edge(recordings[EDGE])
        for part in PARTS:
            found = Shares(recordings[part.name])
            for name in CUSTOMERS.values():
                said = theory.arrived(self.line_bps, part.name)[name]
                what = f"B: {name.title()}'s bytes that arrive, {part.look}"
                rows.append(Row(what, "", f"{said:.1%}", f"{found.arrived[name]:.1%}"))
                bands.append(self._arrived_band(part, name, said, found))
                numbers[f"{part.name}_{name}_arrived_share"] = found.arrived[name]
            if part.sorts:
                said = 1.0 if part.name == "aware" else theory.blind_green()
                what = f"B: Alice's packets that stay green, {part.look}"
                rows.append(Row(what, "", f"{said:.1%}", f"{found.alice_green:.1%}"))
                # By chance: of a thousand packets a few per cent more or less.
                off = 0.01 if part.name == "aware" else self._chance
                bands.append(_near(what, found.alice_green, said, off, part.name))
                numbers[f"{part.name}_alice_green_share"] = found.alice_green
        return Assessment(rows, bands, numbers)

    @property
    def _chance(self) -> float:
        """How far a part of Alice's packets may be off: four standard deviations."""
        packets = ALICE_BPS * self.seconds / 8 / FRAME_BYTES
        return 4 * 0.5 / math.sqrt(packets)

    def _arrived_band(self, part: Part, name: str, said: float, found: Shares) -> Band:
        off = self._chance if name == "alice" and part.name != "aware" else self._chance / 2
        what = f"B: {name.title()}'s bytes that arrive, {part.look}"
        # More may leave in a span than enters in it: what waited when it began.
        return _near(what, found.arrived[name], said, off, part.name, most=math.inf)

    def _edge(self, recording: Recording) -> tuple[list[Row], list[Band], dict[str, float]]:
        rows, bands = [], []
        for phase in self.phases:
            found, said = edge_colours(recording, phase), self.colours_of(phase)
            what = (
                f"A: bursts of {BURST} frames"
                if phase == BURSTS
                else f"A: {int(phase.removesuffix('k')) / 1000:g} Mb/s"
            )
            rows.append(Row(f"{what}, green / yellow / red", "", str(said), str(found)))
            for colour, share, expected in zip(COLOURS.values(), found, said, strict=True):
                off = self._full_bucket(phase)
                bands.append(_near(f"{what}, {colour}", share, expected, off, EDGE))
        return rows, bands, dict(recording.numbers)

    def colours_of(self, phase: str) -> Colours:
        """The theory of a phase."""
        if phase == BURSTS:
            return theory.colours_of_burst(BURST, BURST_FRAMES, PEAK_BURST_FRAMES)
        return theory.colours_of_rate(1000 * int(phase.removesuffix("k")))

    def _full_bucket(self, phase: str) -> float:
        """By what part of its bytes full buckets at the beginning may change a phase."""
        if phase == BURSTS:
            return 1.5 / BURST
        sent_bytes = 1000 * int(phase.removesuffix("k")) / 8 * self.seconds
        return 1.5 * PEAK_BURST_FRAMES * FRAME_BYTES / sent_bytes

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The colours of part A; then each customer's arrivals in part B."""
        return [
            Figure(
                "colours",
                "Part A: the colours of one contract of 2 Mb/s committed and 8 Mb/s peak. Marks "
                "are theory's edges between the colours.",
                lambda canvas: self._draw_colours(canvas, recordings[EDGE]),
                height=3.2,
            ),
            Figure(
                "arrived",
                "Part B: what arrived of all that each customer sent, by its colour at s2. "
                f"{_came_through(recordings)} The marks are what theory says.",
                lambda canvas: self._draw_arrived(canvas, recordings),
                height=4.0,
            ),
        ]

    def _draw_arrived(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        sides = canvas.subplots(1, len(CUSTOMERS), sharex=True, sharey=True)
        for axes, (customer, name) in zip(sides, CUSTOMERS.items(), strict=True):
            for place, part in enumerate(PARTS):
                numbers = recordings[part.name].numbers
                sent_bytes = total_bytes(numbers, name, "metered") or math.nan
                parts = {
                    colour: numbers[f"{name}_{colour}_left_bytes"] / sent_bytes
                    for colour in COLOURS.values()
                }
                axes.barh(
                    place,
                    1.0,
                    height=0.7,
                    color=drawing.PALE,
                    label="sent" if place == 0 else "_sent",
                )
                begin = 0.0
                for colour, arrived in parts.items():
                    label = f"arrived, {colour} at s2" if place == 0 and colour != "red" else "_"
                    axes.barh(
                        place, arrived, left=begin, height=0.45, color=PAINT[colour], label=label
                    )
                    begin += arrived
                said = theory.arrived(self.line_bps, part.name)[name]
                axes.plot(
                    [said, said],
                    [place - 0.4, place + 0.4],
                    color=drawing.INK,
                    linewidth=1.6,
                    label="theory" if place == 0 else "_theory",
                )
            axes.set_title(f"h{customer}, {name.title()}", fontsize=10.5, loc="left")
            axes.set_xlim(0, AXIS_END)
            axes.set_yticks(range(len(PARTS)), [part.look for part in PARTS])
            axes.set_xlabel("share of the sent packets")
            axes.label_outer()
            drawing.grid(axes)
        sides[0].invert_yaxis()
        drawing.legend(sides[0], columns=2)

    def _draw_colours(self, canvas: matplotlib.figure.Figure, recording: Recording) -> None:
        axes = canvas.subplots()
        for place, phase in enumerate(self.phases):
            begin = 0.0
            for colour, share in zip(COLOURS.values(), edge_colours(recording, phase), strict=True):
                label = colour if place == 0 else "_"
                axes.barh(place, share, left=begin, height=0.6, color=PAINT[colour], label=label)
                begin += share
            said = self.colours_of(phase)
            for edge in (said.green, said.green + said.yellow):
                axes.plot(
                    [edge, edge], [place - 0.4, place + 0.4], color=drawing.INK, linewidth=1.6
                )
        words = [f"{int(phase.removesuffix('k')) / 1000:g} Mb/s" for phase in self.phases[:-1]]
        axes.set_yticks(range(len(self.phases)), [*words, f"bursts of {BURST}"])
        axes.invert_yaxis()
        axes.set_xlim(0, AXIS_END)
        axes.set_xlabel("part of the bytes")
        drawing.grid(axes)
        drawing.legend(axes)


def _near(
    claim: str, found: float, said: float, off: float, run: str, *, most: float = 1.0
) -> Band:
    """A part that is what theory says, give or take what chance may do."""
    least, most = max(0.0, said - off), min(most, said + off)
    return Band(claim, 100 * found, 100 * least, 100 * most, "%", runs=(run,))


def _came_through(recordings: Mapping[str, Recording]) -> str:
    """The point of part B, in a sentence."""
    found = {part.look: Shares(recordings[part.name]).arrived for part in PARTS}
    of = [
        f"of {name.title()}'s {bps / 1e6:g} Mb/s: "
        + ", ".join(f"{100 * arrived[name]:.0f} % ({look})" for look, arrived in found.items())
        for name, bps in theory.SENT_BPS.items()
    ]
    return f"What came through {'; '.join(of)}."


PAINT = {"green": palette.GREEN, "yellow": palette.OLIVE, "red": palette.RED}


def treatments(*, sorts: bool) -> list[Item]:
    """The treatment of colours: a DSCP, and a class if they are sorted; red packets are dropped."""
    return [
        Entry(
            "treatments",
            {"meta.tag.colour": Exact(colour)},
            Call("discard")
            if colour == RED
            else Call("treat", dscp=DSCP[colour], class_num=int(sorts and colour == GREEN)),
        )
        for colour in COLOURS
    ]


def _meter(customer: int) -> Meter:
    """A customer's contract at s1."""
    return Meter(
        "contract_meters",
        customer,
        committed_rate=COMMITTED_BPS // 8,
        committed_burst=BURST_FRAMES * FRAME_BYTES,
        peak_rate=PEAK_BPS // 8,
        peak_burst=PEAK_BURST_FRAMES * FRAME_BYTES,
    )


def at_random(dice: Random, rate_bps: float, seconds: float) -> list[float]:
    """Instants of full frames that come at random, at a mean rate."""
    at_s = 0.0
    instants: list[float] = []
    while True:
        at_s += dice.expovariate(rate_bps / 8 / FRAME_BYTES)
        if at_s >= seconds:
            return instants
        instants.append(at_s)


def counted(bench: Bench, switch: str, counter: str) -> dict[tuple[int, int], int]:
    """Bytes of each customer and colour that a router has counted."""
    session = bench.session(switch)
    # The cell is the customer's number and two bits of colour.
    return {
        (customer, colour): session.counter(counter, 4 * customer + colour)[1]
        for customer in CUSTOMERS
        for colour in COLOURS
    }


def edge_colours(recording: Recording, phase: str) -> Colours:
    """The parts of a phase's bytes, by colour."""
    counts = [recording.numbers[f"{phase}_{colour}_bytes"] for colour in COLOURS.values()]
    return Colours(*(count / sum(counts) if sum(counts) else math.nan for count in counts))


def total_bytes(numbers: Mapping[str, float], name: str, which: str) -> float:
    """A customer's packets that s2 counted, of all colours: `metered`, or `left` for the line."""
    return sum(numbers[f"{name}_{colour}_{which}_bytes"] for colour in COLOURS.values())


class Shares:
    """The share of the arrivals at the provider's router that went through its line."""

    def __init__(self, recording: Recording) -> None:
        numbers = recording.numbers
        self.arrived = {
            name: total_bytes(numbers, name, "left")
            / (total_bytes(numbers, name, "metered") or math.nan)
            for name in CUSTOMERS.values()
        }
        green = numbers["alice_green_metered_bytes"]
        everything = total_bytes(numbers, "alice", "metered")
        self.alice_green = green / everything if everything else math.nan
