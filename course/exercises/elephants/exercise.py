"""The checks of a sketch: elephants that it must never miss, and how seldom it may be wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from course.exercise import Case, Exercise, Work
from course.story import Refused, Story
from course.tools.five_tuples import Flow, any_flow, mixed, neighbours
from course.tools.packets import checksum_is_right
from course.tools.tracer import Life, Program, compile_program

ELEPHANT = 20
MARK = 46
CELLS_MAX = 1024
BITS_MAX = 32 * CELLS_MAX
# Of 1000 packets of mice this many may be marked.
MICE_PER_MILLE = 10


def begin(work: Work) -> Program:
    """Compiles the submission."""
    return compile_program(work, "elephants.p4")


def _sent(program: Program, packets: Sequence[Flow]) -> list[tuple[bool, Life]]:
    """Whether each packet left marked, and what became of it."""
    lives = program.lives([], [(2, flow.frame) for flow in packets])
    result = []
    for flow, life in zip(packets, lives, strict=True):
        if [port for port, _ in life.sent] != [1]:
            raise Refused(
                _story(
                    program,
                    f"A packet of {flow} came in at port 2.",
                    "It leaves by port 1, once.",
                    "The handout: whatever the sketch says, packets go on.",
                    f"{len(life.sent)} packets came out.",
                    life,
                    flow,
                )
            )
        frame = life.sent[0][1]
        dscp = frame[15] >> 2
        same = frame[:15] == flow.frame[:15] and frame[26:] == flow.frame[26:]
        if dscp not in (0, MARK) or not same or not checksum_is_right(frame):
            raise Refused(
                _story(
                    program,
                    f"A packet of {flow} came in at port 2.",
                    f"It leaves as it came, with DSCP 0 or {MARK} and a right header checksum.",
                    "RFC 2474, section 3: of a packet in transit only the DS field is changed.",
                    f"It left with DSCP {dscp}" + ("." if same else ", and other bytes differ."),
                    life,
                    flow,
                )
            )
        result.append((dscp == MARK, life))
    return result


def goes_on(program: Program) -> None:
    """A packet leaves as it came, but for the mark, which one flow has in the end and one not."""
    dice = program.work.dice("goes-on")
    elephant, mouse = any_flow(dice), any_flow(dice)
    sent = _sent(program, [elephant] * (2 * ELEPHANT) + [mouse])
    for flow, (marked, life), words in (
        (elephant, sent[-2], f"Packet {2 * ELEPHANT} of {elephant} came in."),
        (mouse, sent[-1], f"Then the first packet of {mouse} came in, the only other flow."),
    ):
        if marked != (flow is elephant):
            raise Refused(
                _story(
                    program,
                    words,
                    f"It leaves {'unmarked' if marked else 'marked'}.",
                    f"An elephant is a flow with at least {ELEPHANT} packets. Every other case is "
                    "about how well the two are told apart.",
                    f"It left {'marked' if marked else 'unmarked'}.",
                    life,
                    flow,
                )
            )


def threshold(program: Program) -> None:
    """One flow alone: 19 packets leave unmarked, and every one from the 20th on is marked."""
    flow = any_flow(program.work.dice("threshold"))
    for number, (marked, life) in enumerate(_sent(program, [flow] * (ELEPHANT + 5)), 1):
        wanted = number >= ELEPHANT
        if marked != wanted:
            raise Refused(
                _story(
                    program,
                    f"Packet {number} of {flow} came in, and no other flow before it.",
                    f"It leaves {'marked' if wanted else 'unmarked'}.",
                    f"An elephant is a flow with at least {ELEPHANT} packets; alone in the sketch, "
                    "its counters hold exactly its own number.",
                    f"It left {'marked' if marked else 'unmarked'}.",
                    life,
                    flow,
                )
            )


def five_tuple(program: Program) -> None:
    """Flows that differ in a single field are different flows."""
    flow = any_flow(program.work.dice("five-tuple"))
    for field, other in neighbours(flow):
        packets = [flow, other] * (ELEPHANT - 1)
        for number, (marked, life) in enumerate(_sent(program, packets)):
            if marked:
                of = packets[number]
                raise Refused(
                    _story(
                        program,
                        f"{flow} and {other}, which differ in the {field}, sent {ELEPHANT - 1} "
                        "packets each.",
                        "None of them leaves marked.",
                        "The handout: a flow is source, destination, protocol and both ports. Two "
                        "flows may meet in one row, but hardly in all three: 1 in 256^3.",
                        f"Packet {number // 2 + 1} of {of} left marked.",
                        life,
                        of,
                    )
                )


def _trace(program: Program) -> tuple[list[Flow], list[tuple[bool, Life]]]:
    dice = program.work.dice("trace")
    # 8 elephants of 40 packets and 300 mice of 1 to 3: about 920 packets.
    sizes = [40] * 8 + [dice.randrange(1, 4) for _ in range(300)]
    packets = mixed(dice, sizes)
    return packets, _sent(program, packets)


def none_missed(program: Program) -> None:
    """Among hundreds of flows every packet of an elephant from its 20th on is marked."""
    packets, sent = _trace(program)
    seen: Counter[Flow] = Counter()
    for flow, (marked, life) in zip(packets, sent, strict=True):
        seen[flow] += 1
        if seen[flow] >= ELEPHANT and not marked:
            raise Refused(
                _story(
                    program,
                    f"Packet {seen[flow]} of {flow} came in, after {sum(seen.values()) - 1} "
                    "packets of some hundred flows.",
                    "It leaves marked.",
                    "Cormode and Muthukrishnan 2005, theorem 1: each counter of a flow holds at "
                    "least the flow's own packets, so their minimum never falls short.",
                    "It left unmarked.",
                    life,
                    flow,
                )
            )


def few_mice(program: Program) -> None:
    """Among hundreds of flows hardly a mouse is marked."""
    packets, sent = _trace(program)
    sizes = Counter(packets)
    mice = [
        (flow, life, marked)
        for flow, (marked, life) in zip(packets, sent, strict=True)
        if sizes[flow] < ELEPHANT
    ]
    wrong = [(flow, life) for flow, life, marked in mice if marked]
    if len(wrong) * 1000 > MICE_PER_MILLE * len(mice):
        flow, life = wrong[0]
        raise Refused(
            _story(
                program,
                f"{len(mice)} packets of mice, of 3 packets at most, came between those of 8 "
                "elephants.",
                f"At most {MICE_PER_MILLE} of 1000 leave marked.",
                "A mouse is marked if it meets an elephant in every row: 8/256 in one, "
                "(8/256)^3 = 0.00003 in three whose hashes have nothing to do with each other. "
                "CRCs of one polynomial have: crc(a) xor crc(b) is the same whatever constant "
                "stands in front of both, so they meet in all rows or in none.",
                f"{len(wrong)} left marked, the first of {flow}.",
                life,
                flow,
            )
        )


def memory(program: Program) -> None:
    """The sketch is a sketch: some thousand counters for any number of flows."""
    arrays = json.loads(program.compiled.read_text())["register_arrays"]
    cells = sum(int(each["size"]) for each in arrays)
    bits = sum(int(each["size"]) * int(each["bitwidth"]) for each in arrays)
    if not 0 < cells <= CELLS_MAX or bits > BITS_MAX:
        list_of = ", ".join(
            f"{each['name']}: {each['size']} x {each['bitwidth']}" for each in arrays
        )
        raise Refused(
            Story(
                done="The check counted the cells of all registers of the compiled program.",
                expected=f"At least one, at most {CELLS_MAX} of 32 bits.",
                because="A switch has some megabytes of such memory for everything, and a link of "
                "100 Gb/s some hundred thousand flows at a time.",
                came=f"{cells} cells of {bits} bits together: {list_of or 'none'}.",
            )
        )


def _story(
    program: Program, done: str, expected: str, because: str, came: str, life: Life, flow: Flow
) -> Story:
    return Story(
        done=done,
        expected=expected,
        because=because,
        came=came,
        way=tuple(life.steps),
        again=program.again([], 2, flow.frame),
    )


# A program that marks nothing, or everything, is right about half of all packets.
_TELLS_APART = ("goes-on",)

EXERCISE = Exercise(
    name="elephants",
    title="Elephants and mice",
    question="How are the few flows found that fill a line, without room to count them all?",
    minutes=120,
    files=("elephants.p4",),
    begin=begin,
    cases=(
        Case("goes-on", "A packet leaves as it came, a late one of many marked.", 10, goes_on),
        Case(
            "threshold",
            "A flow is marked from its 20th packet on.",
            20,
            threshold,
            behind=_TELLS_APART,
        ),
        Case(
            "five-tuple",
            "Flows that differ in one field are two flows.",
            15,
            five_tuple,
            behind=_TELLS_APART,
        ),
        Case("none-missed", "No elephant is ever missed.", 20, none_missed, behind=_TELLS_APART),
        Case("few-mice", "Hardly a mouse is taken for one.", 20, few_mice, behind=_TELLS_APART),
        Case("memory", "All of it fits 1024 counters.", 15, memory, behind=_TELLS_APART),
    ),
)
