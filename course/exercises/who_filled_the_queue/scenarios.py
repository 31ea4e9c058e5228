"""Ten scenarios in one network, one after the other: who sends what, and what is reported of it."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from vitrine.v1 import world_pb2

from apps import domain as domains
from apps import telemetry as tables
from apps.domain import Domain
from apps.programming import Router, source_of
from controller.session import Session
from controller.world import PS_PER_S
from course.exercise import Work
from course.tools.net import Load, Network
from course.tools.virtual import VirtualNetwork, virtual_network
from labs.measure.reports import HopReport
from labs.score.flow import Flow
from labs.score.steps import Steps
from labs.score.truth import Truth
from labs.worlds.virtual import telemetry
from labs.worlds.virtual.told import DatagramWatch
from topo import load as loading
from topo import world as messages
from topo.model import Switch, Topology

HERE = Path(__file__).parent
SPAN_S = 0.25
# The span of a scenario in which a burst may begin: earlier packets must have been reported.
_EARLY_S, _LATE_S = 0.06, 0.16
_PAYLOAD_BYTES = 1000
_FIRST_PORT, _STEADY_PORT = 7000, 6000
_STEADY_BPS = 5_000_000
# Which queue a host's burst fills: the one behind the first slow line on its way.
_PLACES = {"h1": ("s1", 2), "h3": ("s1", 2), "h4": ("s2", 2), "h6": ("s2", 2)}
_LAST = {"h2": ("s3", 2), "h5": ("s3", 3)}
_SENDERS = ("h1", "h3", "h4", "h6", "h7", "h8")
_NS_PER_S = 1_000_000_000
# As the handout says.
BURST_BYTES = 20_000

# The network of all scenarios.
FILM = "scenarios"
# The kinds, in the order of the cases.
ALONE, BEHIND, DECOY, TOGETHER, NOTHING = "alone", "behind", "decoy", "together", "nothing"
KINDS = (*(ALONE,) * 2, *(BEHIND,) * 3, *(DECOY,) * 2, *(TOGETHER,) * 2, NOTHING)


@dataclass(frozen=True)
class Burst:
    """Datagrams that a host sends at once."""

    source: str
    target: str
    port: int
    packets: int
    at_s: float

    @property
    def place(self) -> tuple[str, int]:
        """The queue that it fills: router and port."""
        return _PLACES.get(self.source) or _LAST[self.target]


@dataclass(frozen=True)
class Scenario:
    """A quarter of a second of the network."""

    kind: str
    from_s: float
    # The first is the culprit's; none where nothing happens.
    bursts: tuple[Burst, ...]
    steady: bool


@dataclass(frozen=True)
class Filled:
    """The deepest build-up, by the yardstick of docs/telemetry-score.md."""

    router: str
    port: int
    began_s: float
    # The flow that brought the most packets while it grew, as reports name it, and how many.
    culprit: str
    packets: int


@dataclass(frozen=True)
class Told:
    """A scenario's data: the students' reports, and the truth."""

    scenario: Scenario
    reports: Sequence[HopReport]
    # None: no queue was deep.
    filled: Filled | None


def draw(dice: Random) -> list[Scenario]:
    """Ten scenarios, in an order that says nothing."""
    kinds = list(KINDS)
    dice.shuffle(kinds)
    return [_drawn(dice, kind, number) for number, kind in enumerate(kinds)]


def _drawn(dice: Random, kind: str, number: int) -> Scenario:
    from_s = number * SPAN_S
    first, second = dice.sample(_SENDERS, 2)
    # In either order: a port says nothing of its flow.
    port, other_port = dice.sample(_burst_ports(number), 2)
    packets = dice.randrange(60, 90)
    culprit = Burst(
        first, dice.choice(("h2", "h5")), port, packets, from_s + dice.uniform(0.1, _LATE_S)
    )
    bursts: tuple[Burst, ...] = (culprit,)
    if kind == DECOY:
        # Somebody else's burst, half as large, a while before.
        early_s = from_s + dice.uniform(_EARLY_S, 0.08)
        bursts += (Burst(second, culprit.target, other_port, packets // 2, early_s),)
    if kind == TOGETHER:
        # A neighbour adds to the same queue at the same time.
        neighbour = {"h1": "h3", "h3": "h1", "h4": "h6", "h6": "h4", "h7": "h8", "h8": "h7"}[first]
        also = Burst(neighbour, culprit.target, other_port, packets // 3, culprit.at_s)
        bursts += (also,)
    return Scenario(kind, from_s, () if kind == NOTHING else bursts, steady=kind != ALONE)


def _burst_ports(number: int) -> tuple[int, int]:
    first = _FIRST_PORT + 10 * number
    return first, first + 1


def play(work: Work, scenarios: Sequence[Scenario]) -> list[Told]:
    """Lets them happen, and sorts the reports."""
    domain = domains.load(HERE / "domain.yaml")
    of = messages.numbered(loading.load(HERE / "topology.yaml"))
    with virtual_network(work, of, _telling(of, domain), film=FILM) as net:
        sinks(net)
        net.world.start(domain.collector, telemetry.sink())
        watch = DatagramWatch(net.world, domain.collector)
        with watch, _steps(net) as steps:
            for scenario in scenarios:
                _start(net, scenario)
            # Packets under way at the end of the last one arrive.
            net.let_pass(len(scenarios) * SPAN_S + 0.05)
            end_ps = net.world.look().time_ps
            for each in (watch, *steps.values()):
                each.wait_for(end_ps)
        rows = telemetry.reports(watch.datagrams, domain, 0)
    truths = {
        (router, port): Truth.of(steps[router].found, (port, 0), end_ps)
        for router, port in {*_PLACES.values(), *_LAST.values()}
    }
    return [_told(scenario, rows, truths) for scenario in scenarios]


@contextlib.contextmanager
def _steps(net: VirtualNetwork) -> Iterator[dict[str, Steps]]:
    """Every packet's way through each router, for the truth about their queues."""
    with contextlib.ExitStack() as stack:
        steps = {
            router: Steps(session, session.channel.close)
            for router, session in net.sessions.items()
        }
        for each in steps.values():
            stack.enter_context(each)
        yield steps


def _telling(of: Topology, domain: Domain) -> Load:
    def load(switch: Switch, session: Session) -> None:
        Router(session, of, switch, source_of(switch, None, domain), domain=domain).start()
        tables.mirror_drops(session, domain)

    return load


def sinks(net: Network) -> None:
    """h2 and h5 take all packets, so that no port is reported as unreachable."""
    ports = [_STEADY_PORT + number for number in range(len(_SENDERS))]
    ports += [port for number in range(len(KINDS)) for port in _burst_ports(number)]
    for host in ("h2", "h5"):
        for port in ports:
            net.sink(host, port)


def _start(net: VirtualNetwork, scenario: Scenario) -> None:
    if scenario.steady:
        for number, (host, target) in enumerate((("h1", "h2"), ("h4", "h5"), ("h7", "h2"))):
            net.datagrams(
                host,
                target,
                _STEADY_PORT + number,
                rate_bps=_STEADY_BPS,
                span_s=SPAN_S,
                payload_bytes=_PAYLOAD_BYTES,
                after_s=scenario.from_s + 0.001 * number,
            )
    for burst in scenario.bursts:
        source = world_pb2.DatagramSource(
            to=world_pb2.Peer(host=burst.target, port=burst.port), payload_bytes=_PAYLOAD_BYTES
        )
        source.volleys.datagrams = burst.packets
        source.volleys.at_ns.append(round(burst.at_s * _NS_PER_S))
        net.world.start(burst.source, world_pb2.App(datagram_source=source))


def _told(
    scenario: Scenario, rows: Sequence[HopReport], truths: Mapping[tuple[str, int], Truth]
) -> Told:
    until_s = scenario.from_s + SPAN_S
    reports = [row for row in rows if scenario.from_s <= row.time_s < until_s]
    deep = [
        (buildup, place)
        for place, truth in truths.items()
        for buildup in truth.buildups(BURST_BYTES)
        if scenario.from_s <= buildup.peak_ps / PS_PER_S < until_s
    ]
    if not deep:
        return Told(scenario, reports, None)
    buildup, (router, port) = max(deep, key=lambda each: each[0].peak_bytes)
    ((flow, packets),) = buildup.contributors.most_common(1)
    began_s = buildup.begin_ps / PS_PER_S
    return Told(scenario, reports, Filled(router, port, began_s, _named(flow), packets))


def _named(flow: Flow) -> str:
    source, target = (ipaddress.IPv4Address(each) for each in (flow.source, flow.destination))
    return f"udp {source}:{flow.source_port} > {target}:{flow.destination_port}"
