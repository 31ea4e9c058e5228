"""The parts of a lab: runs to conduct, and the assessment of their recordings.

    lab = Bufferbloat(Settings(quick=True))
    recordings = {run.name: lab.conduct(run, bench) for run in lab.runs()}
    assessment = lab.assess(recordings)
    figures = lab.figures(recordings)

A lab is made once for its settings. `runs` is pure, so that the work ahead is known before it
begins; `conduct` is the only method that touches a network; `assess` and `figures` see recordings
only, so tests feed them recordings made by hand.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from controller.toolchain import Toolchain
from labs import classes
from labs.errors import SettingError
from labs.recording import Recording
from labs.run import Run
from labs.settings import Settings, rate_word
from topo.model import Topology
from topo.units import format_rate

if TYPE_CHECKING:
    import matplotlib.figure

    from labs.bench import Bench


@dataclass(frozen=True)
class Row:
    """A line of the table: what the original says, what theory says, what was measured."""

    what: str
    # With its unit, and only where the original's own setting is used; else empty.
    original: str
    theory: str
    measured: str
    # The other seeds' measurements, if they differ.
    other_seeds: str = ""


class Verdict(Enum):
    """The verdict on a band."""

    MET = "met"
    NOT_MET = "not met"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Band:
    """A claim that a measured number must keep for the lab to show what it is about."""

    claim: str
    measured: float
    least: float | None = None
    most: float | None = None
    unit: str = ""
    # The runs that the number was measured in; none: all of the lab's.
    runs: tuple[str, ...] = ()
    # Why the number says nothing about the claim: the setting puts it out of reach, or the machine
    # disturbed the run. Empty where it says something.
    unjudged: str = ""
    # Each seed's measurement, if there are several; `measured` is their median then.
    every_seed: tuple[float, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """NaN is not met, unless there is a reason not to judge."""
        if self.unjudged:
            return Verdict.NOT_JUDGED
        return Verdict.MET if self._is_inside else Verdict.NOT_MET

    @property
    def _is_inside(self) -> bool:
        """The edges included."""
        above = self.least is None or self.measured >= self.least
        below = self.most is None or self.measured <= self.most
        return self.measured == self.measured and above and below

    def __str__(self) -> str:
        return f"{self.claim}: {self.found}, required {self.required}"

    @property
    def found(self) -> str:
        """The measurement, with its spread over seeds: `0.52 (0.49 to 0.55)`."""
        spread = ""
        if self.every_seed:
            low, high = (_digits(edge) for edge in (min(self.every_seed), max(self.every_seed)))
            spread = f" ({low} to {high})" if low != high else ""
        return f"{_digits(self.measured)}{self._unit}{spread}"

    @property
    def required(self) -> str:
        """The band in words: `0.9 to 1.6 s`, `at least 400 ms`."""
        least, most = ("" if edge is None else _digits(edge) for edge in (self.least, self.most))
        words = f"{least} to {most}" if least and most else f"at least {least}" if least else ""
        return f"{words or f'at most {most}'}{self._unit}"

    @property
    def _unit(self) -> str:
        return f" {self.unit}" if self.unit else ""


def _digits(value: float) -> str:
    """A number for people, without powers of ten: 0.9997, 117,601, 0.00003672."""
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    # Where the digits begin far behind the point, `g` would write an exponent.
    return format(Decimal(f"{value:.4g}"), "f") if math.isfinite(value) else f"{value}"


@dataclass(frozen=True)
class Assessment:
    """A lab's results."""

    rows: Sequence[Row]
    bands: Sequence[Band]
    # Every number behind the table, by a name that ends in its unit.
    numbers: Mapping[str, float]
    # Remarks on how the routers were set up, and on parts that were left out.
    remarks: Sequence[str] = ()
    # A sentence for each run that the machine disturbed; its numbers are not the router's alone.
    disturbances: Sequence[str] = ()

    def count(self, verdict: Verdict) -> int:
        """How many bands have that verdict."""
        return sum(band.verdict is verdict for band in self.bands)

    @property
    def verdict(self) -> str:
        """`5 of 7 bands are met, 2 cannot be judged.`"""
        words = [f"{self.count(Verdict.MET)} of {len(self.bands)} bands are met"]
        if missed := self.count(Verdict.NOT_MET):
            words.append(f"{missed} {'is' if missed == 1 else 'are'} not")
        if unjudged := self.count(Verdict.NOT_JUDGED):
            words.append(f"{unjudged} cannot be judged")
        return f"{', '.join(words)}."


@dataclass(frozen=True)
class Figure:
    """A picture of the report."""

    name: str
    caption: str
    draw: Callable[[matplotlib.figure.Figure], None]
    # In inches; a report's page is nine wide.
    height: float = 5.0


@dataclass(frozen=True)
class Place:
    """The port that a lab is about, in its network."""

    topology: Topology
    switch: str
    port: int
    # A port of the same router whose input the lab looks into too.
    input_port: int | None = None


class Lab(ABC):
    """An experiment with a question; see the top of this file for how it is driven."""

    name: ClassVar[str]
    # The heading of the report.
    title: ClassVar[str]
    # One line for `vitrine labs`.
    summary: ClassVar[str]
    question: ClassVar[str]
    # Things to see in the figures, a sentence each.
    look_for: ClassVar[tuple[str, ...]]
    # The text that the lab reproduces: the source of the numbers in the column "original".
    original: ClassVar[str]
    # The settings that it takes, by the names in labs.settings.
    takes: ClassVar[frozenset[str]] = frozenset()
    # Why it needs our switch, as the end of a sentence; None: other toolchains' will do.
    needs: ClassVar[str | None] = None
    # The rates that the lab may choose by itself, its own first; none: its own suits any machine.
    choices_bps: ClassVar[tuple[int, ...]] = ()
    # The slowest and the fastest bottleneck at which it can be run.
    rates_bps: ClassVar[tuple[int, int]] = (100_000, 10_000_000_000)

    def __init__(self, settings: Settings) -> None:
        """Refuses what the lab cannot do, before anything is started."""
        if settings.toolchain is not Toolchain.VITRINE and self.needs is not None:
            raise SettingError(
                f"{self.name} does not run with --toolchain {settings.toolchain.value}: "
                f"it needs {self.needs}. Leave --toolchain out."
            )
        self.settings = settings
        slowest, fastest = self.rates_bps
        rate_bps = settings.rate_bps
        if rate_bps is not None and not slowest <= rate_bps <= fastest:
            raise SettingError(
                f"--rate {rate_word(rate_bps)}: {self.name} runs on lines from "
                f"{format_rate(slowest)} to {format_rate(fastest)}."
            )
        if settings.seconds is not None and settings.seconds < self.least_seconds:
            raise SettingError(
                f"--duration {settings.seconds}: {self.name} needs at least {self.least_seconds} s "
                f"{self.least_seconds_for}."
            )

    @property
    def heading(self) -> str:
        """The title, and the deciding classes."""
        own = classes.deciding(self.settings.changed())
        return f"{self.title}; with {', '.join(own)}" if own else self.title

    @property
    @abstractmethod
    def least_seconds(self) -> int:
        """The shortest --duration that shows anything, with the other settings as they are."""

    @property
    @abstractmethod
    def least_seconds_for(self) -> str:
        """The purpose of the least seconds, as the end of a sentence: `until TCP has settled`."""

    @classmethod
    def folder_name(cls) -> str:
        """The lab's folder in labs/."""
        return cls.name.replace("-", "_")

    @property
    @abstractmethod
    def place(self) -> Place:
        """The router and port that the report draws first and `vitrine top` opens with."""

    @property
    def left_out(self) -> Sequence[str]:
        """Experiments that the chosen toolchain cannot do, each as a sentence that says why."""
        return ()

    @abstractmethod
    def runs(self) -> Sequence[Run]:
        """The work ahead, in its order."""

    @abstractmethod
    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Does one run."""

    @abstractmethod
    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The table and the bands."""

    @abstractmethod
    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The report's pictures; the first one is the main one."""


class SettlingLab(Lab):
    """A lab that looks at flows once slow start is behind them."""

    # From when on flows are measured, and for how long they must be then.
    settled_s: ClassVar[float]
    _MEASURED_S_MIN: ClassVar = 3

    @property
    def least_seconds(self) -> int:
        """The time that is not measured, and a little of the time that is."""
        return round(self.settled_s) + self._MEASURED_S_MIN

    @property
    def least_seconds_for(self) -> str:
        """The flows' begin is not measured."""
        return "to leave slow start behind"
