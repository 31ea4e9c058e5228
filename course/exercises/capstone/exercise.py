"""The checks of a whole router: its behaviour in networks, and nothing of its construction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from controller.p4info import P4Info
from course.exercise import Case, Exercise, Work
from course.exercises.control_plane import roads
from course.exercises.control_plane.fabric import Compiled, Fabric, asked_of, led
from course.story import Moment, Refused, Story
from course.tools.insides import require_file
from course.tools.network import topology
from course.tools.tracer import compile_program
from topo.model import Topology

NAME = "capstone"
PROGRAM, CONTROL = "router.p4", "control.py"
SETTLED_S, MENDED_S = 2.0, 1.0
SINK, BULK = 7000, 5201
# In the middle of the calls.
_VOICE_S = SETTLED_S + 2.0
# Every port has two classes, the higher of which goes first.
CLASSES = ", classes: 2, queue: 1000 packets"
# The line of the cases voice and challenge.
LINE_BPS, LINE_MS = 10_000_000, 10
FRAME_BYTES = 1514
CALLS, CALL_BPS, CALL_BYTES = 4, 80_000, 200
FLOWS = 4
# The least requirements of the challenge.
USE_LEAST, WAIT_MOST_MS = 0.85, 30.0
# The part of the line's bytes with which a queue counts there.
PART_LEAST = 0.02

_ROUTER = "RFC 1812, sections 4.2 and 5.2: what the exercises first-router and control-plane ask. "
_PRIORITY = (
    "With strict priority a call waits for the one packet that is being sent, and for other calls. "
)
_AQM = "RFC 8289 (CoDel), or any other: a queue that is never empty only makes everybody wait. "


@dataclass(frozen=True)
class Bench:
    """The submission: its routers' programs, and their control planes."""

    work: Work
    compiled: Compiled

    @contextmanager
    def network(
        self, of: Topology, case: str, costs: dict[tuple[str, int], int] | None = None
    ) -> Iterator[Fabric]:
        """A network of this router alone, in which the ways are known."""
        asked = asked_of(of, costs=costs)
        own = {each.name: self.compiled for each in of.switches}
        with led(self.work, of, asked, lambda _: self.work.folder, film=case, own=own) as fabric:
            fabric.let_pass(SETTLED_S)
            yield fabric


def begin(work: Work) -> Bench:
    """Compiles the program."""
    require_file(work, CONTROL)
    program = compile_program(work, PROGRAM)
    return Bench(work, (P4Info.load(program.p4info), program.compiled.read_bytes()))


def voice_port(work: Work) -> int:
    """The UDP port of this team's calls."""
    return work.own("calls").randrange(16384, 32768, 2)


def own(work: Work) -> str:
    """This team's own parameters."""
    return f"Your calls go to UDP port {voice_port(work)}."


def _refused(
    done: str, expected: str, because: str, came: str, at_s: float, film: str = ""
) -> Refused:
    return Refused(Story(done, expected, because, came, moment=Moment(at_s, film)))


def _ping(fabric: Fabric, host: str, to: str, count: int = 1) -> int:
    return fabric.net.ping(host, to, count, interval_s=0.2)


_ONE = f"""
gateways: learned
hosts:
  h1: {{address: 10.0.1.1/24}}
  h2: {{address: 10.0.2.1/24}}
switches:
  s1:
    ports:
      1: {{address: 10.0.1.254/24, rate: 100 Mb/s{CLASSES}}}
      2: {{address: 10.0.2.254/24, rate: 100 Mb/s{CLASSES}}}
links:
  - [h1, s1:1]
  - [h2, s1:2]
"""


def answers(bench: Bench) -> None:
    """The router answers ARP and pings to each of its addresses."""
    with bench.network(topology(_ONE), "answers") as fabric:
        for target in ("10.0.1.254", "10.0.2.254"):
            app, asked_s = _ping(fabric, "h1", target, 3), fabric.now_s
            fabric.let_pass(1.0)
            echoes = len(fabric.net.report(app).ping.echoes)
            if echoes < 3:
                raise _refused(
                    f"h1 pinged {target}, an address of its router, three times.",
                    "Three answers.",
                    _ROUTER + "The program sends up what is for the router, and lets out what the "
                    "controller sends.",
                    f"{echoes}.",
                    asked_s,
                )


def unreachable(bench: Bench) -> None:
    """The sender of a packet to an address without a route is notified."""
    with bench.network(topology(_ONE), "unreachable") as fabric:
        app = _ping(fabric, "h1", "10.99.0.1", 2)
        fabric.let_pass(1.0)
        told = fabric.net.report(app).ping.unreachable
        if told < 2:
            raise _refused(
                "h1 pinged 10.99.0.1 twice; there is no route to it.",
                "Each to be answered by ICMP, type 3.",
                _ROUTER + "What no entry fits goes to the controller, too.",
                f"h1 was told of {told}.",
                SETTLED_S,
            )


def reaches(bench: Bench) -> None:
    """Every host reaches every other one."""
    dice = bench.work.dice("reaches")
    net = roads.drawn(dice, dice.choice((4, 5)), CLASSES)
    with bench.network(net.topology, "reaches", net.costs) as fabric:
        all_reach(fabric, "your routers")


def all_reach(fabric: Fabric, whose: str) -> None:
    """Every host pings every other one; refused where no answer comes."""
    names = [host.name for host in fabric.net.topology.hosts]
    pings = {
        _ping(fabric, one, other): (one, other) for one in names for other in names if one != other
    }
    fabric.let_pass(1.5)
    for app, (one, other) in pings.items():
        if not fabric.net.report(app).ping.echoes:
            raise _refused(
                f"{len(fabric.controls)} routers, {whose}, had {SETTLED_S:.0f} s to find ways; "
                "then every host pinged every other one.",
                f"An answer from {other} to {one}.",
                _ROUTER,
                "None came within 1.5 s.",
                SETTLED_S,
            )


def cut(bench: Bench) -> None:
    """A cut cable is gone round within a second."""
    net = roads.drawn(bench.work.dice("cut"), 4, CLASSES)
    with bench.network(net.topology, "cut", net.costs) as fabric:
        sink = fabric.net.sink("h3", SINK)
        fabric.net.datagrams("h1", "h3", SINK, rate_bps=160_000, span_s=4, payload_bytes=200)
        ports = [port.number for port in net.topology.switch("s1").ports if port.number != 1]
        before = {port: _departed(fabric, "s1", port) for port in ports}
        fabric.let_pass(0.5)
        used = max(ports, key=lambda port: _departed(fabric, "s1", port) - before[port])
        at_s = fabric.now_s
        fabric.net.cut("s1", used)
        fabric.let_pass(MENDED_S)
        received = fabric.net.flow(sink).received
        fabric.let_pass(0.5)
        came = fabric.net.flow(sink).received - received
        if came < 45:
            raise _refused(
                f"h1 sent h3 100 datagrams a second. At {at_s:.1f} s the cable at port {used} of "
                "s1, on their way, was cut.",
                f"All 50 of the half second that begins {MENDED_S:.0f} s later to arrive.",
                "Control-plane, rules 1, 2 and 6: 0.7 s without a hello, then all compute anew.",
                f"{came} arrived.",
                at_s,
            )


def _departed(fabric: Fabric, router: str, port: int) -> int:
    return int(fabric.net.port(router, port).counters.counters.departed.packets)


def others(bench: Bench) -> None:
    """A ring of routers of different teams."""
    net = roads.drawn(bench.work.dice("others"), 4, CLASSES)
    folders = {each.name: bench.work.folder for each in net.topology.switches}
    whose = "all of them yours"
    own_programs = {"s1": bench.compiled, "s3": bench.compiled}
    if roads.PEERS.is_dir():
        whose = "two of them yours, the others with the kit's program and other controllers"
        for name, folder in zip(("s2", "s4"), sorted(roads.PEERS.iterdir()), strict=False):
            folders[name] = bench.work.scratch / "others" / folder.name
            if not folders[name].exists():
                roads.other(folder, folders[name])
    else:
        bench.work.place.left_out = roads.NO_PEERS
        own_programs |= {"s2": bench.compiled, "s4": bench.compiled}
    of, asked = net.topology, asked_of(net.topology, costs=net.costs)
    with led(bench.work, of, asked, folders.__getitem__, film="others", own=own_programs) as fabric:
        fabric.let_pass(SETTLED_S)
        all_reach(fabric, whose)


# ---- one line ------------------------------------------------------------------------------------

_LINE = f"""
gateways: learned
hosts:
  h1: {{address: 10.0.1.1/24}}
  h2: {{address: 10.0.2.1/24}}
  h3: {{address: 10.0.3.1/24}}
switches:
  s1:
    ports:
      1: {{address: 10.0.1.254/24, rate: 100 Mb/s{CLASSES}}}
      2: {{address: 10.0.2.254/24, rate: 100 Mb/s{CLASSES}}}
      3: {{address: 10.1.0.1/30, rate: {LINE_BPS} b/s{CLASSES}}}
  s2:
    ports:
      1: {{address: 10.0.3.254/24, rate: 100 Mb/s{CLASSES}}}
      3: {{address: 10.1.0.2/30, rate: {LINE_BPS} b/s{CLASSES}}}
links:
  - [h1, s1:1]
  - [h2, s1:2]
  - [h3, s2:1]
  - {{ends: [s1:3, s2:3], delay: {LINE_MS} ms}}
"""


@contextmanager
def _line(bench: Bench, case: str) -> Iterator[Fabric]:
    """Two routers and a slow line; all MAC addresses are known."""
    with bench.network(topology(_LINE), case) as fabric:
        for host in ("h1", "h2"):
            _ping(fabric, host, "h3", 2)
        fabric.let_pass(0.5)
        yield fabric


def voice(bench: Bench) -> None:
    """Calls do not wait for downloads."""
    packet_ms = FRAME_BYTES * 8 / LINE_BPS * 1000
    # One packet under way, the other calls, and the hop to the host behind.
    most_ms = LINE_MS + 3 * packet_ms
    with _line(bench, "voice") as fabric:
        port = voice_port(bench.work)
        sink = fabric.net.sink("h3", port)
        for number in range(CALLS):
            fabric.net.datagrams(
                "h1",
                "h3",
                port,
                rate_bps=CALL_BPS,
                span_s=3,
                payload_bytes=CALL_BYTES,
                after_s=0.005 * number,
            )
        _downloads(fabric, 3.0)
        fabric.let_pass(3.2)
        flows = fabric.net.report(sink).datagram_sink.flows
    done = f"{CALLS} calls, UDP to port {port}, and {FLOWS} downloads met at a line of "
    done += f"{LINE_BPS / 1e6:.0f} Mb/s with a delay of {LINE_MS} ms; each port has two classes, "
    done += "of which class 1 goes first."
    for flow in flows:
        worst_ms = flow.delay_max_ps / 1e9
        if flow.lost or worst_ms > most_ms:
            raise _refused(
                done,
                f"No call to lose a packet or to wait for longer than {most_ms:.1f} ms, delay of "
                "the line included.",
                _PRIORITY + f"A long one takes {packet_ms:.1f} ms.",
                f"A call lost {flow.lost} packets, and one took {worst_ms:.1f} ms.",
                _VOICE_S,
                "voice",
            )
    if len(flows) < CALLS:
        raise _refused(
            done, f"{CALLS} calls to arrive.", _ROUTER, f"{len(flows)} did.", _VOICE_S, "voice"
        )


def _downloads(fabric: Fabric, span_s: float) -> int:
    return fabric.net.transfer("h2", "h3", BULK, span_s=span_s, connections=FLOWS)


def challenge(bench: Bench) -> None:
    """Downloads fill the line, and no packet waits long."""
    use, wait_ms = measured(bench)
    done = (
        f"{FLOWS} downloads filled the line of {LINE_BPS / 1e6:.0f} Mb/s for 6 s, behind a queue "
    )
    done += "that takes 1000 packets."
    if use < USE_LEAST:
        raise _refused(
            done,
            f"{USE_LEAST:.0%} of the line or more to be used from the second second on.",
            _AQM + "Whoever drops too much has a short queue and an idle line.",
            f"{use:.1%} was used, and packets waited for {wait_ms:.1f} ms.",
            SETTLED_S + 3.0,
            "challenge",
        )
    if wait_ms > WAIT_MOST_MS:
        raise _refused(
            done,
            f"Packets to wait for {WAIT_MOST_MS:.0f} ms or less on average, in each queue that "
            "carries downloads.",
            _AQM + "1000 packets are 1.2 s.",
            f"{wait_ms:.1f} ms, while {use:.1%} of the line was used.",
            SETTLED_S + 3.0,
            "challenge",
        )


def measured(bench: Bench) -> tuple[float, float]:
    """The challenge's measurements: use of the line, and how long its packets waited, in ms."""
    with _line(bench, "challenge") as fabric:
        _downloads(fabric, 6.0)
        fabric.let_pass(1.0)
        before = _carried(fabric)
        fabric.let_pass(5.0)
        carried = [after.since(then) for after, then in zip(_carried(fabric), before, strict=True)]
    sent = sum(each.bytes for each in carried)
    # Of every queue that carries downloads: what goes first, such as a ping, says nothing of them.
    waits = [each.wait_ms for each in carried if each.bytes > PART_LEAST * sent]
    return sent * 8 / 5.0 / LINE_BPS, max(waits, default=math.inf)


@dataclass(frozen=True)
class _Carried:
    """The packets and bytes that a queue has sent, and how long they waited, all together."""

    packets: int
    bytes: int
    waited_ps: int

    def since(self, then: _Carried) -> _Carried:
        """What came after."""
        return _Carried(
            self.packets - then.packets, self.bytes - then.bytes, self.waited_ps - then.waited_ps
        )

    @property
    def wait_ms(self) -> float:
        """On average."""
        return self.waited_ps / max(1, self.packets) / 1e9


def _carried(fabric: Fabric) -> list[_Carried]:
    """Of each queue before the line."""
    queues = fabric.net.port("s1", 3).counters.queues
    return [
        _Carried(
            int(each.residence.count),
            int(each.counters.departed.bytes),
            int(each.residence.count * each.residence.mean_ps),
        )
        for each in queues
    ]


EXERCISE = Exercise(
    name=NAME,
    title="Build a router",
    question="Is it a router, beside routers that others have built?",
    minutes=600,
    files=(PROGRAM, CONTROL, "frames.py"),
    begin=begin,
    own=own,
    cases=(
        Case("answers", "It answers ARP and pings.", 10, answers, live=True),
        Case("unreachable", "It tells of addresses without a way.", 10, unreachable, live=True),
        Case("reaches", "Every host reaches every other one.", 20, reaches, live=True),
        Case("cut", "A cut cable is gone round within a second.", 15, cut, live=True),
        Case("others", "It understands other teams' routers.", 10, others, live=True),
        Case("voice", "Calls do not wait for downloads.", 15, voice),
        Case("challenge", "The line is full and the queue is short.", 20, challenge, live=True),
    ),
)
