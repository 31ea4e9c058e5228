"""Numbers that a student measures: what input queues carry, in a router of the student's size."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from course.exercise import Work
from course.story import Refused, Story
from course.tools.insides import again_line, simulate

FILE = "numbers.yaml"
NEAR = 0.012
_BYTES_MAX = 10_000


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
        "Karol, Hluchyj and Morgan 1987: 0.75 for N = 2, and down to 2 - sqrt(2) = 0.586 for many.",
    ),
    Wanted(
        "fifo_speedup_2",
        "the same with a crossbar of speedup 2",
        ("--input", "fifo", "--arbiter", "random", "--speedup", "2"),
        "With speedup 2 a crossbar could carry 2 x 0.586 > 1, so the line is what limits.",
    ),
    Wanted(
        "voq",
        "the throughput of virtual output queues at load 1, arbiter islip:1",
        ("--input", "voq", "--arbiter", "islip:1"),
        "McKeown 1999: 1, because no queue waits behind a packet for another output.",
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
        arguments = ("fabric", "--ports", str(ports), "--load", "1", *wanted.arguments)
        done = f"{FILE} says {wanted.key}: {numbers.get(wanted.key)}, {wanted.what}."
        found = simulate(
            work, *arguments, "--slots", "40000", "--seed", "77", because="", done=done
        )["throughput"]
        said = numbers.get(wanted.key)
        if not isinstance(said, (int, float)) or abs(said - found) > NEAR:
            raise Refused(
                Story(
                    done=done,
                    expected=f"A number within {NEAR} of what a router of {ports} ports, which is "
                    "yours, carries in 40,000 slots.",
                    because=wanted.because,
                    came=f"{said}, which is another number.",
                    again=again_line(work, arguments),
                )
            )


def _read(work: Work, ports: int) -> dict[str, object]:
    file = work.folder / FILE
    text = file.read_text(errors="replace")[:_BYTES_MAX] if file.is_file() else ""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if isinstance(found, dict) and found.get("ports") == ports:
        return found
    raise Refused(
        Story(
            done=f"The check read {FILE}.",
            expected=f"ports: {ports}, the size of your router, and below it the numbers for it.",
            because="Each student has a router of another size.",
            came=f"ports: {found.get('ports')}" if isinstance(found, dict) else "No such file.",
        )
    )
