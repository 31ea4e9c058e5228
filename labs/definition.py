"""What a lab is: runs to conduct, and what becomes of their recordings.

    lab = Bufferbloat(Settings(quick=True))
    recordings = {run.name: lab.conduct(run, bench) for run in lab.runs()}
    assessment = lab.assess(recordings)
    figures = lab.figures(recordings)

A lab is made once for its settings. `runs` is pure, so that the work ahead is known before it
begins; `conduct` is the only method that touches a network; `assess` and `figures` see recordings
only, so tests feed them recordings made by hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from controller.toolchain import Toolchain
from labs.errors import SettingError
from labs.recording import Recording
from labs.run import Run
from labs.settings import Settings

if TYPE_CHECKING:
    import matplotlib.figure

    from labs.bench import Bench


@dataclass(frozen=True)
class Row:
    """A line of the table: what the document says, what theory says, what was measured."""

    what: str
    document: str
    theory: str
    measured: str


@dataclass(frozen=True)
class Band:
    """A claim that a measured number must keep for the lab to show what it is about."""

    claim: str
    measured: float
    least: float | None = None
    most: float | None = None
    unit: str = ""

    @property
    def met(self) -> bool:
        """Whether the number is inside, the edges included. What is not a number is outside."""
        above = self.least is None or self.measured >= self.least
        below = self.most is None or self.measured <= self.most
        return self.measured == self.measured and above and below

    def __str__(self) -> str:
        return f"{self.claim}: {self.measured:.4g}{self._unit}, asked {self.asked}"

    @property
    def asked(self) -> str:
        """The band in words: `0.9 to 1.6 s`, `at least 400 ms`."""
        if self.least is None:
            return f"at most {self.most:g}{self._unit}"
        if self.most is None:
            return f"at least {self.least:g}{self._unit}"
        return f"{self.least:g} to {self.most:g}{self._unit}"

    @property
    def _unit(self) -> str:
        return f" {self.unit}" if self.unit else ""


@dataclass(frozen=True)
class Assessment:
    """What a lab found."""

    rows: Sequence[Row]
    bands: Sequence[Band]
    # Every number behind the table, by a name that ends in its unit.
    numbers: Mapping[str, float]
    # What a reader has to know about how the routers were set up, and what was left out.
    remarks: Sequence[str] = ()
    # A sentence for each run that the machine disturbed; its numbers are not the router's alone.
    disturbances: Sequence[str] = ()

    @property
    def met(self) -> bool:
        """Whether every band is met."""
        return all(band.met for band in self.bands)


@dataclass(frozen=True)
class Figure:
    """A picture of the report."""

    name: str
    caption: str
    draw: Callable[[matplotlib.figure.Figure], None]
    # In inches; a report's page is nine wide.
    height: float = 5.0


class Lab(ABC):
    """An experiment with a question; see the top of this file for how it is driven."""

    name: ClassVar[str]
    # One line for `make labs`.
    summary: ClassVar[str]
    question: ClassVar[str]
    # Where the numbers in the column "document" come from.
    document: ClassVar[str]
    # The settings that it takes, by the names in labs.settings.
    takes: ClassVar[frozenset[str]] = frozenset()
    # Why it needs our switch, as the end of a sentence; None: other toolchains' will do.
    needs: ClassVar[str | None] = None

    def __init__(self, settings: Settings) -> None:
        """Refuses a toolchain that the lab's question is beyond, before anything is started."""
        if settings.toolchain is not Toolchain.VITRINE and self.needs is not None:
            raise SettingError(
                f"{self.name} does not run with TOOLCHAIN={settings.toolchain.value}: "
                f"it needs {self.needs}. Leave TOOLCHAIN out."
            )
        self.settings = settings

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
