"""Checks one folder: each case by itself, so that one that fails takes nothing from the others."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from controller.errors import ControllerError
from course import budget, commands, silence
from course.errors import CourseError, VirtualOnly
from course.exercise import Case, Exercise, Work
from course.films import Films
from course.process import Runner
from course.story import Refused, Story
from course.wall_clock import WallClock
from labs.errors import LabError


def _router_answers() -> bool:
    # A web page has no processes, and its checks say themselves what is alive.
    from course.tools.alive import router_answers

    return router_answers()


# Checks of a live network tolerate delays of the machine of a few milliseconds, and no more.
HELD_UP_S = 0.005
_AGAIN_MAX = 20_000


@dataclass(frozen=True)
class Verdict:
    """The result of one case."""

    case: Case
    # None: it is met.
    story: Story | None
    # Where not, the machine has failed, and the case must be checked again.
    is_judged: bool = True
    # Where it was checked, and what was left out, if that needs saying.
    remark: str = ""
    # Cases that must be met before this one counts, and are not.
    waits_for: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether the case is met and earns its points."""
        return self.story is None and not self.waits_for

    @property
    def points(self) -> int:
        """Its points."""
        return self.case.points if self.counts else 0


@dataclass(frozen=True)
class Judgement:
    """The results of all requested cases."""

    exercise: Exercise
    seed: str
    verdicts: tuple[Verdict, ...]

    @property
    def points(self) -> int:
        """All together."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def out_of(self) -> int:
        """The highest possible points."""
        return sum(verdict.case.points for verdict in self.verdicts)


def judge(
    exercise: Exercise,
    folder: Path,
    *,
    seed: str,
    runner: Runner | None = None,
    secret: str = "",
    only: Collection[str] = (),
    films: Films | None = None,
    called: str = "",
    live: bool = False,
    tell: Callable[[Verdict], None] = lambda verdict: None,
    is_alive: Callable[[], bool] = _router_answers,
) -> Judgement:
    """Checks a folder; `tell` hears of each case as soon as it is decided.

    With `films` a story of a network has a link to the page that shows it. Stories call the folder
    as `called` says. With `live`, cases that can be are checked on live routers. `is_alive` says
    whether a router answers on this machine, where one with the submission in it did not.
    """
    cases = [case for case in exercise.cases if not only or case.name in only]
    if not cases:
        names = ", ".join(case.name for case in exercise.cases)
        raise CourseError(f"{exercise.name} has no such case; it has {names}.")
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="vitrine-") as scratch:
        Path(scratch).chmod(0o755)
        work = Work(
            folder.resolve(),
            Path(scratch),
            seed,
            runner or Runner(),
            secret,
            films,
            called,
            content=_digest(folder, exercise.files) if secret else "",
        )
        settled = partial(_settled, runner=work.runner, is_alive=is_alive)
        begun = settled(exercise.title, partial(exercise.begin, work))
        shared = films.names() if films else set()
        nothing = _complete(begun.story, exercise.name, "", films)
        for case in cases:
            if nothing:
                verdict = Verdict(case, nothing, begun.is_judged)
            else:
                attempt = partial(case.check, begun.value)
                settle = partial(settled, case.title, attempt)
                if films and not films.keeps_all and not live:
                    settle = partial(_filmed_if_refused, settle, films, work.runner)
                tried, remark = _placed(settle, work, case, live)
                story = _complete(tried.story, exercise.name, case.name, films, live)
                verdict = Verdict(case, story, tried.is_judged, remark)
            if films:
                films.forget(films.names() - shared)
            verdict = replace(verdict, waits_for=_waits_for(case, verdicts))
            verdicts.append(verdict)
            tell(verdict)
    return Judgement(exercise, seed, tuple(verdicts))


def _digest(folder: Path, files: Sequence[str]) -> str:
    """The same text for the same files."""
    told = hashlib.sha256()
    for name in sorted(files):
        file = folder / name
        content = file.read_bytes() if file.is_file() else b""
        told.update(f"{name} {len(content)} ".encode() + content)
    return told.hexdigest()


def _filmed_if_refused(settle: Callable[[], _Settled], films: Films, runner: Runner) -> _Settled:
    """Checks a case, and once more if there is something to see.

    Recording takes as long as the check itself, and most networks of a class are seen by nobody. In
    virtual time the second run is the first one again.
    """
    films.records = False
    try:
        first = settle()
    finally:
        films.records = True
    if first.story is None or first.story.moment is None:
        return first
    if not first.is_judged or budget.is_spent(runner) or runner.clock.is_late:
        return first
    again = settle()
    return again if again.story is not None and again.is_judged else first


def _waits_for(case: Case, before: Sequence[Verdict]) -> tuple[str, ...]:
    """Which of the cases that must count first do not; one that was not asked for says nothing."""
    unmet = {each.case.name for each in before if not each.counts}
    return tuple(name for name in case.behind if name in unmet)


def _placed(
    settle: Callable[[], _Settled], work: Work, case: Case, live: bool
) -> tuple[_Settled, str]:
    """Checks a case where it is to be checked and can be; what came of it, and what is odd."""
    settled, where = _somewhere(settle, work, case, live)
    left_out, work.place.left_out = work.place.left_out, ""
    return settled, "; ".join(filter(None, (where, left_out)))


def _somewhere(
    settle: Callable[[], _Settled], work: Work, case: Case, live: bool
) -> tuple[_Settled, str]:
    if not live:
        return settle(), ""
    if not case.live:
        return settle(), "checked in virtual time only"
    work.place.is_live = True
    try:
        settled = settle()
        if _is_disturbed(settled, work):
            work.place.held_up_s = 0.0
            settled = settle()
        if settled.story and _is_disturbed(settled, work):
            story = silence.held_up(settled.story, work.place.held_up_s)
            settled = _Settled(story=story, is_judged=False)
        return settled, "on live routers"
    except VirtualOnly as missing:
        work.place.is_live = False
        return settle(), f"checked in virtual time only: {missing}"
    finally:
        work.place.is_live, work.place.held_up_s = False, 0.0


def _is_disturbed(settled: _Settled, work: Work) -> bool:
    """Whether a live case was refused while the machine had no time for it."""
    return settled.story is not None and work.place.held_up_s > HELD_UP_S


def _complete(
    story: Story | None, exercise: str, case: str, films: Films | None, live: bool = False
) -> Story | None:
    """A story with the command line that does the same again, and the page that shows it."""
    if story is None:
        return None
    again = f"vitrine check {exercise}" + (f" --case {case}" if case else "")
    again += " --live" if live else ""
    moment = story.moment
    if moment and films and moment.film in films.names():
        story = replace(story, link=films.show(moment), picture=films.picture(moment))
    # A command that is too long to copy is none.
    own = story.again if len(story.again) <= _AGAIN_MAX else ""
    return replace(story.shortened(), again=commands.shown(own or again))


@dataclass(frozen=True)
class _Settled:
    """The result of a trial: a value, or why there is none."""

    value: object = None
    story: Story | None = None
    is_judged: bool = True


def _settled(
    title: str, attempt: Callable[[], object], *, runner: Runner, is_alive: Callable[[], bool]
) -> _Settled:
    """Tries something. A failure for want of processor time is neither right nor wrong."""
    with runner.clock.case():
        settled = _answered(title, attempt, runner.clock, is_alive)
    if settled.story and budget.is_spent(runner):
        return _Settled(story=budget.story(title, runner))
    if settled.story and runner.clock.is_late:
        return _Settled(story=runner.clock.story(title))
    return settled


def _answered(
    title: str, attempt: Callable[[], object], clock: WallClock, is_alive: Callable[[], bool]
) -> _Settled:
    """Tries something; once more if a router was silent, perhaps without a fault."""
    try:
        return _tried(title, attempt)
    except _Silence:
        pass
    try:
        if clock.is_late:
            return _Settled(story=clock.story(title))
        return _tried(title, attempt)
    except _Silence as again:
        if clock.is_late:
            return _Settled(story=clock.story(title))
        if is_alive():
            return _Settled(story=silence.of_submission(title, again.error))
        return _Settled(story=silence.of_machine(title, again.error), is_judged=False)


class _Silence(Exception):  # noqa: N818 - it is no verdict yet
    """A router did not answer."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def _tried(title: str, attempt: Callable[[], object]) -> _Settled:
    try:
        return _Settled(attempt())
    except Refused as refused:
        return _Settled(story=refused.story)
    except (ControllerError, LabError) as error:
        if silence.is_silence(error):
            raise _Silence(error) from error
        # A router refuses what a right submission would have let it take.
        story = Story(
            done=f"The check was about to see whether this holds: {title}",
            expected="A program that a controller can load and fill.",
            because="P4Runtime specification, sections 7 and 9: names and types are a contract.",
            came=str(error),
        )
        return _Settled(story=story)
    except (CourseError, VirtualOnly):
        raise
    except Exception as error:  # noqa: BLE001 - one submission must not end the others
        story = Story(
            done=f"The check was about to see whether this holds: {title}",
            expected="An answer that the check can read.",
            because="This is a mistake of the check, or an unexpected kind of submission.",
            came=f"The check broke: {type(error).__name__}: {error}. Show this to a teacher.",
        )
        return _Settled(story=story)
