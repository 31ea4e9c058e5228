"""The checks of the arbiters: allowed matches, and throughput against theory.

PIM is random, so it is judged by what it carries; iSLIP is not, so every one of its matches is
compared with the built-in one's.
"""

from __future__ import annotations

from course.exercise import Case, Exercise, Work
from course.exercises.head_of_line import numbers
from course.story import Refused, Story
from course.tools.insides import again_line, require_file, simulate
from labs.crossbar_arbiters.theory import SATURATION, WAITS

PORTS = 16
_LEGAL = (
    "A crossbar joins each input to one output at most and each output to one input; "
    "insides/contract.py, Arbiter.match."
)
_ISLIP = (
    "McKeown 1999, section III: grant and accept go round robin, and both pointers move one "
    "beyond the partner only if the grant was accepted in the first iteration."
)


_UNEVEN = (
    "A match in which nobody is left who could be added need not be the largest. Uniform traffic "
    "always offers another pair, uneven traffic often does not: diagonal, two outputs an input, "
    "is the hardest. Known from simulations of McKeown's iSLIP with 16 ports. "
) + _ISLIP
_WAITS = (
    "McKeown 1999, figures 9 to 12: at a load of 0.8 and 16 ports a cell waits for 44.6 slots with "
    "one iteration, and for 3.76 with four, nearly as with output queues, 15/16 x 0.8 / 0.4 = "
    "1.88. "
)
# The tolerance for known values after a few thousand slots.
NEAR_KNOWN, WAIT_NEAR = 0.035, 0.15
LOAD = 0.8
LITTLE, LITTLE_CARRIED = "0.3", 0.8


def begin(work: Work) -> Work:
    """There is nothing to make ready."""
    require_file(work, "arbiter.py")
    return work


def _run(work: Work, which: str, because: str, *more: str, ports: int = PORTS) -> dict[str, float]:
    arguments = ("fabric", "--arbiter", f"./arbiter.py:{which}", "--ports", str(ports), *more)
    options = " ".join(more).replace("--", "")
    return simulate(
        work,
        *arguments,
        because=because,
        done=f"{which} matched {ports} inputs and outputs: {options}.",
    )


def legal(work: Work) -> None:
    """Small and large crossbars, little and much traffic: every match is allowed, none too small.

    A crossbar that matches nobody breaks no rule; so the little traffic must get through.
    """
    seed = str(work.dice("legal").randrange(1, 1 << 30))
    for which in ("Pim:1", "Pim:3", "Islip:1", "Islip:3"):
        for ports, load in ((2, "0.5"), (5, "1"), (16, LITTLE)):
            slots = ("--load", load, "--slots", "300", "--seed", seed)
            found = _run(work, which, _LEGAL, *slots, ports=ports)["throughput"]
            if load == LITTLE and found < LITTLE_CARRIED * float(LITTLE):
                full = ("fabric", "--arbiter", f"{work.folder}/arbiter.py:{which}", *slots)
                raise Refused(
                    Story(
                        done=f"{which} matched {ports} inputs and outputs at a load of {load}.",
                        expected=f"At least {LITTLE_CARRIED:.0%} of that to get through.",
                        because="With so little to do hardly two inputs want the same output, so "
                        "whoever asks is matched at once or in the next slot.",
                        came=f"{found:.3f} cells per slot and output.",
                        again=again_line(work, (*full, "--ports", str(ports))),
                    )
                )


def _carries(work: Work, which: str, least: float, most: float, because: str) -> None:
    seed = str(work.dice(which).randrange(1, 1 << 30))
    more = ("--load", "1", "--slots", "3000", "--warm-up", "1000", "--seed", seed)
    found = _run(work, which, because, *more)["throughput"]
    if not least <= found <= most:
        full = ("fabric", "--arbiter", f"{work.folder}/arbiter.py:{which}", *more)
        raise Refused(
            Story(
                done=f"{which} matched {PORTS} inputs and outputs, each input with a cell in every "
                "slot, for any output alike.",
                expected=f"A throughput of {least} to {most} cells per slot and output.",
                because=because,
                came=f"It carried {found:.3f}.",
                again=again_line(work, full),
            )
        )


def four_patterns(work: Work) -> None:
    """Uneven traffic costs four iterations a part of the line, and how large it is, is known."""
    for pattern, known in SATURATION["islip:4"].items():
        seed = str(work.dice(f"patterns/{pattern}").randrange(1, 1 << 30))
        more = ("--pattern", pattern, "--load", "1", "--slots", "3000", "--warm-up", "1000")
        found = _run(work, "Islip:4", _UNEVEN, *more, "--seed", seed)["throughput"]
        if abs(found - known) > NEAR_KNOWN:
            full = ("fabric", "--arbiter", f"{work.folder}/arbiter.py:Islip:4", *more)
            raise Refused(
                Story(
                    done=f"Islip:4 matched {PORTS} inputs and outputs, each input with a cell in "
                    f"every slot, by the pattern {pattern}.",
                    expected=f"A throughput within {NEAR_KNOWN} of {known} cells per slot and "
                    "output.",
                    because=_UNEVEN,
                    came=f"It carried {found:.3f}.",
                    again=again_line(work, (*full, "--seed", seed)),
                )
            )


def waits(work: Work) -> None:
    """How long a cell waits follows from how good the matches are."""
    for which, known in (("islip:1", WAITS["islip:1"][LOAD]), ("islip:4", WAITS["islip:4"][LOAD])):
        own = which.capitalize()
        seed = str(work.dice(f"waits/{which}").randrange(1, 1 << 30))
        more = ("--load", str(LOAD), "--slots", "6000", "--warm-up", "1000", "--seed", seed)
        found = _run(work, own, _WAITS, *more)["wait_slots"]
        if abs(found - known) > WAIT_NEAR * known:
            full = ("fabric", "--arbiter", f"{work.folder}/arbiter.py:{own}", *more)
            raise Refused(
                Story(
                    done=f"{own} matched {PORTS} inputs and outputs at a load of {LOAD}, uniform "
                    "traffic.",
                    expected=f"A mean wait within {WAIT_NEAR:.0%} of {known} slots.",
                    because=_WAITS,
                    came=f"{found:.2f} slots.",
                    again=again_line(work, full),
                )
            )


def pim_one_round(work: Work) -> None:
    """One round of PIM leaves more than a third of the outputs without a match."""
    _carries(
        work,
        "Pim:1",
        0.62,
        0.67,
        "An output is left out if no input accepts it. With all queues filled each input is "
        "granted by an output with probability 1/N, and is matched if by any: 1 - (1 - 1/N)^N = "
        "0.644 for N = 16, 1 - 1/e = 0.632 for many (Anderson et al. 1993).",
    )


def pim_four_rounds(work: Work) -> None:
    """Four rounds match nearly all inputs."""
    _carries(
        work,
        "Pim:4",
        0.975,
        1.0,
        "Each further round matches three quarters of what is left on average (Anderson et al. "
        "1993, appendix): four rounds carry 0.997 for N = 16.",
    )


def islip_full_line(work: Work) -> None:
    """One round of iSLIP carries everything, because its pointers drift apart."""
    _carries(
        work,
        "Islip:1",
        0.9,
        1.0,
        "With all queues filled a pointer waits until its grant is accepted, so no two outputs "
        "keep pointing at one input, and the crossbar becomes a time-division switch. " + _ISLIP,
    )


def _same(work: Work, rounds: int, pattern: str) -> None:
    seed = str(work.dice(f"{rounds}/{pattern}").randrange(1, 1 << 30))
    more = ("--pattern", pattern, "--load", "0.9", "--slots", "1500", "--seed", seed)
    _run(work, f"Islip:{rounds}", _ISLIP, "--same-as", f"islip:{rounds}", *more, ports=8)


def islip_one_round(work: Work) -> None:
    """Match by match what iSLIP with one iteration does."""
    _same(work, 1, "uniform")


def islip_four_rounds(work: Work) -> None:
    """The same with four iterations, also where traffic is uneven."""
    for pattern in ("uniform", "diagonal"):
        _same(work, 4, pattern)


EXERCISE = Exercise(
    name="head-of-line",
    title="Who may cross",
    question="Why does a queue at the input waste a third of a router, and how is it got back?",
    minutes=150,
    files=("arbiter.py", "numbers.yaml"),
    begin=begin,
    cases=(
        Case("legal", "Each side once, what was asked for, and no less than can be.", 10, legal),
        Case("pim-one-round", "PIM with one round carries what theory says.", 10, pim_one_round),
        Case("pim-four-rounds", "PIM with four carries nearly all.", 10, pim_four_rounds),
        Case("islip-one-round", "iSLIP decides as McKeown's, match by match.", 20, islip_one_round),
        Case("islip-four-rounds", "So it does with four iterations.", 10, islip_four_rounds),
        Case("islip-full-line", "One round of iSLIP carries a full line.", 10, islip_full_line),
        Case("four-patterns", "On four patterns iSLIP carries what is known.", 10, four_patterns),
        Case("waits", "Cells wait as long as is known.", 5, waits),
        Case("numbers", "What FIFO queues cost on four patterns was measured.", 15, numbers.check),
    ),
)
