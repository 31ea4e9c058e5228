"""A network in virtual time around a submission: hosts, routers, cables, and time that passes.

with network(work, topology, runs(program, routes)) as net:
    sink = net.sink("h2", 5001)
    net.datagrams("h1", "h2", 5001, rate_bps=5_000_000, span_s=2)
    net.let_pass(3)
    net.report(sink).datagram_sink.flows
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from vitrine.v1 import router_pb2, world_pb2

from apps.programming import Router, source_of
from controller.connection import in_force, open_channel
from controller.entries import Call, Entry, Lpm
from controller.errors import ControllerError
from controller.p4info import P4Info
from controller.queues import Queues
from controller.router_service import RouterStub
from controller.session import Session
from controller.values import Mac
from controller.world import PS_PER_S, World
from course.exercise import Work
from course.films import Films
from course.story import Moment, Refused, Story
from course.tools.tracer import Program
from labs.glass.scene import network_of
from labs.glass.tape import Tape, listening
from labs.routers import Up
from labs.worlds.virtual import server
from labs.worlds.virtual.bench import configure
from topo import load as loading
from topo import paths
from topo import world as messages
from topo.document import Place
from topo.model import End, Switch, Topology

# A network of a few packets takes a second of ours; one in which they go round for ever, no end.
_WALL_S = 60.0
# A machine that grades a class is busy: that its world comes late is nobody's mistake.
_CONNECT_S = 60.0
_NS_PER_S = 1_000_000_000

# Gives a router its program and its entries.
Load: TypeAlias = Callable[[Switch, Session], None]


def topology(text: str) -> Topology:
    """A topology that stands in a check."""
    return messages.numbered(loading.read(Place.of_text(text, Path("the check's topology"))))


@dataclass(frozen=True)
class Network:
    """A network that is up. It stands still but for `let_pass`."""

    world: World
    topology: Topology
    sessions: Mapping[str, Session]

    def let_pass(self, seconds: float) -> None:
        """Lets time pass."""
        self.world.advance(round(seconds * PS_PER_S))

    # ---- what hosts do ---------------------------------------------------------------------------

    def sink(self, host: str, port: int) -> int:
        """Takes the datagrams to a port; the application's number."""
        sink = world_pb2.DatagramSink(port=port)
        return self.world.start(host, world_pb2.App(datagram_sink=sink))

    def datagrams(
        self,
        source: str,
        target: str,
        port: int,
        *,
        rate_bps: float,
        span_s: float,
        payload_bytes: int = 1000,
        after_s: float = 0.0,
        burst: int = 1,
    ) -> int:
        """Sends UDP at a rate, so many datagrams at once; the application's number."""
        app = world_pb2.DatagramSource(
            to=world_pb2.Peer(host=target, port=port),
            payload_bytes=payload_bytes,
            after_ns=round(after_s * _NS_PER_S),
            span_ns=round(span_s * _NS_PER_S),
        )
        if burst > 1:
            app.bursts.rate_bps, app.bursts.datagrams = round(rate_bps), burst
        else:
            app.steady.rate_bps = round(rate_bps)
        return self.world.start(source, world_pb2.App(datagram_source=app))

    def transfer(
        self,
        source: str,
        target: str,
        port: int,
        *,
        span_s: float,
        congestion: str = "",
        connections: int = 1,
        after_s: float = 0.0,
    ) -> int:
        """TCP sends as much as it can; the sender's application's number."""
        self.world.start(target, world_pb2.App(listener=world_pb2.Listener(port=port)))
        bulk = world_pb2.Bulk(
            to=world_pb2.Peer(host=target, port=port),
            span_ns=round(span_s * _NS_PER_S),
            after_ns=round(after_s * _NS_PER_S),
            congestion_control=congestion,
            connections=connections,
        )
        return self.world.start(source, world_pb2.App(bulk=bulk))

    def report(self, app: int) -> world_pb2.AppReport:
        """What an application has seen so far."""
        return self.world.report(app)

    def flow(self, sink: int) -> world_pb2.DatagramFlow:
        """What came to a sink that has one source; empty if nothing came."""
        flows = self.report(sink).datagram_sink.flows
        return flows[0] if flows else world_pb2.DatagramFlow()

    # ---- what routers tell -----------------------------------------------------------------------

    def port(self, router: str, number: int) -> router_pb2.Port:
        """All that can be read of a port at this instant."""
        return Queues(self.sessions[router]).describe([number]).ports[0]

    @contextlib.contextmanager
    def events(
        self, router: str, **wanted: object
    ) -> Iterator[Callable[[], list[router_pb2.Event]]]:
        """What happens in a router from now on: a function that gives all of it until the present.

        `wanted` are fields of WatchRequest. Only for what happens seldom: the world keeps what
        nobody has read yet, up to 16 MB.
        """
        session = self.sessions[router]
        request = router_pb2.WatchRequest(device_id=session.device_id, **wanted)  # type: ignore[arg-type]
        with in_force(RouterStub(session.channel).watch(request)) as call:

            def told() -> list[router_pb2.Event]:
                until_ps = self.world.look().time_ps
                found: list[router_pb2.Event] = []
                for message in call:
                    found += message.events
                    if message.complete_until_ps >= until_ps:
                        break
                return found

            yield told


@contextlib.contextmanager
def network(
    work: Work, of: Topology, load: Load, *, seed: int = 1, film: str = ""
) -> Iterator[Network]:
    """A network whose routers `load` fills. One that is busy for ever is refused in the end.

    What is refused inside gets the moment: the network's name is `film`, and the instant is now.
    """
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server.serving(work.scratch / "world.log"))
        channel = open_channel(address, _CONNECT_S)
        stack.callback(channel.close)
        world = World(channel)
        world.build(messages.message(of), seed)
        sessions = {}
        for switch in of.switches:
            session = stack.enter_context(
                Session.connect(address, device_id=switch.device_id, deadline_s=_CONNECT_S)
            )
            load(switch, session)
            configure(switch, session)
            sessions[switch.name] = session
        tape = Tape(film)
        if work.films is not None and film:
            stack.enter_context(filmed(address, of, tape, work.films))
        with told_when(film, lambda: _now_s(world, tape)), _in_time(channel.close):
            yield Network(world, of, sessions)


def _now_s(world: World, tape: Tape) -> float:
    """The instant at which the network is. One that was ended told of its last before."""
    try:
        return world.look().time_ps / PS_PER_S
    except ControllerError:
        return last_told_s(tape)


def last_told_s(tape: Tape) -> float:
    """The last instant of which a network told."""
    return max((entry.time_ps for entry in tape.entries), default=0) / PS_PER_S


@contextlib.contextmanager
def told_when(film: str, now_s: Callable[[], float]) -> Iterator[None]:
    """Adds to what is refused inside which network it is about, and when."""
    try:
        yield
    except Refused as refused:
        if not film:
            raise
        moment = refused.story.moment or Moment(now_s())
        moment = replace(moment, film=moment.film or film)
        raise Refused(replace(refused.story, moment=moment)) from refused


@contextlib.contextmanager
def _in_time(end: Callable[[], None]) -> Iterator[None]:
    """Ends what takes too long, and refuses it."""
    is_late = threading.Event()

    def late() -> None:
        is_late.set()
        end()

    watchdog = threading.Timer(_WALL_S, late)
    watchdog.start()
    try:
        yield
    except ControllerError:
        if not is_late.is_set():
            raise
        raise Refused(
            Story(
                done="A network with the submission in its routers was started.",
                expected="Time to pass in it.",
                because="A packet that is recirculated for ever keeps its router busy.",
                came=f"After {_WALL_S:.0f} s of ours it had not come to an end.",
            )
        ) from None
    finally:
        watchdog.cancel()


@contextlib.contextmanager
def filmed(address: str, of: Topology, tape: Tape, films: Films) -> Iterator[None]:
    """Keeps what happens in a network, also if it is refused."""
    routers = {each.name: f"{address}/{each.device_id}" for each in of.switches}
    try:
        with listening(tape, Up(routers, network=network_of(of))):
            yield
    finally:
        films.add(tape.title, tape)


# ---- what routers run ----------------------------------------------------------------------------


def runs(program: Program, fill: Load) -> Load:
    """Every router runs the submission; `fill` writes its entries."""
    info, config = P4Info.load(program.p4info), program.compiled.read_bytes()

    def load(switch: Switch, session: Session) -> None:
        session.load(info, config)
        fill(switch, session)

    return load


def kits_router(of: Topology) -> Load:
    """Every router runs the kit's own program, with routes to everywhere."""

    def load(switch: Switch, session: Session) -> None:
        Router(session, of, switch, source_of(switch, None, None)).start()

    return load


def routes(of: Topology) -> Load:
    """Entries of a table `routes` with an action `forward`, as P4 exercises have them."""

    def fill(switch: Switch, session: Session) -> None:
        session.insert(
            Entry(
                "routes",
                {"hdr.ipv4.dst_addr": Lpm(route.prefix.network_address, route.prefix.prefixlen)},
                Call("forward", port=hop.port, src_addr=hop.src_mac, dst_addr=hop.dst_mac),
            )
            for route in paths.routes(of, switch)
            for hop in route.hops[:1]
        )

    return fill


def neighbour_mac(of: Topology, router: str, port: int) -> Mac:
    """The Ethernet address at the other end of a port's cable."""
    far = of.neighbour(End(router, port))
    if far.port is None:
        return of.host(far.node).mac
    return of.switch(far.node).port(far.port).mac
