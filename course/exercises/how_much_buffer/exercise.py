"""The checks of buffer sizes: predictions against formulas, measurements, and a rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from course.exercise import Case, Exercise, Work
from course.exercises.how_much_buffer.measure import NAME, WARM_UP_S, Line, measure
from course.story import Moment, Refused, Story
from course.tools.documents import finite, yaml_content
from labs.expression import ExpressionError, number

FILE = "answers.yaml"
_RULE_MAX = 200
# The dice of the check's own runs: others than those of the command.
_SEED = 77
USED_LEAST, BUFFER_MOST = 0.95, 2.0
NEAR_USED = 0.03


@dataclass(frozen=True)
class Bench:
    """The student's results, and the line they are about."""

    work: Work
    line: Line
    answers: Mapping[str, object]

    def number(self, part: str, key: str) -> float:
        """A number of the answers; refused where there is none."""
        inside = self.answers.get(part)
        value = inside.get(key) if isinstance(inside, dict) else None
        found = finite(value)
        if found is not None:
            return found
        raise Refused(
            Story(
                done=f"The check looked for {part}: {key} in {FILE}.",
                expected="A finite number.",
                because="Without it there is nothing to compare.",
                came=f"{str(value)[:60]!r}.",
            )
        )


def begin(work: Work) -> Bench:
    """Reads the answers."""
    found = yaml_content(work, FILE)
    if not isinstance(found, dict):
        raise Refused(
            Story(
                done=f"The check read {FILE}.",
                expected="The fields of the file that you began with, filled in.",
                because="Each field is looked at by itself.",
                came="There are no fields in it.",
            )
        )
    return Bench(work, Line.of(work), found)


# ---- formulas ------------------------------------------------------------------------------------


def one_flow_uses(share: float) -> float:
    """One Reno flow's use of a line with `share` of a bandwidth-delay product as buffer.

    In units of the product its window goes from (1 + b) / 2 to 1 + b, by one packet a round trip.
    Below 1 a round trip takes as long as the path, above it the line is full.
    """
    top = 1 + share
    low = top / 2
    packets = (top**2 - low**2) / 2
    time = max(0.0, 1 - low) + (top**2 - max(1.0, low) ** 2) / 2
    return packets / time


def one_flow_loses(bdp_packets: float, share: float) -> float:
    """One packet of each sawtooth of Reno's window, which has 3/8 of the square of its top."""
    top = bdp_packets * (1 + share)
    return 8 / (3 * top**2)


_SAWTOOTH = (
    "Reno's window climbs by a packet a round trip to W = BDP + B, then halves. While it is below "
    "the BDP the line has pauses; with B = BDP it never is. "
)


def _near(
    bench: Bench,
    part: str,
    key: str,
    right: float,
    within: float,
    what: str,
    because: str,
    film: str = "",
) -> None:
    said = bench.number(part, key)
    if not abs(said - right) <= within:
        raise Refused(
            Story(
                done=f"{bench.line} The answers say {part}: {key}: {said:g}.",
                expected=f"{what}: {right:.4g}, give or take {within:.2g}.",
                because=because,
                came=f"{said:g}, which is {'more' if said > right else 'less'}.",
                moment=_moment(film) if film else None,
            )
        )


def _moment(film: str) -> Moment:
    """When flows have parted and measuring begins."""
    return Moment(WARM_UP_S, film)


# ---- cases ---------------------------------------------------------------------------------------


def bdp(bench: Bench) -> None:
    """The bandwidth-delay product of the line."""
    right = bench.line.bdp_packets
    _near(
        bench,
        "predicted",
        "bdp_packets",
        right,
        0.02 * right,
        "Rate x round trip",
        "What is under way when the line is just full: rate x round trip / (8 x 1514) packets.",
    )


def predicted_use(bench: Bench) -> None:
    """One flow's use of the line with a short buffer."""
    _near(
        bench,
        "predicted",
        "used_tenth",
        one_flow_uses(0.1),
        0.02,
        "The part of the line that one flow uses with B = BDP/10",
        _SAWTOOTH + "With b = B/BDP it sends ((1+b)^2 - ((1+b)/2)^2) / 2 in the time "
        "1 - (1+b)/2 + ((1+b)^2 - 1) / 2; b = 0 gives 3/4.",
    )


def predicted_loss(bench: Bench) -> None:
    """One flow's losses with a buffer of one product."""
    right = one_flow_loses(bench.line.bdp_packets, 1)
    _near(
        bench,
        "predicted",
        "lost_full",
        right,
        0.15 * right,
        "The part of its packets that one flow loses with B = BDP",
        _SAWTOOTH + "One packet is lost for each sawtooth of 3/8 W^2 packets: 8 / (3 W^2) (Mathis, "
        "Semke, Mahdavi and Ott 1997).",
    )


def predicted_many(bench: Bench) -> None:
    """The buffer for many flows."""
    line = bench.line
    right = line.bdp_packets / math.sqrt(line.flows)
    _near(
        bench,
        "predicted",
        "buffer_many_packets",
        right,
        max(1.0, 0.06 * right),
        f"The buffer that {line.flows} flows need",
        "Appenzeller, Keslassy and McKeown 2004: the windows of n flows that are not in step vary "
        "by 1/sqrt(n) of what one flow's does, so BDP/sqrt(n) is enough.",
    )


def measured_one(bench: Bench) -> None:
    """One flow was measured."""
    line = bench.line
    for key, share in (("used_tenth", 0.1), ("used_full", 1.0)):
        buffer, film = max(1, round(share * line.bdp_packets)), f"one-flow-{share:g}"
        found = measure(bench.work, line, 1, buffer, _SEED, film)
        because = "So the check measured it, with other dice; the formula says "
        because += f"{one_flow_uses(share):.3f} of the line."
        what = f"The part of the line that one flow uses with {share:g} BDP of buffer"
        _near(bench, "measured", key, found.used, NEAR_USED, what, because, film)
        if share == 1.0:
            what = "The mean wait of one flow with B = BDP, in ms"
            wait_ms = found.wait_s * 1000
            _near(bench, "measured", "wait_full_ms", wait_ms, 0.15 * wait_ms, what, because, film)
            what = "The part of its packets that one flow loses with B = BDP"
            lost = found.lost
            _near(bench, "measured", "lost_full", lost, 0.4 * lost, what, because, film)


def measured_many(bench: Bench) -> None:
    """Many flows were measured."""
    line = bench.line
    buffer = max(1, round(line.bdp_packets / math.sqrt(line.flows)))
    found = measure(bench.work, line, line.flows, buffer, _SEED, "many-flows")
    _near(
        bench,
        "measured",
        "used_many",
        found.used,
        NEAR_USED,
        f"The part of the line that {line.flows} flows use with {buffer} packets of buffer",
        "So the check measured it, with other dice.",
        "many-flows",
    )


def rule(bench: Bench) -> None:
    """A rule for lines that are new to it."""
    dice = bench.work.dice("rule")
    text = str(bench.answers.get("rule", ""))[:_RULE_MAX]
    for film in ("rule-1", "rule-2"):
        line = Line(dice.randrange(8, 15) * 1_000_000, dice.randrange(40, 71, 2) / 1000, 0)
        flows = dice.choice((4, 9, 16))
        buffer = _ruled(text, line, flows)
        most = BUFFER_MOST * line.bdp_packets / math.sqrt(flows)
        done = (
            f"The rule {text!r} was used for {line.rate_bps / 1e6:.0f} Mb/s, a round trip of "
            f"{line.rtt_s * 1000:.0f} ms and {flows} flows: {buffer} packets."
        )
        if not 1 <= buffer <= most:
            raise Refused(
                Story(
                    done=done,
                    expected=f"At least one packet, and at most {most:.0f}.",
                    because="Appenzeller, Keslassy and McKeown 2004: BDP/sqrt(n) is enough. Twice "
                    "that is allowed here; what is more only makes packets wait.",
                    came=f"{buffer} packets.",
                )
            )
        found = measure(bench.work, line, flows, buffer, dice.randrange(1, 1 << 30), film)
        if found.used < USED_LEAST:
            raise Refused(
                Story(
                    done=done,
                    expected=f"At least {USED_LEAST:.0%} of the line used.",
                    because="Appenzeller, Keslassy and McKeown 2004: with BDP/sqrt(n) the sum of "
                    "the windows hardly ever falls below the BDP. rate_bps is in bits and rtt_s in "
                    "seconds.",
                    came=f"{found.used:.1%} of the line; packets waited "
                    f"{found.wait_s * 1000:.1f} ms in the mean.",
                    moment=_moment(film),
                )
            )


def _ruled(text: str, line: Line, flows: int) -> int:
    values = {"rate_bps": line.rate_bps, "rtt_s": line.rtt_s, "flows": flows}
    try:
        found = number(text, values)
        if math.isfinite(found):
            return round(found)
        why = "it gives no finite number"
    except (ExpressionError, ArithmeticError, RecursionError) as error:
        why = str(error)
    raise Refused(
        Story(
            done=f"The check computed the rule {text!r} from {values}.",
            expected="A number of packets.",
            because=f"{FILE} says what a rule may be made of.",
            came=f"It cannot be computed: {why}.",
        )
    )


def own(work: Work) -> str:
    """A student's own line."""
    return str(Line.of(work))


EXERCISE = Exercise(
    name=NAME,
    title="How much buffer",
    question="How many packets must a router be able to hold, so that TCP keeps its line busy?",
    minutes=90,
    files=(FILE,),
    begin=begin,
    own=own,
    cases=(
        Case("bdp", "The bandwidth-delay product is right.", 10, bdp),
        Case("predicted-use", "So is what one flow uses with a short buffer.", 15, predicted_use),
        Case("predicted-loss", "And what it loses with a long one.", 15, predicted_loss),
        Case("predicted-many", "And what many flows need.", 15, predicted_many),
        Case("measured-one", "What one flow does was measured.", 15, measured_one),
        # It is measured with the buffer that was predicted, and nearly 1.
        Case(
            "measured-many",
            "What many flows do was measured.",
            15,
            measured_many,
            behind=("predicted-many",),
        ),
        Case("rule", "A rule holds on lines that nobody has seen.", 15, rule),
    ),
)
