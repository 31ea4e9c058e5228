"""The parts of an exercise: files to write, and cases with their points."""

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
    # The parts that could not be checked here, in a few words; they take no points.
    left_out: str = ""


@dataclass(frozen=True)
class Work:
    """One submission, and what there is to try it with."""

    # The student's folder. Only programs of the `runner` may act on what is in it.
    folder: Path
    # For what is made on the way; the student's programs may not write there.
    scratch: Path
    # The owner of the parameters, and the scenarios.
    seed: str
    runner: Runner
    # Known to the teacher alone: with it the scenarios are others than a student has seen.
    secret: str = ""
    # The recordings of the check's networks; None: they are not wanted.
    films: Films | None = None
    # The folder's name in command lines of stories; empty: its path.
    called: str = ""
    place: Place = field(default_factory=Place)
    # What was handed in, in short; empty: nothing is graded.
    content: str = ""

    @property
    def filming(self) -> Films | None:
        """The place for a network's recording now; None: it is not wanted."""
        return self.films if self.films is not None and self.films.records else None

    @property
    def shown(self) -> str:
        """The folder, for a command line that is to be run later."""
        return self.called or str(self.folder)

    def dice(self, purpose: str) -> Random:
        """Random numbers that are the same whenever this student's work is checked for this.

        In grading they follow from the files, too: where students may hand in again, the story of
        one attempt would contain answers for the next.
        """
        graded = f"{self.secret}/{self.content}" if self.content else self.secret
        return Random(f"{self.seed}/{graded}/{purpose}")

    def own(self, purpose: str) -> Random:
        """Random numbers that the student knows, and that grading does not change."""
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
    # The files that students write and hand in, all of them in one folder.
    files: Sequence[str]
    # Makes what the cases share: compiles, loads. Raises `story.Refused` if nothing can be checked.
    begin: Callable[[Work], Any]
    cases: Sequence[Case]
    # This student's own parameters, in sentences: rates, ports, sizes that cannot be copied.
    own: Callable[[Work], str] | None = None

    @property
    def points(self) -> int:
        """The points of a right solution."""
        return sum(case.points for case in self.cases)

    @property
    def folder(self) -> Path:
        """Where handout and beginning are."""
        return FOLDER / self.name.replace("-", "_")

    @property
    def start(self) -> Path:
        """The files that students begin with."""
        return self.folder / "start"


FOLDER = Path(__file__).parent / "exercises"
SOLUTIONS = Path(__file__).parent / "solutions"
