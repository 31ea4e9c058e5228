"""The contract of a telemetry system: a P4 program, a controller, and its claims.

    class Postcards(System):
        name = "postcards"
        summary = "each packet that leaves a deep queue behind"
        def install(self, device): device.write("threshold_bytes", self.question.threshold_bytes)
        def take(self, report): self.sightings.append(report.sighting())
        def claims(self): return from_sightings(self.sightings, ...)

A system is one file in labs/score/systems, with its P4 program of the same name next to it. Each
class of the file that has a name is a system. docs/telemetry-score.md builds one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from controller.p4info import P4Info
from controller.packets import Queue
from controller.session import Session
from labs.errors import SettingError
from labs.score.claim import Claim, Sighting
from labs.score.flow import Flow
from labs.score.line import PS_PER_NS as PS_PER_NS
from labs.score.line import Line
from topo.paths import Route

PS_PER_S = 10**12


@dataclass(frozen=True)
class Question:
    """The operator's question, the same for every system."""

    queue: Queue
    # From which depth on a queue is a problem.
    threshold_bytes: int
    line: Line

    @property
    def frame_ps(self) -> int:
        """How long the line takes for a frame of 1500 bytes."""
        return 1500 * 8 * PS_PER_S // self.line.rate_bps

    @property
    def threshold_ps(self) -> int:
        """The time in which the line sends the threshold: the wait of a packet that found it."""
        return self.threshold_bytes * 8 * PS_PER_S // self.line.rate_bps

    @property
    def lull_ps(self) -> int:
        """The time in which the line sends half the threshold; no build-up ends faster."""
        return self.threshold_bytes // 2 * 8 * PS_PER_S // self.line.rate_bps


@dataclass(frozen=True, slots=True)
class Report:
    """A system_report_t of base.p4 as it came to the controller."""

    known_ps: int
    time_ps: int
    depth_bytes: int
    wait_ps: int
    packets: int
    reason: int
    flow: Flow

    def sighting(self) -> Sighting:
        """The packet that the report describes."""
        return Sighting(
            self.time_ps, self.known_ps, self.flow, self.depth_bytes, self.wait_ps, self.packets
        )


class Device(Protocol):
    """The switch as a system's controller reaches it. Its reads count as telemetry."""

    def write(self, register: str, value: int, index: int = 0) -> None:
        """Sets a cell of a register of the program."""

    def read(self, register: str) -> list[int]:
        """All cells of a register."""

    def depth_bytes(self) -> int:
        """The depth of the queue in question, as a counter of the switch has it now."""


class System(ABC):
    """One telemetry system in one run."""

    name: ClassVar[str] = ""
    summary: ClassVar[str]
    # The paper or text that it follows.
    after: ClassVar[str] = ""
    # The P4 program, by name or path; empty: the one beside the system's file.
    program: ClassVar[str] = ""
    # Its P4Info and BMv2 JSON, for a program that may not be compiled here: `program` is not read.
    compiled: ClassVar[tuple[P4Info, bytes] | None] = None
    # The P4 program of the second router, by name or path; empty: the kit's.
    sink: ClassVar[str] = ""
    # How often `poll` is called; 0: never. A system whose windows follow the line sets its own.
    every_ps: int = 0
    # Whether packets that queues drop come to the program's egress (instance_type 7).
    wants_drops: ClassVar[bool] = False
    # Whether its program sends reports, and by which clone session.
    reports: ClassVar[bool] = True
    report_session: ClassVar[int] = 1
    # The table that routes, which counts for nobody's memory.
    routing: ClassVar[str] = "ipv4_routes"
    # Whether packets that reach the second router with ECN's mark come to `take_mark`.
    marks: ClassVar[bool] = False
    # Whether both routers are an INT domain, whose reports go to the collector.
    in_band: ClassVar[bool] = False

    def __init__(self, question: Question) -> None:
        self.question = question

    def install(self, device: Device) -> None:  # noqa: B027 (most systems need it, polling does not)
        """Writes what the program needs, at the beginning."""

    def install_sink(self, device: Device) -> None:  # noqa: B027 (only if `sink` is set)
        """The same for the program of the second router."""

    def write_tables(self, session: Session, routes: Sequence[Route]) -> None:  # noqa: B027
        """For a program whose tables the kit's controller does not know: its entries."""

    def report_of(self, frame: bytes, known_ps: int) -> Report | None:
        """A frame that came to the controller, of a program without the report of base.p4; None: it
        says nothing."""
        raise SettingError(
            f"{self.name}: a frame of {len(frame)} bytes came to the controller, which is no "
            "report of base.p4: define report_of(self, frame, known_ps)."
        )

    def poll(self, device: Device, now_ps: int) -> None:  # noqa: B027 (only if every_ps is set)
        """Reads from the switch, every `every_ps`."""

    def take(self, report: Report) -> None:  # noqa: B027 (only if the program reports)
        """A report of the program, in the order of their arrival."""

    def take_mark(self, flow: Flow, known_ps: int) -> None:  # noqa: B027 (only if `marks` is set)
        """A packet that its receiver finds marked, in order; at the end of the run."""

    @abstractmethod
    def claims(self) -> list[Claim]:
        """The build-ups it has found, at the end of the run."""
