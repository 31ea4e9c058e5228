"""The checks of CoDel in P4: the packets that it spares, its drops, and TCP's results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

from vitrine.v1 import router_pb2

from controller.world import PS_PER_S
from course.exercise import Case, Exercise, Work
from course.story import Moment, Refused, Story
from course.tools.net import Network
from course.tools.network import network, routes, runs, topology
from course.tools.tracer import Program, compile_program
from topo.model import Topology

NAME = "own-aqm"
TARGET_S, INTERVAL_S = 0.005, 0.1
PAYLOAD_BYTES, FRAME_BYTES = 1000, 1042
PORT = 5001
# How much more than the line carries is sent where it is too much: as the handout says, and as
# grading may draw it, so that no table of instants has the drops.
OVERLOAD, OVERLOADS = 1.25, (1.2, 1.25, 1.3, 1.35)
# When the second spell of `ends` begins; in grading between these.
SECOND_S, SECONDS_S = 3.6, (3.2, 3.8)
# By a packet or two of the slowest line, and what rounding to microseconds adds up to.
NEAR_S = 0.003
DROPS_LOOKED_AT = 20
# In a second of overload; a program that drops all packets that waited too long drops more.
DROPS_LEAST, DROPS_MOST = 3, 100
# Around the instant at which the first one is due there; this case is no stricter than it must be
# to tell an attempt.
FIRST_NEAR_S = 0.025
TCP_S = 12
WAIT_MOST_S, LINE_LEAST = 0.015, 0.85
# The fast line of `wait-is-time`.
FAST_BPS, SLOW_BPS = 100_000_000, 1_000_000

_LAW = (
    "RFC 8289, section 5.3: a spell begins when the wait has been above the target for an "
    "interval; the n-th drop of a spell is followed by the next one interval / sqrt(n) after it "
    "was due."
)


@dataclass(frozen=True)
class Bench:
    """The submission, and the line of this student."""

    work: Work
    program: Program
    rate_bps: int
    overload: float = OVERLOAD
    second_s: float = SECOND_S

    @property
    def bad_s(self) -> float:
        """How long after its beginning an overload has made the wait pass the target.

        Of what comes at x times the line, the packet that comes after t has waited (x - 1) t.
        """
        return self.overload * TARGET_S / (self.overload - 1)

    def topology(self, port_2: float = 0, port_3: float = 0) -> Topology:
        """h1 behind a fast line, h2 and h3 behind slow ones."""
        slow, other = (int(each or self.rate_bps) for each in (port_2, port_3))
        return topology(f"""
hosts:
  h1: {{address: 10.0.1.1/24}}
  h2: {{address: 10.0.2.1/24}}
  h3: {{address: 10.0.3.1/24}}
switches:
  s1:
    ports:
      1: {{address: 10.0.1.254/24, rate: 1 Gb/s}}
      2: {{address: 10.0.2.254/24, rate: {slow} b/s, queue: 2000 packets}}
      3: {{address: 10.0.3.254/24, rate: {other} b/s, queue: 2000 packets}}
links:
  - [h1, s1:1]
  - {{ends: [s1:2, h2], delay: 10 ms}}
  - {{ends: [s1:3, h3], delay: 10 ms}}
""")

    def send(self, net: Network, target: str, load: float, span_s: float, after_s: float) -> None:
        """UDP to a host, as a multiple of this student's line."""
        rate_bps = load * self.rate_bps * PAYLOAD_BYTES / FRAME_BYTES
        net.datagrams("h1", target, PORT, rate_bps=rate_bps, span_s=span_s, after_s=after_s)

    @cached_property
    def packet_s(self) -> float:
        """How long the line takes for one packet."""
        return FRAME_BYTES * 8 / self.rate_bps

    def story(
        self, case: str, done: str, expected: str, because: str, came: str, at_s: float
    ) -> Refused:
        """A refusal, and where to look."""
        return Refused(Story(done, expected, because, came, moment=Moment(at_s, case)))


def begin(work: Work) -> Bench:
    """Compiles the submission."""
    program = compile_program(work, "aqm.p4")
    rate_bps = work.own("rate").randrange(8, 15) * 1_000_000
    if not work.secret:
        return Bench(work, program, rate_bps)
    dice = work.dice("spells")
    return Bench(work, program, rate_bps, dice.choice(OVERLOADS), dice.uniform(*SECONDS_S))


def _network(bench: Bench, of: Topology, case: str) -> AbstractContextManager[Network]:
    return network(bench.work, of, runs(bench.program, routes(of)), film=case)


def _drops(told: Sequence[router_pb2.Event]) -> dict[int, list[float]]:
    """When the program dropped something, by port."""
    found: dict[int, list[float]] = {2: [], 3: []}
    for event in told:
        if event.drop.reason == router_pb2.DropReason.EGRESS_PROGRAM:
            found[event.drop.queue.port].append(event.time_ps / PS_PER_S)
    return found


def _spared(bench: Bench, case: str, drops: Sequence[float], done: str, because: str) -> None:
    if drops:
        raise bench.story(
            case, done, "No packet dropped by the program.", because, _list(drops), drops[0]
        )


def _list(drops: Sequence[float]) -> str:
    times = ", ".join(f"{each * 1000:.0f}" for each in drops[:8])
    more = f" ms and {len(drops) - 8} times more" if len(drops) > 8 else " ms"
    return f"It dropped at {times}{more}." if drops else "It dropped nothing."


def goes_on(bench: Bench) -> None:
    """Half of the line is used: nothing is dropped. More than it carries comes: something is."""
    of = bench.topology()
    with _network(bench, of, "goes-on") as net, net.events("s1", drops={}) as told:
        sink = net.sink("h2", PORT)
        bench.send(net, "h2", 0.5, 1.0, 0.0)
        net.let_pass(1.2)
        drops, came = _drops(told())[2], net.flow(sink)
    done = "For a second h1 sent h2 half of what the line carries."
    because = "A line that is not full has no queue, and CoDel is about queues."
    _spared(bench, "goes-on", drops, done, because)
    if not came.received:
        raise bench.story(
            "goes-on", done, "Every packet to arrive at h2.", because, "Nothing arrived.", 0.0
        )
    with _network(bench, of, "goes-on-too-much") as net, net.events("s1", drops={}) as told:
        net.sink("h2", PORT)
        bench.send(net, "h2", bench.overload, 1.1, 0.0)
        net.let_pass(1.1)
        drops = _drops(told())[2]
    first_s = bench.bad_s + INTERVAL_S
    is_in_time = bool(drops) and abs(drops[0] - first_s) <= FIRST_NEAR_S
    if len(drops) < DROPS_LEAST or (len(drops) > DROPS_MOST and not is_in_time):
        raise bench.story(
            "goes-on-too-much",
            f"h1 sent h2 {bench.overload} times what the line carries for 1.1 s.",
            f"{DROPS_LEAST} to {DROPS_MOST} packets to be dropped by the program, or more if the "
            f"first is dropped at about {first_s * 1000:.0f} ms.",
            "The queue stays above the target for all but the first "
            f"{bench.bad_s * 1000:.0f} ms of it, and some 20 drops are due. {_LAW}",
            f"{len(drops)} were dropped. {_list(drops)}",
            1.0,
        )


def burst(bench: Bench) -> None:
    """A burst that is gone within an interval is left alone."""
    of = bench.topology()
    packets = int(0.9 * INTERVAL_S / bench.packet_s)
    with _network(bench, of, "burst") as net, net.events("s1", drops={}) as told:
        net.sink("h2", PORT)
        for after_s in (0.0, 0.3):
            net.datagrams(
                "h1", "h2", PORT, rate_bps=1e9, span_s=0.0001, burst=packets, after_s=after_s
            )
        net.let_pass(0.6)
        drops = _drops(told())[2]
    _spared(
        bench,
        "burst",
        drops,
        f"{packets} packets came at once, for which the line needs 90 ms; so again 0.3 s later.",
        "RFC 8289, section 3: a queue that is gone within an interval absorbs a burst, and is what "
        "queues are for. Only one that stays is bad.",
    )


def _due(first_s: float, count: int) -> list[float]:
    due = [first_s]
    for number in range(1, count):
        due.append(due[-1] + INTERVAL_S / sqrt(number))
    return due


def _spell(
    bench: Bench, case: str, began_s: float, drops: Sequence[float], count: int, done: str
) -> None:
    """The drops of a spell come when they are due."""
    first_s = began_s + bench.bad_s + INTERVAL_S
    came_first = drops[0] if drops else None
    if came_first is None or abs(came_first - first_s) > NEAR_S:
        raise bench.story(
            case,
            done,
            f"The first drop at {first_s * 1000:.0f} ms, give or take {NEAR_S * 1000:.0f}.",
            f"With {bench.overload} times the line the wait passes the target after "
            f"{bench.bad_s * 1000:.0f} ms: x T / (x - 1). " + _LAW,
            _list(drops),
            first_s if came_first is None else came_first,
        )
    due = _due(came_first, count)
    for number, at_s in enumerate(due[1:], 1):
        came_s = drops[number] if number < len(drops) else None
        if came_s is None or abs(came_s - at_s) > NEAR_S:
            raise bench.story(
                case,
                done,
                f"Drop {number + 1} of the spell at {at_s * 1000:.0f} ms, "
                f"{INTERVAL_S * 1000:.0f} / sqrt({number}) = "
                f"{INTERVAL_S * 1000 / sqrt(number):.1f} ms after drop {number} was due.",
                _LAW,
                _list(drops) if came_s is None else f"It came at {came_s * 1000:.0f} ms.",
                at_s,
            )


def spacing(bench: Bench) -> None:
    """While the queue stays, the n-th drop is followed after interval / sqrt(n)."""
    of = bench.topology()
    with _network(bench, of, "spacing") as net, net.events("s1", drops={}) as told:
        net.sink("h2", PORT)
        bench.send(net, "h2", bench.overload, 1.1, 0.0)
        net.let_pass(1.1)
        drops = _drops(told())[2]
    done = (
        f"h1 sent h2 {bench.overload} times what the line carries, by UDP, which never slows down."
    )
    _spell(bench, "spacing", 0.0, drops, DROPS_LOOKED_AT, done)


def ends(bench: Bench) -> None:
    """A spell ends with the queue, and the next one begins anew."""
    of = bench.topology()
    second_s = bench.second_s
    with _network(bench, of, "ends") as net, net.events("s1", drops={}) as told:
        net.sink("h2", PORT)
        bench.send(net, "h2", bench.overload, 0.8, 0.0)
        bench.send(net, "h2", 0.2, second_s - 1.2, 1.2)
        bench.send(net, "h2", bench.overload, 0.6, second_s)
        net.let_pass(second_s + 0.6)
        drops = _drops(told())[2]
    done = (
        f"The line had {bench.overload} times its load for 0.8 s, a fifth of it from 1.2 s on, and "
        f"from {second_s:.2f} s on too much again."
    )
    # The queue of the first spell is gone a quarter of its length later.
    between = [each for each in drops if 1.2 < each < second_s + INTERVAL_S]
    _spared(
        bench,
        "ends",
        between,
        f"{done} Nobody waited between 1.2 and {second_s:.2f} s.",
        "RFC 8289, section 5.2: when the wait falls below the target the drop state is left, and "
        "it takes an interval above the target to come back.",
    )
    later = [each for each in drops if each > second_s]
    _spell(bench, "ends", second_s, later, 4, f"{done} The second spell:")


def ports(bench: Bench) -> None:
    """Each port has a state of its own."""
    of = bench.topology()
    packets = int(0.6 * INTERVAL_S / bench.packet_s)
    with _network(bench, of, "ports") as net, net.events("s1", drops={}) as told:
        net.sink("h2", PORT)
        net.sink("h3", PORT)
        bench.send(net, "h2", bench.overload, 0.8, 0.0)
        bench.send(net, "h3", 0.2, 0.8, 0.0)
        net.datagrams("h1", "h3", PORT, rate_bps=1e9, span_s=0.0001, burst=packets, after_s=0.4)
        net.let_pass(0.8)
        drops = _drops(told())
    done = "Port 2 had too much to do; port 3 a fifth of that, and once a burst of 75 ms."
    because = "A queue is what waits for one line; another line's wait says nothing of it."
    _spared(bench, "ports", drops[3], f"{done} At port 3:", because)
    _spell(bench, "ports", 0.0, drops[2], 8, f"{done} At port 2:")


def wait_is_time(bench: Bench) -> None:
    """Thirty packets are nothing to a fast line, and five are much to a slow one."""
    of = bench.topology(SLOW_BPS, FAST_BPS)
    with _network(bench, of, "wait-is-time") as net, net.events("s1", drops={}) as told:
        for host, packets, line_bps in (("h2", 5, SLOW_BPS), ("h3", 30, FAST_BPS)):
            net.sink(host, PORT)
            # A few at once, then exactly what the line carries: those few wait for ever.
            net.datagrams("h1", host, PORT, rate_bps=1e9, span_s=0.0001, burst=packets)
            rate_bps = line_bps * PAYLOAD_BYTES / FRAME_BYTES
            net.datagrams("h1", host, PORT, rate_bps=rate_bps, span_s=0.4)
        net.let_pass(0.4)
        drops = _drops(told())
    because = (
        "RFC 8289, section 3.1: the wait is what a user feels, and means the same on every line; "
        "so many packets mean something else on each."
    )
    _spared(
        bench,
        "wait-is-time",
        drops[3],
        "On a line of 100 Mb/s 30 packets waited all the time, which is 2.5 ms.",
        because,
    )
    if not drops[2]:
        raise bench.story(
            "wait-is-time",
            "On a line of 1 Mb/s five packets waited all the time, which is 42 ms.",
            "Drops, the first after 100 ms.",
            because,
            _list(drops[2]),
            0.15,
        )


def _tcp(bench: Bench, case: str) -> tuple[float, float]:
    """The mean wait, and the part of the line that was used, with one flow of CUBIC."""
    of = bench.topology()
    with _network(bench, of, case) as net:
        flow = net.transfer("h1", "h2", PORT, span_s=TCP_S, congestion="cubic")
        net.let_pass(TCP_S)
        residence = net.port("s1", 2).counters.queues[0].residence
        acked_bytes = net.report(flow).bulk.acked_bytes
    return residence.mean_ps / PS_PER_S, acked_bytes * 8 / TCP_S / bench.rate_bps


def tcp_delay(bench: Bench) -> None:
    """A TCP flow's queue stays short."""
    wait_s, _ = _tcp(bench, "tcp-delay")
    if wait_s > WAIT_MOST_S:
        raise bench.story(
            "tcp-delay",
            f"h1 sent h2 as much as CUBIC can for {TCP_S} s; 2000 packets may wait.",
            f"A mean wait below {WAIT_MOST_S * 1000:.0f} ms.",
            "CoDel lets TCP's window breathe around what the path holds; without it the queue "
            "fills as far as it goes, to a second and more.",
            f"Packets waited {wait_s * 1000:.0f} ms in the mean.",
            TCP_S / 2,
        )


def tcp_line(bench: Bench) -> None:
    """And the line stays busy."""
    _, used = _tcp(bench, "tcp-line")
    if used < LINE_LEAST:
        raise bench.story(
            "tcp-line",
            f"h1 sent h2 as much as CUBIC can for {TCP_S} s.",
            f"At least {LINE_LEAST:.0%} of the line in data that arrived.",
            "The target of 5 ms is a quarter of the round trip of 20 ms: enough to keep the line "
            "busy when CUBIC goes down to 0.7 of its window (RFC 8289, section 4.3).",
            f"{used:.0%} of the line.",
            TCP_S / 2,
        )


# Without any queue management bursts are left alone and lines are busy.
_MANAGES = ("goes-on",)

EXERCISE = Exercise(
    name=NAME,
    title="A queue that stays short",
    question="How does a router tell a queue that is useful from one that only makes us wait?",
    minutes=150,
    files=("aqm.p4",),
    begin=begin,
    cases=(
        Case(
            "goes-on",
            "Where no queue stays nothing is dropped, where one does some.",
            10,
            goes_on,
            live=True,
        ),
        Case("burst", "A burst of 90 ms is left alone.", 15, burst, live=True, behind=_MANAGES),
        Case(
            "spacing",
            "The n-th drop is followed after interval / sqrt(n).",
            20,
            spacing,
            behind=_MANAGES,
        ),
        Case(
            "ends",
            "A spell ends with the queue, and the next begins anew.",
            15,
            ends,
            behind=_MANAGES,
        ),
        Case("ports", "Each port has a state of its own.", 10, ports, behind=_MANAGES),
        Case(
            "wait-is-time", "What counts is time, not packets.", 10, wait_is_time, behind=_MANAGES
        ),
        Case(
            "tcp-delay",
            "A TCP flow's queue stays short.",
            10,
            tcp_delay,
            live=True,
            behind=_MANAGES,
        ),
        Case("tcp-line", "And the line stays busy.", 10, tcp_line, live=True, behind=_MANAGES),
    ),
)
