"""The cases of a mirror: packets return to their sender, broadcasts are dropped."""

from __future__ import annotations

from course.exercise import Case, Exercise, Work
from course.story import Refused, Story
from course.tools.packets import Packet
from course.tools.tracer import Program, compile_program

BROADCAST, GROUP = 0xFFFFFFFFFFFF, 0x01005E000001


def begin(work: Work) -> Program:
    """Compiles the submission."""
    return compile_program(work, "PROGRAM.p4")


def goes_back(program: Program) -> None:
    """A packet leaves by the port it came in at, to the host that sent it."""
    _expect_back(program, "goes-back", Packet("192.0.2.7", "192.0.2.9"))


def broadcast(program: Program) -> None:
    """A broadcast is dropped."""
    dice = program.work.dice("broadcast")
    port, packet = dice.randrange(1, 9), Packet("192.0.2.7", "192.0.2.9", to_mac=BROADCAST)
    (life,) = program.lives([], [(port, packet.frame)])
    if life.sent:
        raise Refused(
            Story(
                done=f"A packet to ff:ff:ff:ff:ff:ff came in at port {port}.",
                expected="Nothing comes out.",
                because="Two mirrors that send broadcasts back would do so for ever.",
                came=f"It left by port {life.sent[0][0]}.",
                way=tuple(life.steps),
                again=program.again([], port, packet.frame),
            )
        )


def group(program: Program) -> None:
    """A packet to a group is no broadcast, and goes back."""
    _expect_back(program, "group", Packet("192.0.2.7", "224.0.0.1", to_mac=GROUP))


def _expect_back(program: Program, purpose: str, packet: Packet) -> None:
    port = program.work.dice(purpose).randrange(2, 9)
    frame = packet.frame
    (life,) = program.lives([], [(port, frame)])
    wanted = [(port, frame[6:12] + frame[:6] + frame[12:])]
    if life.sent != wanted:
        raise Refused(
            Story(
                done=f"A packet came in at port {port}, from {_mac(frame[6:12])} to "
                f"{_mac(frame[:6])}.",
                expected=f"It leaves by port {port}, from {_mac(frame[:6])} to "
                f"{_mac(frame[6:12])}, and is otherwise the same.",
                because="The handout: a mirror sends each packet back to its sender.",
                came=_came(life.sent),
                way=tuple(life.steps),
                again=program.again([], port, frame),
            )
        )


def _came(sent: list[tuple[int, bytes]]) -> str:
    if not sent:
        return "Nothing came out."
    port, frame = sent[0]
    return f"It left by port {port}, from {_mac(frame[6:12])} to {_mac(frame[:6])}."


def _mac(address: bytes) -> str:
    return address.hex(":")


EXERCISE = Exercise(
    name="NAME",
    title="A mirror",
    question="How does a switch send a packet back?",
    minutes=30,
    files=("PROGRAM.p4",),
    begin=begin,
    cases=(
        Case("goes-back", "A packet goes back to the host that sent it.", 50, goes_back),
        Case("broadcast", "A broadcast is dropped.", 30, broadcast, behind=("goes-back",)),
        Case("group", "A packet to a group goes back.", 20, group, behind=("goes-back",)),
    ),
)
