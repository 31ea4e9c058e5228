"""A check's network in virtual time: it stands still but for `let_pass`."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from vitrine.v1 import router_pb2, world_pb2

from controller.connection import in_force, open_channel
from controller.errors import ConnectError, ControllerError
from controller.router_service import RouterStub
from controller.routers import Up
from controller.session import Packet, Session
from controller.world import PS_PER_S, World
from course.exercise import Work
from course.films import Films
from course.story import Refused, Story
from course.tools.net import Load, Network, told_when
from labs.glass.scene import network_of
from labs.glass.tape import Tape, listening
from labs.worlds.virtual import server
from labs.worlds.virtual.bench import configure
from topo import world as messages
from topo.model import Topology

# A network of a few packets takes a second of ours; one in which they go round for ever, no end.
_WALL_S = 60.0
# A machine that grades a class is busy: that its world comes late is nobody's mistake.
_CONNECT_S = 60.0
# How long a router may take for what it does at an instant.
_PATIENCE_S = 30.0
_NS_PER_S = 1_000_000_000


class VirtualNetwork(Network):
    """A network of `vitrine-sim serve`."""

    def __init__(self, world: World, topology: Topology, sessions: Mapping[str, Session]) -> None:
        super().__init__(topology, sessions)
        self.world = world
        self._now_ps = 0
        # Packets that came up and went down between routers and controllers.
        self._reported = self._injected = 0

    @property
    def now_s(self) -> float:
        """How much time has passed."""
        return self._now_ps / PS_PER_S

    def let_pass(self, seconds: float) -> None:
        """Lets time pass."""
        span_ps = round(seconds * PS_PER_S)
        self.world.advance(span_ps)
        self._now_ps += span_ps

    def sink(self, host: str, port: int) -> int:
        """Takes the datagrams to a port."""
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
        """Sends UDP at a rate."""
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
        span_s: float = 0.0,
        length_bytes: int = 0,
        congestion: str = "",
        connections: int = 1,
        after_s: float = 0.0,
    ) -> int:
        """TCP sends as much as it can."""
        self.world.start(target, world_pb2.App(listener=world_pb2.Listener(port=port)))
        bulk = world_pb2.Bulk(
            to=world_pb2.Peer(host=target, port=port),
            after_ns=round(after_s * _NS_PER_S),
            congestion_control=congestion,
            connections=connections,
        )
        if length_bytes:
            bulk.length_bytes = length_bytes
        else:
            bulk.span_ns = round(span_s * _NS_PER_S)
        return self.world.start(source, world_pb2.App(bulk=bulk))

    def ping(self, host: str, to: str, count: int = 1, interval_s: float = 1.0) -> int:
        """Pings a host, or an address."""
        ping = world_pb2.Ping(to=to, count=count, interval_ns=round(interval_s * _NS_PER_S))
        return self.world.start(host, world_pb2.App(ping=ping))

    def report(self, app: int) -> world_pb2.AppReport:
        """What an application has seen so far."""
        return self.world.report(app)

    def cut(self, router: str, port: int) -> None:
        """Cuts a cable."""
        end = world_pb2.CableEnd(node=router, port=port)
        self.world.fault(world_pb2.FaultRequest(cut=end))

    def mend(self, router: str, port: int) -> None:
        """Joins what was cut."""
        end = world_pb2.CableEnd(node=router, port=port)
        self.world.fault(world_pb2.FaultRequest(mend=end))

    @contextlib.contextmanager
    def events(
        self, router: str, **wanted: object
    ) -> Iterator[Callable[[], list[router_pb2.Event]]]:
        """What happens in a router from now on."""
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

    def handed_up(self) -> Iterator[tuple[str, Packet]]:
        """What routers have sent to their controllers until now, by router."""
        wanted = self.world.look().books.reported
        found: dict[str, list[Packet]] = {name: [] for name in self.sessions}
        until_s = time.monotonic() + _PATIENCE_S
        while self._reported < wanted:
            for name, packets in found.items():
                packet = self.sessions[name].receive(0.0005)
                if packet is not None:
                    packets.append(packet)
                    self._reported += 1
            if time.monotonic() > until_s:
                raise ConnectError("a router's packets did not come to its controller")
        for name, packets in found.items():
            for packet in packets:
                yield name, packet

    def send(self, router: str, packet: Packet) -> None:
        """Sends a packet as a router's controller."""
        self.sessions[router].send(packet)
        self._injected += 1

    def settle(self) -> None:
        """Waits until routers have what was sent to them: it goes through at this instant."""
        until_s = time.monotonic() + _PATIENCE_S
        while self.world.look().books.injected < self._injected:
            if time.monotonic() > until_s:
                raise ConnectError("a controller's packets did not come to its router")


@contextlib.contextmanager
def virtual_network(
    work: Work, of: Topology, load: Load, *, seed: int = 1, film: str = ""
) -> Iterator[VirtualNetwork]:
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
        films = work.filming
        if films is not None and film:
            stack.enter_context(_filmed(address, of, tape, films))
        with (
            told_when(film, lambda: _now_s(world, tape)),
            _in_time(channel.close),
            work.runner.clock.ends(channel.close),
        ):
            yield VirtualNetwork(world, of, sessions)


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
def _filmed(address: str, of: Topology, tape: Tape, films: Films) -> Iterator[None]:
    """Keeps what happens in a network, also if it is refused."""
    routers = {each.name: f"{address}/{each.device_id}" for each in of.switches}
    try:
        with listening(tape, Up(routers, network=network_of(of))):
            yield
    finally:
        films.add(tape.title, tape)
