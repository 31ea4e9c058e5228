"""`vitrine interop`: the routers of each pair of teams in one ring, and which hosts they connect.

For every two teams four routers, in turn one of each, so that no two neighbours are of one team.
In such a ring each way between hosts of one team leads through a router of the other.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from controller.errors import ControllerError
from course.errors import CourseError
from course.exercise import Exercise, Work
from course.exercises.capstone import exercise as capstone
from course.exercises.control_plane import roads
from course.exercises.control_plane.fabric import Compiled, asked_of, led
from course.grading.intake import Submission
from course.process import Runner
from course.story import Refused
from course.working import student_of
from labs.errors import LabError

_NAMES = (roads.NAME, capstone.NAME)


@dataclass(frozen=True)
class Team:
    """A participant."""

    name: str
    work: Work
    # Its routers' program; None: the kit's.
    compiled: Compiled | None


@contextlib.contextmanager
def teams(
    exercise: Exercise, found: Sequence[Submission], runner: Runner
) -> Iterator[tuple[list[Team], list[str]]]:
    """Those whose work can take part, and why others cannot, in sentences."""
    if exercise.name not in _NAMES:
        raise CourseError(
            f"there is no interoperation day for {exercise.name}; there is one for "
            f"{' and '.join(_NAMES)}."
        )
    ready, remarks = [], []
    with contextlib.ExitStack() as stack:
        for submission in found:
            folder, scratch = (
                Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vitrine-team-")))
                for _ in range(2)
            )
            for each in (folder, scratch):
                each.chmod(0o755)
            odd = submission.take(exercise.files, folder)
            remarks += [f"{submission.name}: {each}" for each in odd]
            work = Work(folder, scratch, student_of(folder), runner)
            try:
                begun = exercise.begin(work)
            except Refused as refused:
                remarks.append(f"{submission.name} cannot take part: {refused.story.came}")
                continue
            compiled = begun.compiled if isinstance(begun, capstone.Bench) else None
            ready.append(Team(submission.name, work, compiled))
        yield ready, remarks


def rings(ready: Sequence[Team]) -> Iterator[tuple[str, str, str]]:
    """Two teams, and what was wrong in their ring; nothing, if all hosts reached each other."""
    for one, other in combinations(ready, 2):
        yield one.name, other.name, _ring(one, other)


def _ring(one: Team, other: Team) -> str:
    net = roads.ring(one.work.own("interop"), capstone.CLASSES)
    team_of = dict(zip(("s1", "s2", "s3", "s4"), (one, other, one, other), strict=True))
    programs = {name: team.compiled for name, team in team_of.items() if team.compiled}
    asked = asked_of(net.topology, costs=net.costs)
    work = Work(one.work.folder, one.work.scratch, one.work.seed, one.work.runner)
    try:
        with led(
            work,
            net.topology,
            asked,
            lambda name: team_of[name].work.folder,
            film="",
            own=programs,
        ) as fabric:
            fabric.let_pass(capstone.SETTLED_S)
            capstone.all_reach(fabric, f"of {one.name} and {other.name} in turn")
    except Refused as refused:
        # s1 and s3 belong to one, s2 and s4 to the other.
        return f"{refused.story.expected} {refused.story.came}"
    except (ControllerError, LabError) as error:
        return str(error)
    return ""


def challenges(ready: Sequence[Team]) -> list[tuple[str, float, float]]:
    """Of each team the use of the line and how long packets waited, in ms: the best one first."""
    found = []
    for team in ready:
        if team.compiled is None:
            continue
        try:
            use, wait_ms = capstone.measured(capstone.Bench(team.work, team.compiled))
        except (Refused, ControllerError, LabError):
            use, wait_ms = 0.0, float("inf")
        found.append((team.name, use, wait_ms))
    return sorted(found, key=lambda each: (each[1] < capstone.USE_LEAST, each[2]))
