"""Checks one folder: each case by itself, so that one that fails takes nothing from the others."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from controller.errors import ControllerError
from course.errors import CourseError
from course.exercise import Case, Exercise, Work
from course.process import Runner
from course.story import Refused, Story


@dataclass(frozen=True)
class Verdict:
    """What came of one case."""

    case: Case
    # None: it is met.
    story: Story | None

    @property
    def points(self) -> int:
        """What it is worth."""
        return 0 if self.story else self.case.points


@dataclass(frozen=True)
class Judgement:
    """What came of all cases that were asked for."""

    exercise: Exercise
    seed: str
    verdicts: tuple[Verdict, ...]

    @property
    def points(self) -> int:
        """All together."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def out_of(self) -> int:
        """What there was to get."""
        return sum(verdict.case.points for verdict in self.verdicts)


def judge(
    exercise: Exercise,
    folder: Path,
    *,
    seed: str,
    runner: Runner | None = None,
    secret: str = "",
    only: Collection[str] = (),
    films: Path | None = None,
    tell: Callable[[Verdict], None] = lambda verdict: None,
) -> Judgement:
    """Checks a folder; `tell` hears of each case as soon as it is decided.

    With `films` what happens in a check's networks is kept there, a page a case.
    """
    cases = [case for case in exercise.cases if not only or case.name in only]
    if not cases:
        names = ", ".join(case.name for case in exercise.cases)
        raise CourseError(f"{exercise.name} has no such case; it has {names}.")
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="vitrine-") as scratch:
        Path(scratch).chmod(0o755)
        work = Work(folder.resolve(), Path(scratch), seed, runner or Runner(), secret, films)
        try:
            bench, nothing = exercise.begin(work), None
        except Refused as refused:
            bench, nothing = None, refused.story
        for case in cases:
            verdict = Verdict(case, nothing or _story_of(case, bench))
            verdicts.append(verdict)
            tell(verdict)
    return Judgement(exercise, seed, tuple(verdicts))


def _story_of(case: Case, bench: object) -> Story | None:
    try:
        case.check(bench)
    except Refused as refused:
        return refused.story
    except ControllerError as error:
        # A router refuses what a right submission would have let it take.
        return Story(
            done=f"The check was about to see whether this holds: {case.title}",
            expected="A program that a controller can load and fill.",
            because="P4Runtime specification, sections 7 and 9: names and types are a contract.",
            came=str(error),
        )
    except CourseError:
        raise
    except Exception as error:  # noqa: BLE001 - one submission must not end the others
        return Story(
            done=f"The check was about to see whether this holds: {case.title}",
            expected="An answer that the check can read.",
            because="This is a mistake of the check, or a submission that nobody foresaw.",
            came=f"The check broke: {type(error).__name__}: {error}. Show this to a teacher.",
        )
    return None
