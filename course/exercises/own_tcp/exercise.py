"""The checks of a congestion control: its throughput, its losses, and the others' share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course.exercise import Case, Exercise, Work
from course.story import Moment, Refused, Story
from course.tools.flows import MSS_BYTES, STEP_S, Flow, Line, Sender, send
from course.tools.insides import require_file

OWN = "tcp.py:MyTcp"
# A buffer of one bandwidth-delay product.
LINE = Line(rate_bps=5_000_000, round_trip_ms=40, queue_packets=17)
# A window that fills this one overflows that one: none suits both.
LONGER = Line(rate_bps=10_000_000, round_trip_ms=70, queue_packets=58)
LOSSES_MOST = 0.015
# How long it sends on each line, and what part of the packets that they carry in that time it must
# send: a window that never overflows the first fills 0.59 of the other.
ADAPTS = (("few-losses", 15, 0.68), ("few-losses-longer", 40, 0.64))
_AIMD = (
    "RFC 5681, section 3.1: one packet more a round trip while nothing is lost, half the window "
    "when something is."
)


@dataclass(frozen=True)
class Bench:
    """The submission, and the lines that it is tried on."""

    work: Work
    line: Line = LINE
    longer: Line = LONGER

    @classmethod
    def of(cls, work: Work) -> Bench:
        """The lines of the handout; in grading others.

        Their round trips are the same there, so a window that is looked up by them suits one only.
        """
        if not work.secret:
            return cls(work)
        dice = work.dice("lines")
        round_trip_ms = dice.randrange(44, 57, 2)
        products = dice.randrange(15, 19), dice.randrange(62, 69)
        return cls(work, *(_line(round_trip_ms, packets) for packets in products))


def _line(round_trip_ms: int, packets: int) -> Line:
    """A line with room for its bandwidth-delay product of so many packets."""
    rate_bps = packets * (MSS_BYTES + 66) * 8 * 1000 // round_trip_ms
    return Line(round(rate_bps, -5), round_trip_ms, packets)


def begin(work: Work) -> Bench:
    """Chooses the lines."""
    require_file(work, "tcp.py")
    return Bench.of(work)


def _send(
    work: Work,
    case: str,
    line: Line,
    senders: Sequence[Sender],
    *,
    because: str,
    seconds: float,
    since_s: float = 0.0,
) -> list[Flow]:
    named = [
        Sender(f"{work.folder}/{each.congestion}", each.begins_s, each.pacing_bps)
        if each.congestion == OWN
        else each
        for each in senders
    ]
    seed = work.dice(case).randrange(1, 1 << 30)
    return send(
        work,
        line,
        named,
        seconds=seconds,
        since_s=since_s,
        seed=seed,
        because=because,
        film=case,
    )


def _refuse(case: str, done: str, expected: str, because: str, came: str, *, at_s: float) -> None:
    raise Refused(Story(done, expected, because, came, moment=Moment(at_s, case)))


def slow_start(bench: Bench) -> None:
    """On an empty, fast path the window doubles every round trip."""
    path = Line(rate_bps=100_000_000, round_trip_ms=100, queue_packets=1000)
    because = (
        "RFC 5681, section 3.1: below the threshold cwnd grows by one packet for each packet that "
        "is acknowledged, so it doubles in a round trip: 10, 20, 40, 80, 160."
    )
    (flow,) = _send(bench.work, "slow-start", path, [Sender(OWN)], because=because, seconds=0.7)
    # The handshake takes a round trip; four later the window has doubled four times.
    before, window = flow.windows[1], flow.windows[5]
    if not 120 <= window <= 330 or before > 40:
        _refuse(
            "slow-start",
            f"MyTcp sent alone through {path.words}.",
            "A window of no more than 40 packets in the first round trip after the handshake, and "
            "of about 160 in the fourth.",
            because,
            f"It was {window} packets; every tenth of a second: "
            + ", ".join(map(str, flow.windows))
            + ".",
            at_s=5 * STEP_S,
        )


def full_line(bench: Bench) -> None:
    """Alone on a line whose buffer holds one bandwidth-delay product, nothing is wasted."""
    because = (
        "A window of W packets is in flight on the path and in the queue. If the buffer holds the "
        "bandwidth-delay product and the window is halved when it overflows, what is left still "
        "fills the path."
    )
    (flow,) = _send(
        bench.work, "full-line", bench.line, [Sender(OWN)], because=because, seconds=12, since_s=2
    )
    share = flow.goodput_bps / bench.line.rate_bps
    # Of each packet of 1514 bytes, 1448 are payload: 95.6 per cent is all there is.
    if share < 0.9:
        _refuse(
            "full-line",
            f"MyTcp sent alone for 12 s through {bench.line.words}.",
            "Payload of at least 90 % of the line from second 2 on; 95.6 % is all there is.",
            f"{because} The product here is {bench.line.window_packets:.0f} packets.",
            f"{share:.1%}; its window every second: {_windows(flow)}.",
            at_s=_lowest_s(flow, 2.0),
        )


def few_losses(bench: Bench) -> None:
    """It finds the limit gently: few packets are sent in vain."""
    window = 2 * bench.line.queue_packets
    because = (
        "With AIMD one packet is lost in each cycle of W/2 round trips, in which 3/8 W^2 packets "
        f"are sent: with W = {window} on the shorter line, {8 / 3 / window**2:.2%}. Slow start "
        "loses up to a window once."
    )
    for (film, seconds, part), line in zip(ADAPTS, (bench.line, bench.longer), strict=True):
        (flow,) = _send(bench.work, film, line, [Sender(OWN)], because=because, seconds=seconds)
        least = round(part * line.rate_bps * seconds / 8 / (MSS_BYTES + 66))
        if flow.loss > LOSSES_MOST or flow.packets < least:
            _refuse(
                film,
                f"MyTcp sent alone for {seconds} s through {line.words}.",
                f"At least {least} packets, of which no more than {LOSSES_MOST:.1%} are sent "
                "again.",
                because,
                f"{flow.packets} packets, of which {flow.sent_again} ({flow.loss:.2%}) were sent "
                f"again; its window every second: {_windows(flow)}.",
                at_s=_highest_s(flow),
            )


def unused_window(bench: Bench) -> None:
    """A window that is not used says nothing about the path, and does not grow."""
    because = (
        "RFC 7661: acknowledgments of a sender that does not fill its window do not show that the "
        "path would take more. path.cwnd_limited says whether it fills it."
    )
    slow = Sender(OWN, pacing_bps=1_000_000)
    path = Line(rate_bps=100_000_000, round_trip_ms=bench.line.round_trip_ms, queue_packets=1000)
    (flow,) = _send(bench.work, "unused-window", path, [slow], because=because, seconds=8)
    # The first second is slow start's.
    largest = max(flow.windows[10:])
    if largest > 20:
        _refuse(
            "unused-window",
            f"MyTcp sent for 8 s through {path.words}, but its application handed over no more "
            "than 1 Mb/s: some four packets a round trip.",
            "A window of no more than 20 packets from second 1 on.",
            because,
            f"A window of {largest} packets; every second: {_windows(flow)}.",
            at_s=_highest_s(flow),
        )


def rough_line(bench: Bench) -> None:
    """Where packets are lost by chance it gets what theory promises."""
    share = 0.005
    path = Line(
        rate_bps=50_000_000, round_trip_ms=40, queue_packets=1000, loss=f"{share * 100:g} %"
    )
    # Packets in flight in the mean (Mathis, Semke, Mahdavi and Ott 1997).
    window = math.sqrt(1.5 / share)
    promised_bps = window * MSS_BYTES * 8 / (path.round_trip_ms / 1000)
    because = (
        "Mathis, Semke, Mahdavi and Ott 1997: a window that grows by one a round trip and is "
        f"halved at each loss is sqrt(3/2 / p) packets in the mean, {window:.1f} for p = "
        f"{share:.1%}."
    )
    (flow,) = _send(
        bench.work, "rough-line", path, [Sender(OWN)], because=because, seconds=20, since_s=2
    )
    if flow.goodput_bps < 0.6 * promised_bps:
        _refuse(
            "rough-line",
            f"MyTcp sent alone for 20 s through {path.words}.",
            f"At least 0.6 of {promised_bps / 1e6:.2f} Mb/s.",
            because,
            f"{flow.goodput_bps / 1e6:.2f} Mb/s; its window every second: {_windows(flow)}.",
            at_s=_lowest_s(flow, 2.0),
        )


def room_for_itself(bench: Bench) -> None:
    """A later flow gets as much."""
    because = (
        "Chiu and Jain 1989: additive increase keeps the difference of two windows, and "
        "multiplicative decrease shrinks it, so they come to be equal from wherever they begin."
    )
    senders = [Sender(OWN), Sender(OWN, begins_s=4)]
    flows = _send(
        bench.work, "room-for-itself", bench.line, senders, because=because, seconds=30, since_s=12
    )
    _require_share(
        "room-for-itself",
        flows,
        0.3,
        12,
        f"Two flows of MyTcp shared {bench.line.words}, the second from second 4 on.",
        "Each to have between 30 and 70 % of what both had from second 12 to 30.",
        because,
    )


def room_for_cubic(bench: Bench) -> None:
    """Beside CUBIC, which most machines speak, neither goes hungry."""
    because = (
        "RFC 9438, section 4.3: where the round trip is short CUBIC grows as Reno does, so that "
        f"both get about the same. {_AIMD}"
    )
    senders = [Sender(OWN), Sender("cubic")]
    flows = _send(
        bench.work, "room-for-cubic", bench.line, senders, because=because, seconds=30, since_s=5
    )
    _require_share(
        "room-for-cubic",
        flows,
        0.25,
        5,
        f"MyTcp and CUBIC shared {bench.line.words}.",
        "Each to have between 25 and 75 % of what both had from second 5 to 30.",
        because,
    )


def _require_share(
    case: str,
    flows: Sequence[Flow],
    least: float,
    since_s: float,
    done: str,
    expected: str,
    because: str,
) -> None:
    both = sum(flow.goodput_bps for flow in flows)
    share = flows[0].goodput_bps / both
    if not least <= share <= 1 - least:
        _refuse(
            case,
            done,
            expected,
            because,
            f"The first had {share:.1%}, the other {1 - share:.1%}; the first one's window every "
            f"second: {_windows(flows[0])}.",
            at_s=_lowest_s(min(flows, key=lambda flow: flow.goodput_bps), since_s),
        )


def _lowest_s(flow: Flow, since_s: float) -> float:
    """When its window was smallest: there it has given away the most."""
    looked_at = range(round(since_s / STEP_S), len(flow.windows))
    return STEP_S * (min(looked_at, key=lambda step: flow.windows[step]) + 1)


def _highest_s(flow: Flow) -> float:
    """When its window was largest, but for the first second, which is slow start's."""
    looked_at = range(10, len(flow.windows))
    return STEP_S * (max(looked_at, key=lambda step: flow.windows[step]) + 1)


def _windows(flow: Flow) -> str:
    return ", ".join(map(str, flow.windows[9::10]))


# A window that never changes fills a line, or loses nothing, or shares: whatever it was chosen for.
_ADAPTS = ("few-losses",)

EXERCISE = Exercise(
    name="own-tcp",
    title="A TCP of your own",
    question="How much may you send, if nobody tells you how much the path takes?",
    minutes=120,
    files=("tcp.py",),
    begin=begin,
    cases=(
        Case("slow-start", "The window doubles every round trip at first.", 15, slow_start),
        Case("few-losses", "It sends much, and little in vain, on two lines.", 15, few_losses),
        Case("full-line", "Alone it fills the line.", 15, full_line, behind=_ADAPTS),
        Case(
            "unused-window",
            "A window that is not used does not grow.",
            10,
            unused_window,
            behind=_ADAPTS,
        ),
        Case(
            "rough-line",
            "Where packets are lost it gets what it should.",
            15,
            rough_line,
            behind=_ADAPTS,
        ),
        Case("room-for-itself", "Two of them share.", 15, room_for_itself, behind=_ADAPTS),
        Case(
            "room-for-cubic",
            "Beside CUBIC neither goes hungry.",
            15,
            room_for_cubic,
            behind=_ADAPTS,
        ),
    ),
)
