"""A check's interface to a network, whether its time is virtual or real.

`course.tools.network` makes one:

    with network(work, topology, runs(program, routes)) as net:
        sink = net.sink("h2", 5001)
        net.datagrams("h1", "h2", 5001, rate_bps=5_000_000, span_s=2)
        net.let_pass(3)
        net.flow(sink).received
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from vitrine.v1 import router_pb2, world_pb2

from controller.queues import Queues
from controller.session import Packet, Session
from course.story import Moment, Refused
from topo.model import Switch, Topology

# Gives a router its program and its entries.
Load: TypeAlias = Callable[[Switch, Session], None]


class Network(ABC):
    """A network that is up."""

    def __init__(self, topology: Topology, sessions: Mapping[str, Session]) -> None:
        self.topology = topology
        self.sessions = sessions

    # ---- time ------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def now_s(self) -> float:
        """How long the network has been up."""

    @abstractmethod
    def let_pass(self, seconds: float) -> None:
        """Lets time pass."""

    # ---- what hosts do ---------------------------------------------------------------------------

    @abstractmethod
    def sink(self, host: str, port: int) -> int:
        """Takes the datagrams to a port; the application's number."""

    @abstractmethod
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
        """Sends UDP at a rate, `burst` datagrams at once; the application's number."""

    @abstractmethod
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
        """TCP sends as fast as it can, for `span_s` or `length_bytes`; the sender's number."""

    @abstractmethod
    def ping(self, host: str, to: str, count: int = 1, interval_s: float = 1.0) -> int:
        """Pings a host, or an address; the application's number."""

    @abstractmethod
    def report(self, app: int) -> world_pb2.AppReport:
        """The report of an application so far."""

    def flow(self, sink: int) -> world_pb2.DatagramFlow:
        """The flow at a sink that has one source; empty if nothing arrived."""
        flows = self.report(sink).datagram_sink.flows
        return flows[0] if flows else world_pb2.DatagramFlow()

    # ---- cables ----------------------------------------------------------------------------------

    @abstractmethod
    def cut(self, router: str, port: int) -> None:
        """Cuts the cable at a router's port."""

    @abstractmethod
    def mend(self, router: str, port: int) -> None:
        """Joins what was cut."""

    # ---- what routers tell -----------------------------------------------------------------------

    def port(self, router: str, number: int) -> router_pb2.Port:
        """All that can be read of a port at this instant."""
        return Queues(self.sessions[router]).describe([number]).ports[0]

    @abstractmethod
    def events(
        self, router: str, **wanted: object
    ) -> contextlib.AbstractContextManager[Callable[[], list[router_pb2.Event]]]:
        """The events of a router from now on, by a function that returns those up to the present.

        `wanted` are fields of WatchRequest. Only for rare events: at most 16 MB of unread ones are
        stored.
        """

    @abstractmethod
    def handed_up(self) -> Iterator[tuple[str, Packet]]:
        """Packets from routers to their controllers until now, by router."""

    @abstractmethod
    def send(self, router: str, packet: Packet) -> None:
        """Sends a packet as a router's controller."""

    @abstractmethod
    def settle(self) -> None:
        """Waits until routers have what their controllers sent."""


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
