"""A network in virtual time through `vitrine.v1.World`: what its hosts do, and how time passes.

    with World.connect("127.0.0.1:9559") as world:
        world.build(topology, seed=1)
        ...routers are programmed by sessions, as live ones are...
        bulk = world.start("h1", world_pb2.App(bulk=...))
        with world.watch_hosts(interval_ns=50_000_000, hosts=["h1"]) as told: ...
        world.advance(10 * PS_PER_S)

Messages are those of the proto file, which is the reference. Time stands still between two calls,
so everything that is asked for meanwhile happens at one instant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import grpc
from vitrine.v1 import world_pb2

from controller.connection import REQUEST_DEADLINE_S, in_force, open_channel
from controller.router_service import call, refusals, watch_call

PS_PER_S = 1_000_000_000_000
PS_PER_NS = 1000


@dataclass(frozen=True)
class Stand:
    """The instant at which time stopped passing, and which of the stops asked for did that."""

    time_ps: int
    stop: int | None


class World:
    """The client of a world."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._build = call(channel.unary_unary, "World", "Build", world_pb2)
        self._start = call(channel.unary_unary, "World", "Start", world_pb2)
        self._stop = call(channel.unary_unary, "World", "Stop", world_pb2)
        self._advance = call(channel.unary_unary, "World", "Advance", world_pb2)
        self._run = call(channel.unary_unary, "World", "Run", world_pb2)
        self._pause = call(channel.unary_unary, "World", "Pause", world_pb2)
        self._look = call(channel.unary_unary, "World", "Look", world_pb2)
        self._watch_hosts = watch_call(channel, "World", "WatchHosts", world_pb2)
        self._fault = call(channel.unary_unary, "World", "Fault", world_pb2)
        self._inject = call(channel.unary_unary, "World", "Inject", world_pb2)
        self._invite = call(channel.unary_unary, "World", "Invite", world_pb2)
        # The controllers of routers: see `answering`.
        self._answers: list[Callable[[float], None]] = []

    @classmethod
    @contextlib.contextmanager
    def connect(cls, address: str) -> Iterator[World]:
        """The world that answers there, for the length of a `with` block."""
        channel = open_channel(address)
        try:
            yield cls(channel)
        finally:
            channel.close()

    def build(self, topology: world_pb2.Topology, seed: int) -> None:
        """Makes this the network, at the instant 0; its routers have no program yet."""
        request = world_pb2.BuildRequest(topology=topology, seed=seed)
        with refusals("the world cannot build this network"):
            self._build(request, timeout=REQUEST_DEADLINE_S)

    # ---- applications ----------------------------------------------------------------------------

    def start(self, host: str, app: world_pb2.App) -> int:
        """Starts an application at the present instant; its number."""
        with refusals(f"{host} cannot start that"):
            request = world_pb2.StartRequest(host=host, app=app)
            return int(self._start(request, timeout=REQUEST_DEADLINE_S).app)

    def stop(self, app: int) -> world_pb2.AppReport:
        """Ends an application at the present instant, and says what it has seen."""
        with refusals(f"application {app} cannot be stopped"):
            return self._stop(world_pb2.StopRequest(app=app), timeout=REQUEST_DEADLINE_S).report

    # ---- time ------------------------------------------------------------------------------------

    def advance(self, span_ps: int, *, stops: Sequence[world_pb2.Stop] = ()) -> Stand:
        """Lets this much time pass, or until one of the stops holds; returns the present instant
        then."""
        if not self._answers:
            return self._pass(world_pb2.AdvanceRequest(span_ps=span_ps, stops=stops))
        end_ps = self.look().time_ps + span_ps
        asked = world_pb2.Stop(packet_in=world_pb2.Stop.PacketIn())
        request = world_pb2.AdvanceRequest(time_ps=end_ps, stops=[*stops, asked])
        while (stand := self._pass(request)).stop == len(stops):
            for answer in self._answers:
                answer(stand.time_ps / PS_PER_S)
        return stand

    @contextlib.contextmanager
    def answering(self, answer: Callable[[float], None]) -> Iterator[None]:
        """While the `with` block runs, routers' packets are answered at the instant they are sent.

        Each time that `advance` meets a router that sends its controllers a packet, time stands
        still and `answer` is called with the instant, in seconds. So controllers take no time, and
        what comes out is the same each time.
        """
        self._answers.append(answer)
        try:
            yield
        finally:
            self._answers.remove(answer)

    def _pass(self, request: world_pb2.AdvanceRequest) -> Stand:
        with refusals("time does not pass"):
            # However long it takes the machine: the client's going away ends it.
            answer = self._advance(request)
        return Stand(int(answer.time_ps), int(answer.stop) if answer.HasField("stop") else None)

    def run(self, speed: Fraction | None) -> None:
        """Lets time pass by itself, this many seconds in one; None: as fast as the machine can."""
        request = world_pb2.RunRequest()
        if speed is not None:
            request.speed.over = speed.numerator
            request.speed.under = speed.denominator
        with refusals("time does not pass"):
            self._run(request, timeout=REQUEST_DEADLINE_S)

    def pause(self) -> int:
        """Brings the world to a stand; the instant, in picoseconds."""
        with refusals("time does not stop"):
            answer = self._pause(world_pb2.PauseRequest(), timeout=REQUEST_DEADLINE_S)
        return int(answer.time_ps)

    # ---- looking ---------------------------------------------------------------------------------

    def look(
        self,
        hosts: Sequence[str] = (),
        *,
        connections: bool = False,
        apps: bool = False,
        topology: bool = False,
    ) -> world_pb2.LookResponse:
        """The state of everything, all at one instant; of these hosts, or of all."""
        request = world_pb2.LookRequest(
            hosts=hosts, connections=connections, apps=apps, topology=topology
        )
        with refusals("the world does not say what there is"):
            return self._look(request, timeout=REQUEST_DEADLINE_S)

    def report(self, app: int) -> world_pb2.AppReport:
        """An application's results until now."""
        return next(each for each in self.look(apps=True).apps if each.app == app)

    @contextlib.contextmanager
    def watch_hosts(
        self, *, interval_ns: int = 0, hosts: Sequence[str] = (), events: bool = False
    ) -> Iterator[Iterator[world_pb2.WatchHostsResponse]]:
        """Samples of hosts and what their applications see, while the `with` block runs.

        Read it while time passes, as by a thread of its own: it is complete, and the world waits
        for its reader.
        """
        request = world_pb2.WatchHostsRequest(interval_ns=interval_ns, hosts=hosts, events=events)
        with in_force(self._watch_hosts(request)) as told:
            yield _told(told)

    # ---- faults ----------------------------------------------------------------------------------

    def fault(self, request: world_pb2.FaultRequest) -> None:
        """Causes a fault or its repair at the present instant."""
        with refusals("that cannot go wrong"):
            self._fault(request, timeout=REQUEST_DEADLINE_S)

    # ---- packets by hand -------------------------------------------------------------------------

    def inject(self, router: str, port: int, frames: Sequence[bytes]) -> int:
        """Frames come in by a port of a router at the present instant; that instant."""
        end = world_pb2.CableEnd(node=router, port=port)
        request = world_pb2.InjectRequest(at=end, frames=frames)
        with refusals(f"nothing can come in by port {port} of {router}"):
            return int(self._inject(request, timeout=REQUEST_DEADLINE_S).time_ps)

    # ---- classes that decide ---------------------------------------------------------------------

    def invite(self, request: world_pb2.InviteRequest) -> None:
        """From now on a Python class decides in the place of a part of a router."""
        with refusals(f"{request.decider} cannot decide"):
            # Its process begins first, which imports what the class imports.
            self._invite(request, timeout=REQUEST_DEADLINE_S)


def _told(call: grpc.Call) -> Iterator[world_pb2.WatchHostsResponse]:
    try:
        yield from call
    except grpc.RpcError as error:
        # Cancelling is how a reader says it has seen enough.
        if error.code() is not grpc.StatusCode.CANCELLED:
            with refusals("the world ended the stream of its hosts"):
                raise
