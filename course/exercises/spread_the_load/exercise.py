"""The checks of spreading: the paths of flows, their changes, and the cost of a cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from controller.entries import Call, Entry, Exact, Lpm
from controller.session import Session
from course.exercise import Case, Exercise, Work
from course.story import Moment, Refused, Story
from course.tools.five_tuples import UDP, Flow, any_flow
from course.tools.net import Network
from course.tools.network import neighbour_mac, network, runs, topology
from course.tools.tracer import Program, compile_program
from topo.model import Switch, Topology

NAME = "spread-the-load"
FLOWLET_S = 0.020
LINE_BPS = 10_000_000
FIRST_PATH = 2
FLOWS = 200
# The flows of the first case, the packets of each, and the paths that they must use between them:
# all students have three or more. In a trace a third packet would come after a flowlet's pause.
SEVERAL, IN_A_ROW, PATHS_LEAST = 60, 2, 3
SINK = 7000
# How unevenly hashing may spread: of the fair share.
SHARE_LEAST, SHARE_MOST = 0.5, 1.6
BURSTS, BURST_PACKETS, PAUSE_S = 100, 5, 0.060
CUT_S, MENDED_S = 1.0, 1.05

_ECMP = (
    "RFC 2992: a hash of what names a flow picks the path, so that all packets of a flow take the "
    "same one and flows spread evenly. "
)
_FLOWLET = (
    "Kandula, Katabi, Sinha and Berger 2007: after a pause longer than paths differ in delay a "
    "flow may change its path and nothing is overtaken; without a pause it may not. "
)


@dataclass(frozen=True)
class Bench:
    """The submission, and how many paths this student has."""

    work: Work
    program: Program
    paths: int

    @property
    def topology(self) -> Topology:
        """Two routers, joined by paths of 10 Mb/s that differ by 2 ms each."""
        ends = range(FIRST_PATH, FIRST_PATH + self.paths)
        ports = "\n".join(f"      {end}: {{rate: 10 Mb/s, queue: 40 packets}}" for end in ends)
        links = "\n".join(
            f"  - {{ends: [s1:{end}, s2:{end}], delay: {2 * (end - FIRST_PATH) + 1} ms}}"
            for end in ends
        )
        return topology(f"""
hosts:
  h1: {{address: 10.0.1.1/24}}
  h2: {{address: 10.0.2.1/24}}
switches:
  s1:
    ports:
      1: {{address: 10.0.1.254/24, rate: 1 Gb/s}}
{ports}
  s2:
    ports:
      1: {{address: 10.0.2.254/24, rate: 1 Gb/s}}
{ports}
links:
  - [h1, s1:1]
  - [h2, s2:1]
{links}
""")

    def network(self, case: str) -> AbstractContextManager[Network]:
        """The network, its tables filled."""
        of = self.topology

        def fill(switch: Switch, session: Session) -> None:
            own, other = ("h1", "h2") if switch.name == "s1" else ("h2", "h1")
            port = switch.port(1)
            here = Call("forward", port=1, src_addr=port.mac, dst_addr=of.host(own).mac)
            there = Call("spread", count=self.paths)
            for host, call in ((own, here), (other, there)):
                net = of.host(host).address.network
                key = {"hdr.ipv4.dst_addr": Lpm(net.network_address, net.prefixlen)}
                session.insert([Entry("routes", key, call)])
            session.insert(path(of, switch, slot, slot) for slot in range(self.paths))

        return network(self.work, of, runs(self.program, fill), film=case)

    def used(self, net: Network) -> list[int]:
        """Packets that each path has carried from s1 to s2."""
        return [
            net.port("s1", FIRST_PATH + slot).counters.counters.departed.packets
            for slot in range(self.paths)
        ]

    def refused(
        self, case: str, done: str, expected: str, because: str, came: str, at_s: float
    ) -> Refused:
        """A refusal, and where to look."""
        return Refused(Story(done, expected, because, came, moment=Moment(at_s, case)))


def path(of: Topology, switch: Switch, slot: int, leads_to: int) -> Entry:
    """The entry of a slot that leads to a path."""
    port = FIRST_PATH + leads_to
    return Entry(
        "paths",
        {"meta.slot": Exact(slot)},
        Call(
            "forward",
            port=port,
            src_addr=switch.port(port).mac,
            dst_addr=neighbour_mac(of, switch.name, port),
        ),
    )


def begin(work: Work) -> Bench:
    """Compiles the submission."""
    return Bench(work, compile_program(work, "spread.p4"), paths_of(work))


def paths_of(work: Work) -> int:
    """How many paths this student has."""
    return work.own("paths").choice((3, 5, 6))


# ---- packets one by one --------------------------------------------------------------------------


def _ports(bench: Bench, flows: Sequence[Flow]) -> list[int]:
    """The port by which a packet of each flow leaves."""
    entries = [f"add routes hdr.ipv4.dst_addr:0x0a090000/16 spread(count:{bench.paths})"]
    entries += [
        f"add paths meta.slot:{slot} forward(port:{FIRST_PATH + slot}, "
        f"src_addr:0x02aa0000000{slot}, dst_addr:0x02bb0000000{slot})"
        for slot in range(bench.paths)
    ]
    ports = []
    lives = bench.program.lives(entries, [(1, flow.frame) for flow in flows])
    for flow, life in zip(flows, lives, strict=True):
        came = [port for port, _ in life.sent]
        if len(came) != 1 or not FIRST_PATH <= came[0] < FIRST_PATH + bench.paths:
            raise Refused(
                Story(
                    done=f"A packet of {flow} came in at port 1; {bench.paths} paths lead to it.",
                    expected=f"It leaves by one of the ports {FIRST_PATH} to "
                    f"{FIRST_PATH + bench.paths - 1}.",
                    because="The handout: the slot is a number below meta.count, and each has an "
                    "entry in `paths`.",
                    came=f"It left by port {came[0]}." if came else "It did not leave.",
                    way=tuple(life.steps),
                    again=bench.program.again(entries, 1, flow.frame),
                )
            )
        ports += came
    return ports


def _flow(bench: Bench, purpose: str) -> Flow:
    return replace(any_flow(bench.work.dice(purpose)), target="10.9.0.1", protocol=UDP)


def goes_on(bench: Bench) -> None:
    """Packets leave by the paths: those of a flow by one of them, those of many flows by many."""
    dice = bench.work.dice("goes-on")
    flows = [replace(any_flow(dice), target=f"10.9.0.{last}") for last in range(1, SEVERAL + 1)]
    ports = _ports(bench, [flow for flow in flows for _ in range(IN_A_ROW)])
    by_flow = [ports[at : at + IN_A_ROW] for at in range(0, len(ports), IN_A_ROW)]
    torn = [(flow, seen) for flow, seen in zip(flows, by_flow, strict=True) if len(set(seen)) > 1]
    done = f"{SEVERAL} flows between other hosts each sent {IN_A_ROW} packets in a row."
    if torn:
        flow, seen = torn[0]
        raise Refused(
            Story(
                done=done,
                expected="The packets of each flow to leave by one port.",
                because=_ECMP,
                came=f"Those of {flow} left by the ports {', '.join(map(str, seen))}.",
            )
        )
    if len(set(ports)) < PATHS_LEAST:
        raise Refused(
            Story(
                done=done,
                expected=f"At least {PATHS_LEAST} of the {bench.paths} paths to be used.",
                because=_ECMP,
                came=f"All left by {len(set(ports))}.",
            )
        )


def five_tuple(bench: Bench) -> None:
    """Flows of the same two hosts spread over all paths."""
    flow = _flow(bench, "five-tuple")
    ports = bench.work.dice("ports").sample(range(1024, 65000), FLOWS)
    flows = [replace(flow, source_port=each) for each in ports]
    taken = Counter(_ports(bench, flows))
    fair = FLOWS / bench.paths
    for slot in range(bench.paths):
        count = taken[FIRST_PATH + slot]
        if not SHARE_LEAST * fair <= count <= SHARE_MOST * fair:
            raise Refused(
                Story(
                    done=f"{FLOWS} flows from {flow.source} to {flow.target}, each with a port of "
                    f"its own, met {bench.paths} paths.",
                    expected=f"Each path to get between {SHARE_LEAST * fair:.0f} and "
                    f"{SHARE_MOST * fair:.0f} of them.",
                    because=_ECMP + "Two hosts talk over many flows; their ports tell them apart.",
                    came=f"Path {slot}, port {FIRST_PATH + slot}, got {count}.",
                )
            )


# ---- in a network --------------------------------------------------------------------------------


def _steady(net: Network, number: int, span_s: float, packets_per_s: int = 500) -> int:
    """A flow without pauses; where it arrives."""
    sink = net.sink("h2", SINK + number)
    rate_bps = packets_per_s * 200 * 8
    net.datagrams("h1", "h2", SINK + number, rate_bps=rate_bps, span_s=span_s, payload_bytes=200)
    return sink


def _bursts(net: Network, number: int) -> int:
    """A flow that pauses for longer than a flowlet needs; where it arrives."""
    sink = net.sink("h2", SINK + number)
    rate_bps = BURST_PACKETS * 200 * 8 / PAUSE_S
    net.datagrams(
        "h1",
        "h2",
        SINK + number,
        rate_bps=rate_bps,
        span_s=BURSTS * PAUSE_S,
        payload_bytes=200,
        burst=BURST_PACKETS,
    )
    return sink


def flow_stays(bench: Bench) -> None:
    """A flow without pauses keeps its path."""
    with bench.network("flow-stays") as net:
        _steady(net, 0, 2.0)
        net.let_pass(2.2)
        used = bench.used(net)
    if sum(1 for each in used if each) != 1:
        raise bench.refused(
            "flow-stays",
            "h1 sent h2 500 datagrams a second, 2 ms apart, for two seconds.",
            "All of them to take one path.",
            _FLOWLET + f"A pause is one of more than {FLOWLET_S * 1000:.0f} ms here.",
            "Packets by path: " + ", ".join(map(str, used)) + ".",
            1.0,
        )


def flowlets(bench: Bench) -> None:
    """A flow with pauses uses all paths, whatever other flows do."""
    with bench.network("flowlets") as net:
        _bursts(net, 0)
        _steady(net, 1, BURSTS * PAUSE_S, packets_per_s=100)
        net.let_pass(BURSTS * PAUSE_S + 0.1)
        used = bench.used(net)
    # The steady flow only adds to one of them.
    least = 0.35 * BURSTS * BURST_PACKETS / bench.paths
    if min(used) < least:
        raise bench.refused(
            "flowlets",
            f"One flow sent {BURSTS} times {BURST_PACKETS} packets, {PAUSE_S * 1000:.0f} ms apart; "
            "another one sent a packet every 10 ms.",
            f"Every path to carry {least:.0f} packets or more.",
            _FLOWLET + "Each of these bursts is a flowlet, and takes a path of its own.",
            "Packets by path: " + ", ".join(map(str, used)) + ".",
            1.0,
        )


def nothing_overtakes(bench: Bench) -> None:
    """No packet arrives before one that was sent earlier."""
    with bench.network("nothing-overtakes") as net:
        sinks = [_bursts(net, 0), *(_steady(net, number, 3.0) for number in range(1, 4))]
        net.let_pass(BURSTS * PAUSE_S + 0.1)
        flows = [net.flow(sink) for sink in sinks]
    for number, flow in enumerate(flows):
        if flow.out_of_order or not flow.received:
            what = "one with pauses of 60 ms" if number == 0 else "one without pauses"
            raise bench.refused(
                "nothing-overtakes",
                f"Four flows sent from h1 to h2; of two paths next to each other one is 2 ms "
                f"longer. This is {what}.",
                "Its packets to arrive in the order in which they were sent.",
                _FLOWLET + "TCP takes what comes too early for a sign of loss, and slows down.",
                f"{flow.out_of_order} of {flow.received} packets came out of order."
                if flow.received
                else "Nothing arrived.",
                1.0,
            )


def balance(bench: Bench) -> None:
    """Many transfers keep every path busy."""
    seconds, connections = 3.0, 60
    with bench.network("balance") as net:
        net.transfer("h1", "h2", SINK, span_s=seconds, connections=connections)
        net.let_pass(1.0)
        before = _bytes(bench, net)
        net.let_pass(seconds - 1.0)
        shares = [
            (after - then) * 8 / (seconds - 1.0) / LINE_BPS
            for then, after in zip(before, _bytes(bench, net), strict=True)
        ]
    if min(shares) < 0.6:
        raise bench.refused(
            "balance",
            f"{connections} TCP transfers from h1 to h2 had {bench.paths} paths of 10 Mb/s.",
            "Every path to be used to 60 per cent or more.",
            _ECMP,
            "Of the paths were used: " + ", ".join(f"{share:.0%}" for share in shares) + ".",
            2.0,
        )


def _bytes(bench: Bench, net: Network) -> list[int]:
    return [
        net.port("s1", FIRST_PATH + slot).counters.counters.departed.bytes
        for slot in range(bench.paths)
    ]


def failure(bench: Bench) -> None:
    """When a path is cut, its flows go on as soon as the controller says where."""
    broken = bench.work.dice("broken").randrange(bench.paths)
    instead = (broken + 1) % bench.paths
    with bench.network("failure") as net:
        sinks = [_steady(net, number, 2.0, packets_per_s=100) for number in range(20)]
        net.let_pass(CUT_S)
        net.cut("s1", FIRST_PATH + broken)
        net.let_pass(MENDED_S - CUT_S)
        for switch in net.topology.switches:
            entry = path(net.topology, switch, broken, instead)
            net.sessions[switch.name].modify([entry])
        net.let_pass(2.2 - MENDED_S)
        flows = [net.flow(sink) for sink in sinks]
    # The packets sent meanwhile, and those on the cable; 100 packets a second.
    most = round(100 * (MENDED_S - CUT_S)) + 3
    for number, flow in enumerate(flows):
        # Those that never came are not known to be lost.
        missing = 200 - flow.received
        if missing > most:
            raise bench.refused(
                "failure",
                f"20 flows sent 100 packets a second. At {CUT_S} s the cable of path {broken} was "
                f"cut; at {MENDED_S} s its slot in `paths` became one that leads to path "
                f"{instead}.",
                f"Each flow to miss {most} packets at most: what was sent in these "
                f"{(MENDED_S - CUT_S) * 1000:.0f} ms.",
                "What a program remembers of a flow must be a *slot*, which the controller can "
                "point elsewhere, and no port: a port that is remembered is used until the flow "
                "pauses.",
                f"Flow {number} missed {missing} of 200.",
                MENDED_S,
            )


def own(work: Work) -> str:
    """How many paths a student has."""
    return f"Your routers are joined by {paths_of(work)} paths."


# On one path nothing is torn or overtaken, and packets thrown about at random use all of them.
_SPREADS = ("goes-on",)

EXERCISE = Exercise(
    name=NAME,
    title="Spread the load",
    question="How do flows use several paths at once, without one of them being torn?",
    minutes=120,
    files=("spread.p4",),
    begin=begin,
    own=own,
    cases=(
        Case("goes-on", "Flows leave by the paths, each by one of them.", 5, goes_on),
        Case(
            "five-tuple",
            "Flows of the same two hosts spread over all paths.",
            20,
            five_tuple,
            behind=_SPREADS,
        ),
        Case(
            "flow-stays",
            "A flow without pauses keeps its path.",
            10,
            flow_stays,
            live=True,
            behind=_SPREADS,
        ),
        Case(
            "flowlets",
            "A flow with pauses uses all of them.",
            25,
            flowlets,
            live=True,
            behind=_SPREADS,
        ),
        Case(
            "nothing-overtakes",
            "No packet overtakes another one.",
            10,
            nothing_overtakes,
            live=True,
            behind=_SPREADS,
        ),
        Case(
            "balance",
            "Many transfers keep every path busy.",
            15,
            balance,
            live=True,
            behind=_SPREADS,
        ),
        Case(
            "failure",
            "After a cut flows go on as soon as they are told where.",
            15,
            failure,
            live=True,
            behind=_SPREADS,
        ),
    ),
)
