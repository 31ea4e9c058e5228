"""A check's network in `vitrine.v1.World`: time passes in `let_pass` alone."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping

from vitrine.v1 import router_pb2, world_pb2

from controller.connection import in_force
from controller.errors import ConnectError
from controller.router_service import RouterStub
from controller.session import Packet, Session
from controller.world import PS_PER_S, World
from course.story import Story
from course.tools.net import Network
from topo.model import Topology

# A network of a few packets takes a second of ours; one in which they go round for ever, no end.
WALL_S = 60.0
# The longest that a router may take for its work at an instant.
_PATIENCE_S = 30.0
# At each router, while a packet is on its way from one of them.
_WAIT_S = 0.0005
_NS_PER_S = 1_000_000_000
_PACKET_IN = world_pb2.Stop(packet_in=world_pb2.Stop.PacketIn())


def endless() -> Story:
    """Of a network that is still busy after `WALL_S`."""
    return Story(
        done="A network with the submission in its routers was started.",
        expected="Time to pass in it.",
        because="A packet that is recirculated for ever keeps its router busy.",
        came=f"After {WALL_S:.0f} s of ours it had not come to an end.",
    )


class VirtualNetwork(Network):
    """A network in virtual time."""

    def __init__(self, world: World, topology: Topology, sessions: Mapping[str, Session]) -> None:
        super().__init__(topology, sessions)
        self.world = world
        self._now_ps = 0
        # Packets that came up and went down between routers and controllers.
        self._reported = self._injected = 0
        # Whether there may be others, of which the network's books say how many.
        self._may_have_reported = False
        self._is_settled = True

    @property
    def now_s(self) -> float:
        """How much time has passed."""
        return self._now_ps / PS_PER_S

    def let_pass(self, seconds: float) -> None:
        """Lets time pass."""
        until_ps = self._now_ps + round(seconds * PS_PER_S)
        # In most steps no router sends its controllers a packet. Then the network's books need not
        # be read, which takes longer than the step itself.
        stand = self.world.advance(until_ps - self._now_ps, stops=[_PACKET_IN])
        if stand.stop is not None:
            self._may_have_reported = True
            self.world.advance(until_ps - stand.time_ps)
        self._now_ps = until_ps

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
        """An application's results until now."""
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
        """The events of a router from now on."""
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
        """The packets that routers have sent to their controllers until now, by router."""
        if not self._may_have_reported:
            return
        self._may_have_reported = False
        wanted = self.world.look().books.reported
        found: dict[str, list[Packet]] = {name: [] for name in self.sessions}
        until_s = time.monotonic() + _PATIENCE_S
        wait_s = 0.0
        while self._reported < wanted:
            before = self._reported
            for name, packets in found.items():
                while (packet := self.sessions[name].receive(wait_s)) is not None:
                    packets.append(packet)
                    self._reported += 1
            wait_s = _WAIT_S if self._reported == before else 0.0
            if time.monotonic() > until_s:
                raise ConnectError("a router's packets did not come to its controller")
        for name, packets in found.items():
            for packet in packets:
                yield name, packet

    def send(self, router: str, packet: Packet) -> None:
        """Sends a packet as a router's controller."""
        self.sessions[router].send(packet)
        self._injected += 1
        self._is_settled = False

    def settle(self) -> None:
        """Waits until routers have what was sent to them: it goes through at this instant."""
        until_s = time.monotonic() + _PATIENCE_S
        while not self._is_settled:
            books = self.world.look().books
            self._is_settled = books.injected >= self._injected
            self._may_have_reported |= books.reported > self._reported
            if time.monotonic() > until_s and not self._is_settled:
                raise ConnectError("a controller's packets did not come to its router")
