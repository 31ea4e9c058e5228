"""The checks of a search in telemetry: place, instant and culprit of bursts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from course.exercise import Case, Exercise, Work
from course.exercises.who_filled_the_queue import scenarios
from course.exercises.who_filled_the_queue.scenarios import SPAN_S, Told
from course.process import PYTHON
from course.story import Moment, Refused, Story
from course.tools.insides import require_file

NAME = "who-filled-the-queue"
FILE = "culprit.py"
HOST = Path(__file__).parent / "host.py"
# Less than a burst takes to arrive, so that the instant of the fullest queue is not near enough.
NEAR_S = 0.0003
_WALL_S = 60.0
# A report's fields for students.
_FIELDS = ("time_s", "router", "egress_port", "flow", "occupancy_bytes", "latency_us")
_INT = (
    "INT 2.1, section 4.7: each hop writes when the packet left and what its queue held; so the "
    "queue that held the most says where, and the packets that came while it grew say who. "
)


@dataclass(frozen=True)
class Asked:
    """A scenario, and what the submission says of it."""

    told: Told
    # Router, port, instant, flow, as text; None: nothing happened.
    found: Sequence[str] | None
    error: str


def begin(work: Work) -> list[Asked]:
    """Plays ten scenarios and prepares the question for each."""
    require_file(work, FILE)
    told = scenarios.play(work, scenarios.draw(work.dice("scenarios")))
    folder = work.scratch / "scenarios"
    folder.mkdir()
    folder.chmod(0o755)
    for number, each in enumerate(told):
        rows = ({name: asdict(row)[name] for name in _FIELDS} for row in each.reports)
        file = folder / f"{number}.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        file.chmod(0o644)
    done = work.runner.run(
        [*PYTHON, str(HOST), str(work.folder), str(folder)],
        readable=[work.folder, folder, HOST],
        seconds=_WALL_S,
    )
    answers = [_answer(line) for line in done.output.splitlines()[: len(told)]]
    missing = Asked(told[0], None, f"there was no answer; {done.why or done.errors.strip()[-200:]}")
    answers += [(None, missing.error)] * (len(told) - len(answers))
    return [Asked(each, *answer) for each, answer in zip(told, answers, strict=True)]


def _answer(line: str) -> tuple[Sequence[str] | None, str]:
    try:
        answer = json.loads(line)
        found = answer.get("found")
        if found is not None and not _is_answer(found):
            return None, f"find returned {str(found)[:100]}, not (router, port, instant, flow)"
        return found, str(answer.get("error", ""))
    # A submission may write to the pipe itself, and brackets without end.
    except (ValueError, AttributeError, RecursionError):
        return None, f"an answer could not be read: {line[:100]!r}"


def _is_answer(found: object) -> bool:
    """Whether it is what the host writes: four texts."""
    return (
        isinstance(found, list) and len(found) == 4 and all(isinstance(each, str) for each in found)
    )


def _refuse(asked: Asked, expected: str, because: str, came: str) -> None:
    scenario = asked.told.scenario
    where = f"{scenario.from_s:.2f} to {scenario.from_s + SPAN_S:.2f} s"
    raise Refused(
        Story(
            done=f"find was given the {len(asked.told.reports)} reports of {where}.",
            expected=expected,
            because=because,
            came=came,
            moment=Moment(_at_s(asked), scenarios.FILM),
        )
    )


def _at_s(asked: Asked) -> float:
    filled = asked.told.filled
    return filled.began_s if filled else asked.told.scenario.from_s


def _is_right(asked: Asked, because: str) -> None:
    """Place, instant and flow, in this order."""
    if asked.error:
        _refuse(asked, "An answer.", because, f"{asked.error}.")
    filled = asked.told.filled
    assert filled is not None, "a burst of this kind fills a queue"
    router, port = filled.router, filled.port
    if asked.found is None:
        _refuse(asked, f"A burst in the queue of {router}, port {port}.", because, "None.")
        return
    if asked.found[:2] != [router, str(port)]:
        _refuse(
            asked,
            f"The queue of {router}, port {port}.",
            because,
            f"That of {asked.found[0]}, port {asked.found[1]}.",
        )
    if not abs(_number(asked.found[2]) - filled.began_s) <= NEAR_S:
        _refuse(
            asked,
            f"The instant at which the queue began to grow, {filled.began_s:.4f} s, give or take "
            f"{NEAR_S * 1000:.1f} ms.",
            because + "A packet came latency_us before it left.",
            f"{asked.found[2]} s.",
        )
    if asked.found[3] != filled.culprit:
        _refuse(
            asked,
            f"The flow {filled.culprit}: {filled.packets} packets while it grew.",
            because,
            f"The flow {asked.found[3]}.",
        )


def _number(text: str) -> float:
    """The instant that was found; nothing is near one that is no finite number."""
    try:
        found = float(text)
    except ValueError:
        return math.inf
    return found if math.isfinite(found) else math.inf


def _all_of(kind: str, because: str) -> Callable[[list[Asked]], None]:
    def check(asked: list[Asked]) -> None:
        for each in asked:
            if each.told.scenario.kind == kind:
                _is_right(each, because)

    return check


def nothing(asked: list[Asked]) -> None:
    """Where there was no burst, none is found."""
    for each in asked:
        if each.told.scenario.kind == scenarios.NOTHING:
            if each.error:
                _refuse(each, "An answer.", _INT, f"{each.error}.")
            if each.found is not None:
                most = max((row.occupancy_bytes or 0) for row in each.told.reports)
                _refuse(
                    each,
                    "None.",
                    f"The handout: a burst fills a queue with more than 20 kB; here none held more "
                    f"than {most} bytes.",
                    f"A burst at {each.found[0]}, port {each.found[1]}, of {each.found[3]}.",
                )


alone = _all_of(scenarios.ALONE, _INT)
behind = _all_of(
    scenarios.BEHIND,
    _INT + "Who sends the most in a second need not be who filled it in one of it. ",
)
decoy = _all_of(
    scenarios.DECOY, _INT + "A smaller burst half a tenth of a second before is another story. "
)
together = _all_of(
    scenarios.TOGETHER, _INT + "Of two who came at once, the one who brought more is asked for. "
)

EXERCISE = Exercise(
    name=NAME,
    title="Who filled the queue",
    question="A queue was full for five milliseconds: which one, when, and with whose packets?",
    minutes=90,
    files=(FILE,),
    begin=begin,
    cases=(
        Case("alone", "A burst in an empty network is found.", 20, alone),
        Case("behind", "And one behind steady flows.", 25, behind),
        Case("decoy", "And one after a smaller one.", 20, decoy),
        Case("together", "Of two senders, the one who brought more.", 20, together),
        Case("nothing", "Where nothing was, nothing is found.", 15, nothing, behind=("alone",)),
    ),
)
