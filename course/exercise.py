"""What an exercise is: files to write, and cases that say what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from course.films import Films
from course.process import Runner


@dataclass
class Place:
    """Where the present case has its networks, and what disturbed them."""

    is_live: bool = False
    # How long this machine has held up live routers, or was late as their hosts.
    held_up_s: float = 0.0
    # What could not be checked here, in a few words; it takes no points.
    left_out: str = ""


@dataclass(frozen=True)
class Work:
    """One submission, and what there is to try it with."""

    # The student's folder. Only programs of the `runner` may act on what is in it.
    folder: Path
    # For what is made on the way; the student's programs may not write there.
    scratch: Path
    # Whose parameters, and which scenarios.
    seed: str
    runner: Runner
    # Known to the teacher alone: with it the scenarios are others than a student has seen.
    secret: str = ""
    # What the check's networks told; None: nobody wants to see it.
    films: Films | None = None
    # What command lines in stories call the folder; empty: by its path.
    called: str = ""
    place: Place = field(default_factory=Place)

    @property
    def filming(self) -> Films | None:
        """Where to put what a network tells now; None: nobody wants to see it."""
        return self.films if self.films is not None and self.films.records else None

    @property
    def shown(self) -> str:
        """The folder, for a command line that is to be run later."""
        return self.called or str(self.folder)

    def dice(self, purpose: str) -> Random:
        """Random numbers that are the same whenever this student's work is checked for this."""
        return Random(f"{self.seed}/{self.secret}/{purpose}")

    def own(self, purpose: str) -> Random:
        """Random numbers that the student is told, and that grading does not change."""
        return Random(f"{self.seed}/{purpose}")


@dataclass(frozen=True)
class Case:
    """One thing that is checked, by itself: what fails here takes no points anywhere else."""

    name: str
    # A sentence that is true of a right solution.
    title: str
    points: int
    # Raises `story.Refused`. It gets what `Exercise.begin` made.
    check: Callable[[Any], None]
    # Whether it can be checked on live routers, too: it is about a network, and not to the bit.
    live: bool = False
    # Cases that a submission must meet before this one counts. A router that drops everything drops
    # bad packets, too: what is true of it without any work earns nothing by itself.
    behind: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """An exercise of the course."""

    name: str
    title: str
    question: str
    minutes: int
    # What students write and hand in, all of it in one folder.
    files: Sequence[str]
    # Makes what the cases share: compiles, loads. Raises `story.Refused` if nothing can be checked.
    begin: Callable[[Work], Any]
    cases: Sequence[Case]
    # What is this student's own, in sentences: rates, ports, sizes that nobody can copy.
    own: Callable[[Work], str] | None = None

    @property
    def points(self) -> int:
        """What a right solution gets."""
        return sum(case.points for case in self.cases)

    @property
    def folder(self) -> Path:
        """Where handout and beginning are."""
        return FOLDER / self.name.replace("-", "_")

    @property
    def start(self) -> Path:
        """What students begin with."""
        return self.folder / "start"


FOLDER = Path(__file__).parent / "exercises"
SOLUTIONS = Path(__file__).parent / "solutions"
