"""Numbers that a student measures: what input queues carry under four patterns of traffic.

Each in a router of the student's size.
"""

from __future__ import annotations

from dataclasses import dataclass

from course.exercise import Work
from course.story import Refused, Story
from course.tools.documents import finite, yaml_content
from course.tools.insides import again_line, simulate

FILE = "numbers.yaml"
NEAR = 0.012
# As the simulator calls them, and as the file does.
PATTERNS = {
    "uniform": "uniform",
    "diagonal": "diagonal",
    "logdiagonal": "logdiagonal",
    "unbalanced": "unbalanced:0.5",
}


@dataclass(frozen=True)
class Wanted:
    """A number, what it is measured by, and what theory says of it."""

    key: str
    what: str
    arguments: tuple[str, ...]
    because: str


WANTED = (
    Wanted(
        "fifo",
        "the throughput of FIFO input queues at load 1, arbiter random",
        ("--input", "fifo", "--arbiter", "random"),
        "Karol, Hluchyj and Morgan 1987, uniform traffic: 0.75 for N = 2, and down to 2 - sqrt(2) "
        "= 0.586 for many. Where each input has few outputs, as on the diagonal, fewer of the "
        "first cells want the same one.",
    ),
    Wanted(
        "fifo_speedup_2",
        "the same with a crossbar of speedup 2",
        ("--input", "fifo", "--arbiter", "random", "--speedup", "2"),
        "With speedup 2 a crossbar could carry 2 x 0.586 > 1, so the line is what limits, whatever "
        "the pattern.",
    ),
    Wanted(
        "voq",
        "the throughput of virtual output queues at load 1, arbiter islip:1",
        ("--input", "voq", "--arbiter", "islip:1"),
        "McKeown 1999: 1 for uniform traffic, because no queue waits behind a packet for another "
        "output, and its pointers drift apart. On uneven traffic they do not drift as well.",
    ),
)


def ports_of(work: Work) -> int:
    """How many ports this student's router has."""
    return work.own("ports").choice((3, 5, 6, 7, 9, 10, 12))


def check(work: Work) -> None:
    """The numbers are near those that other dice give."""
    ports = ports_of(work)
    numbers = _read(work, ports)
    for wanted in WANTED:
        said = numbers.get(wanted.key)
        for name, pattern in PATTERNS.items():
            _near(work, wanted, name, pattern, said.get(name) if isinstance(said, dict) else None)


def arguments(wanted: Wanted, ports: int, pattern: str) -> tuple[str, ...]:
    """The command that measures a number."""
    size = ("fabric", "--ports", str(ports), "--load", "1")
    return (*size, "--pattern", pattern, *wanted.arguments)


def _near(work: Work, wanted: Wanted, name: str, pattern: str, said: object) -> None:
    ports = ports_of(work)
    measured = arguments(wanted, ports, pattern)
    shown = str(said)[:60]
    done = f"{FILE} says {wanted.key}, {name}: {shown}, {wanted.what}, pattern {pattern}."
    number = finite(said)
    found = simulate(work, *measured, "--slots", "40000", "--seed", "77", because="", done=done)
    # Written so that whatever is not known to be near is refused.
    if number is None or not abs(number - found["throughput"]) <= NEAR:
        raise Refused(
            Story(
                done=done,
                expected=f"A number within {NEAR} of what a router of {ports} ports, which is "
                "yours, carries in 40,000 slots.",
                because=wanted.because,
                came=f"{shown}, which is {'no' if number is None else 'another'} number.",
                again=again_line(work, measured),
            )
        )


def _read(work: Work, ports: int) -> dict[str, object]:
    found = yaml_content(work, FILE)
    if isinstance(found, dict) and finite(found.get("ports")) == ports:
        return found
    raise Refused(
        Story(
            done=f"The check read {FILE}.",
            expected=f"ports: {ports}, the size of your router, and below it the numbers for it.",
            because="Each student has a router of another size.",
            came=f"ports: {str(found.get('ports'))[:60]}"
            if isinstance(found, dict)
            else "It has no fields.",
        )
    )
