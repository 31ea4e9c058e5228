"""The checks of a scheduler: the bytes and the wait of each class, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course.exercise import Case, Exercise, Work
from course.story import Refused, Story
from course.tools.insides import again_line, require_file, simulate

RATE = "10 Mb/s"
VOICE_SHARE = 0.03
_DRR = (
    "Shreedhar and Varghese 1995: in its turn a class is granted weight x quantum bytes (1514 "
    "here) on top of what it left, and sends while that covers its first packet; a class that "
    "runs empty loses what it has, and its turn is over."
)
_WFQ = (
    "Demers, Keshav and Shenker 1989: a packet's tag is the virtual time at which a fluid server, "
    "busy with all classes at once, is done with it: its length / weight after the last tag of its "
    "class, or after now where the class was idle. The smallest tag goes first."
)


def begin(work: Work) -> Work:
    """There is nothing to make ready."""
    require_file(work, "scheduler.py")
    return work


def _arguments(work: Work, purpose: str, *more: str, of: str = "Drr") -> tuple[str, ...]:
    seed = str(work.dice(purpose).randrange(1, 1 << 30))
    limits = ("--limits", "200", "--seconds", "4", "--seed", seed)
    return ("queue", "--rate", RATE, "--scheduler", f"./scheduler.py:{of}", *more, *limits)


def _run(work: Work, because: str, arguments: tuple[str, ...], done: str) -> list[dict[str, Any]]:
    return list(simulate(work, *arguments, because=because, done=done)["classes"])


def _refuse(
    work: Work, arguments: tuple[str, ...], done: str, expected: str, because: str, came: str
) -> None:
    full = [each.replace("./", f"{work.folder}/") for each in arguments]
    raise Refused(Story(done, expected, because, came, again=again_line(work, full)))


def equal_bytes(work: Work) -> None:
    """Short packets and long ones, both without end: each class gets half of the line."""
    arguments = _arguments(work, "equal", "--loads", "1,1", "--lengths", "64,1500")
    done = f"Two classes of weight 1 filled a line of {RATE}, one with 64 bytes, one with 1500."
    shares = [each["share_of_line"] for each in _run(work, _DRR, arguments, done)]
    if max(abs(share - 0.5) for share in shares) > 0.01:
        _refuse(
            work,
            arguments,
            done,
            "Half of the line for each, to one per cent of it.",
            "While both wait, the bytes that they have sent differ by one quantum and two packets "
            "at most. Round robin by packets would give 64/1564 = 4.1 and 95.9 per cent.",
            " and ".join(f"{share:.1%}" for share in shares) + ".",
        )


def weights(work: Work) -> None:
    """Three classes that all want everything get what their weights say."""
    wanted = work.dice("weights").sample((1, 2, 3, 5), 3)
    text = ",".join(map(str, wanted))
    arguments = _arguments(
        work, "weights", "--loads", "1,1,1", "--lengths", "200,1500,700", "--weights", text
    )
    done = f"Three classes of weights {text} filled a line of {RATE}."
    shares = [each["share_of_line"] for each in _run(work, _DRR, arguments, done)]
    right = [weight / sum(wanted) for weight in wanted]
    if max(abs(share - due) for share, due in zip(shares, right, strict=True)) > 0.015:
        _refuse(
            work,
            arguments,
            done,
            "Of the line " + ", ".join(f"{due:.1%}" for due in right) + ".",
            "A class of weight w is granted w x 1514 bytes in each round.",
            ", ".join(f"{share:.1%}" for share in shares) + ".",
        )


def nothing_wasted(work: Work) -> None:
    """Bandwidth that one class does not use goes to the other."""
    arguments = _arguments(work, "wasted", "--loads", "0.2,1.2", "--lengths", "300,1500")
    done = f"One class wanted a fifth of a line of {RATE}, the other more than all of it."
    shares = [each["share_of_line"] for each in _run(work, _DRR, arguments, done)]
    if sum(shares) < 0.99 or abs(shares[0] - 0.2) > 0.03:
        _refuse(
            work,
            arguments,
            done,
            "A fifth for the first, the rest for the second, and nothing left over.",
            "A scheduler that conserves work is never idle while anybody waits, and max-min "
            "fairness gives whoever wants less than its share what it wants.",
            " and ".join(f"{share:.1%}" for share in shares) + ".",
        )


@dataclass(frozen=True)
class _Patience:
    """How long voice may wait beside two classes that always have packets, and why."""

    scheduler: str
    rule: str
    # In bytes of the line, and what they are.
    bound_bytes: float
    because: str


_DRR_WAITS = _Patience(
    "Drr",
    _DRR,
    1500 + 2 * (1514 + 1499),
    "It waits for the packet under way, and for a turn of each other class: a quantum and what was "
    "left of the last one, (1500 + 2 x (1514 + 1499)) x 8 bits at 10 Mb/s.",
)
# Done after 64 bytes at a third of the line, and the packet under way, less its own bytes.
_WFQ_WAITS = _Patience(
    "Wfq",
    _WFQ,
    3 * 64 + 1500 - 64,
    "Parekh and Gallager 1993: a packet is done at most one longest packet later than with a line "
    "of its class's share for itself: 64 bytes at a third of the line and 1500 bytes at all of it, "
    "less its own 64.",
)


def _short_wait(work: Work, waits: _Patience) -> None:
    """Class 2 is voice; ties among the others go to the lower class, so it gets no favour."""
    loads = ("--loads", f"1,1,{VOICE_SHARE}", "--lengths", "1500,1500,64", "--arrivals", "constant")
    arguments = _arguments(work, f"{waits.scheduler}-wait", *loads, of=waits.scheduler)
    done = f"Voice (64 bytes, 3 per cent of {RATE}) shared the line with two classes without end."
    classes = _run(work, waits.rule, arguments, done)
    shares = [each["share_of_line"] for each in classes]
    # Nobody waits in a class that is never served.
    if shares[2] < VOICE_SHARE / 2 or min(shares[:2]) < 0.45:
        _refuse(
            work,
            arguments,
            done,
            f"Voice to get at least half of the {VOICE_SHARE:.0%} that it wants, and the others "
            "45 % or more each.",
            "All three have weight 1, and who wants less than a third gets what it wants.",
            ", ".join(f"{share:.1%}" for share in shares) + ".",
        )
    wait_us = classes[2]["wait_max_us"]
    # 0.8 us a byte at 10 Mb/s.
    bound_us = waits.bound_bytes * 0.8
    if wait_us > bound_us:
        _refuse(
            work,
            arguments,
            done,
            f"No packet of voice to wait longer than {bound_us / 1000:.2f} ms.",
            waits.because,
            f"One waited {wait_us / 1000:.2f} ms.",
        )


def short_wait(work: Work) -> None:
    """A class that sends little waits for a round at most, however much the others want."""
    _short_wait(work, _DRR_WAITS)


def _same(work: Work, purpose: str, *more: str) -> None:
    arguments = _arguments(work, purpose, "--same-as", "drr", *more)
    options = " ".join(more).replace("--", "")
    _run(work, _DRR, arguments, f"Drr served classes turn by turn beside the built-in: {options}.")


def turn_by_turn(work: Work) -> None:
    """The same class at every turn as the built-in DRR, while all have packets."""
    _same(work, "turns", "--loads", "1,1,1", "--lengths", "64,1500,imix", "--weights", "1,2,3")


def empty_keeps_nothing(work: Work) -> None:
    """The same with classes that run empty again and again."""
    bursts = ("--arrivals", "onoff:6,onoff:3,poisson")
    _same(work, "empty", "--loads", "0.3,0.3,0.3", "--lengths", "1500,300,imix", *bursts)


def wfq_short_wait(work: Work) -> None:
    """Under WFQ a class that sends little waits for one packet, and as if it had its share."""
    _short_wait(work, _WFQ_WAITS)


def wfq_turn_by_turn(work: Work) -> None:
    """The same class at every turn as the built-in WFQ, with bursts and pauses."""
    loads = ("--loads", "0.4,0.4,0.4", "--lengths", "64,1500,imix", "--weights", "1,2,3")
    bursts = ("--arrivals", "onoff:6,onoff:3,poisson")
    arguments = _arguments(work, "wfq", "--same-as", "wfq", *loads, *bursts, of="Wfq")
    options = " ".join((*loads, *bursts)).replace("--", "")
    done = f"Wfq served classes turn by turn beside the built-in: {options}."
    _run(work, _WFQ, arguments, done)


# A line stays busy in any order of service; other claims about that count where bytes are shared.
_BYTES = ("equal-bytes",)

EXERCISE = Exercise(
    name="fair-queues",
    title="Fair queues",
    question="How do classes share a line by bytes, if one has long packets and one short ones?",
    minutes=180,
    files=("scheduler.py",),
    begin=begin,
    cases=(
        Case("equal-bytes", "64 bytes against 1500: half of the line each.", 15, equal_bytes),
        Case("weights", "Shares follow the weights.", 10, weights),
        Case(
            "nothing-wasted", "What one leaves, the other gets.", 10, nothing_wasted, behind=_BYTES
        ),
        Case(
            "short-wait", "Who sends little waits a round at most.", 10, short_wait, behind=_BYTES
        ),
        Case("turn-by-turn", "Every turn is that of DRR.", 15, turn_by_turn),
        Case("empty-keeps-nothing", "So it is where queues run empty.", 10, empty_keeps_nothing),
        Case("wfq-short-wait", "Under WFQ it waits for one packet.", 15, wfq_short_wait),
        Case("wfq-turn-by-turn", "Every turn is that of WFQ.", 15, wfq_turn_by_turn),
    ),
)
