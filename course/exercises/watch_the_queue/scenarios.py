"""The submission on the scoreboard's router (labs/score), under workloads that follow from dice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from controller.p4info import P4Info, PacketHeader
from controller.toolchain import ROOT
from course.exercise import Work
from course.story import Refused, Story
from course.tools.tracer import compile_program
from course.tools.virtual import in_time
from labs.errors import MeasurementError
from labs.glass.tape import Tape
from labs.score.run import Bench, Run
from labs.score.system import Device, Report, System
from labs.score.systems.polling import EverySecond
from labs.score.systems.postcards import Postcards
from labs.score.truth import Packet
from labs.score.workloads import LINE_BPS, SENDERS, WORKLOADS, Apps, Workload, steady, volley

FILE = "watch.p4"
_BASE = ROOT / "labs" / "score" / "systems"
_KIT = (
    *(_BASE / "base.p4", _BASE / "main.p4"),
    *(ROOT / "p4src" / "include", ROOT / "p4src" / "lib"),
)
# Bits of registers with which a program is run at all; the case about memory allows far less.
_LOADED_BITS_MAX = 8 << 20
_QUIET_PACKETS = 12
_NS_PER_MS = 1_000_000


def _quiet(rng: Random) -> Apps:
    """Four flows of 10 %, and bursts of 12 packets: 17 kB, which never add up to 30."""
    for host in SENDERS[:4]:
        yield steady(host, LINE_BPS // 10, rng.randrange(100_000))
    for round_ in range(12):
        at_ns = (2 + 3 * round_) * _NS_PER_MS + rng.randrange(_NS_PER_MS)
        yield volley(rng.choice(SENDERS[4:]), at_ns, _QUIET_PACKETS, 6001 + round_)


QUIET = Workload("quiet", "bursts that are never deep", _quiet)
_KNOWN = {**WORKLOADS, QUIET.name: QUIET}


class Given(Postcards):
    """The course's controller: build-ups from the packets that the program reports."""

    name = ""

    # Those of this run, in the order of their arrival.
    reports_of_run: ClassVar[list[Report]]

    def install(self, device: Device) -> None:
        """Nothing: the threshold stands in the program."""

    def take(self, report: Report) -> None:
        """A packet that left."""
        self.reports_of_run.append(report)
        super().take(report)


@dataclass(frozen=True)
class Scenario:
    """A workload with a seed of this student's; the number tells several of one workload apart."""

    workload: str
    number: int = 1

    @property
    def film(self) -> str:
        """Its name in stories and pages."""
        return f"{self.workload}-{self.number}"


@dataclass(frozen=True)
class Seen:
    """A scenario that has been run with the submission."""

    scenario: Scenario
    run: Run
    reports: Sequence[Report]


@dataclass(frozen=True)
class Watched:
    """The submission, compiled, and what came of the scenarios that have been run."""

    work: Work
    info: P4Info
    config: bytes
    _seen: dict[Scenario, Seen] = field(default_factory=dict)
    _plain: dict[Scenario, Run] = field(default_factory=dict)

    def seen(self, scenario: Scenario) -> Seen:
        """The scenario with the submission; recorded where recordings are wanted."""
        films = self.work.filming
        if scenario in self._seen and films is None:
            return self._seen[scenario]
        reports: list[Report] = []
        more = {"compiled": (self.info, self.config), "reports_of_run": reports}
        system = type("Submission", (Given,), more)
        tape = Tape(scenario.film) if films is not None else None
        try:
            run = self._run(system, scenario, tape)
        finally:
            if films is not None and tape is not None:
                films.add(scenario.film, tape)
        self._seen[scenario] = Seen(scenario, run, reports)
        return self._seen[scenario]

    def plain(self, scenario: Scenario) -> Run:
        """The same with the kit's router, which has no telemetry."""
        if scenario not in self._plain:
            self._plain[scenario] = self._run(EverySecond, scenario, None)
        return self._plain[scenario]

    def _run(self, system: type[System], scenario: Scenario, tape: Tape | None) -> Run:
        seed = self.work.dice(scenario.film).randrange(1 << 31)
        try:
            with self._bench() as bench:
                return bench.run(system, _KNOWN[scenario.workload], seed, tape=tape)
        except MeasurementError as error:
            raise Refused(_too_many(str(error))) from error

    @contextlib.contextmanager
    def _bench(self) -> Iterator[Bench]:
        """A process for one run, which ends when the time of its case is up."""
        with (
            Bench(self.work.scratch / "score.log") as bench,
            in_time(bench.end),
            self.work.runner.clock.ends(bench.end),
        ):
            yield bench


def begin(work: Work) -> Watched:
    """Compiles the submission, and refuses what no controller could use."""
    program = compile_program(work, FILE, _KIT)
    info = P4Info.load(program.p4info)
    bits = register_bits(info)
    if bits > _LOADED_BITS_MAX:
        raise Refused(
            Story(
                done=f"The check compiled {FILE}, and counted the bits of its registers.",
                expected="A program that a switch can hold. The handout allows 1 KiB.",
                because="A switch has some megabytes of such memory for everything.",
                came=f"{bits} bits of registers. The check did not load it.",
            )
        )
    watched = [each.name for each in info.registers]
    if _WATCHED not in watched or not any(map(_is_report, info.packet_headers)):
        raise Refused(_no_system(f"Registers: {', '.join(watched) or 'none'}."))
    return Watched(work, info, program.compiled.read_bytes())


_WATCHED = "egress.watched_port"
_REPORTED = frozenset(
    {
        *("time_ns", "depth_bytes", "wait_ns", "packets", "reason"),
        *("src_addr", "dst_addr", "src_port", "dst_port", "protocol"),
    }
)


def _is_report(header: PacketHeader) -> bool:
    return {each.name for each in header.fields} >= _REPORTED


def register_bits(info: P4Info) -> int:
    """The bits of all registers."""
    return sum(each.size * each.width_bits for each in info.registers)


def passage(packet: Packet) -> tuple[object, ...]:
    """How a packet passed the router, whatever program was in it."""
    return (
        *(packet.flow, packet.length_bytes, packet.arrived_ps, packet.enqueued_ps),
        *(packet.departed_ps, packet.line_free_ps, packet.dropped),
    )


def _no_system(came: str) -> Story:
    return Story(
        done=f"The check compiled {FILE}, and looked for the parts of base.p4 and main.p4.",
        expected="Both files included as in the start: base.p4 first, main.p4 last.",
        because="The controller sets the register of main.p4, and reads the report of base.p4.",
        came=came,
    )


def _too_many(came: str) -> Story:
    return Story(
        done="A network with the submission in its router was started.",
        expected="Each packet to leave once, and at most one report of it.",
        because="A packet that is recirculated or copied again and again keeps its router busy.",
        came=came,
    )
