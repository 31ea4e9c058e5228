"""One router whose neighbours the check plays itself: nothing is between question and answer.

Ports 1 and 2 lead to hosts; ports 3 and 4, 5 and 8 away, to routers that speak link state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import NoReturn

from controller.entries import Call
from controller.values import Mac
from course.exercise import Work
from course.exercises.control_plane import speak
from course.exercises.control_plane.fabric import Hop, network_of, program
from course.exercises.control_plane.process import Act, Asked, Control, Port, Sent, running
from course.exercises.control_plane.speak import Advert, Station
from course.story import Refused, Story

ROUTER = IPv4Address("10.255.0.1")
COSTS = {3: 5, 4: 8}
TICK_S = 0.05


@dataclass
class Desk:
    """The router, and what is known of its neighbours."""

    control: Control
    asked: Asked
    now_s: float = 0.0
    table: dict[IPv4Network, Hop] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def port(self, number: int) -> Port:
        """A port of the router."""
        return self.asked.port(number)

    def own(self, number: int) -> Station:
        """The router itself, as its neighbours at a port see it."""
        port = self.port(number)
        return Station(port.address.ip, port.mac.packed)

    def station(self, number: int, last: int) -> Station:
        """Somebody in the network of a port."""
        address = IPv4Address(int(self.port(number).address.network.network_address) + last)
        return Station(address, bytes([2, 0xEE, number, 0, 0, last]))

    def begin(self) -> None:
        """Makes the control plane."""
        self._note(self.control.begin())

    def comes(self, port: int, reason: int, frame: bytes) -> list[Act]:
        """A packet comes to the controller; what it does."""
        self.said.append(f"port {port} brings: {speak.frame_words(frame)}")
        return self._note(self.control.packet(round(self.now_s, 3), port, reason, frame))

    def tells(self, port: int, body: bytes) -> list[Act]:
        """The neighbouring router at a port says something."""
        neighbour = self.station(port, 2)
        target = speak.ALL_ROUTERS
        frame = speak.packet(
            neighbour, speak.ALL_ROUTERS_MAC, target, speak.LINK_STATE, body, ttl=1
        )
        return self.comes(port, speak.TTL, frame)

    def waits(self, seconds: float, meanwhile: Callable[[], None] | None = None) -> list[Act]:
        """Time passes; `meanwhile` is called every tenth of a second."""
        acts: list[Act] = []
        for number in range(round(seconds / TICK_S)):
            self.now_s += TICK_S
            if meanwhile is not None and number % 2 == 0:
                meanwhile()
            acts += self._note(self.control.tick(round(self.now_s, 3)))
        return acts

    def _note(self, acts: list[Act]) -> list[Act]:
        for act in acts:
            if isinstance(act, Sent):
                continue
            network = network_of(act.entry)
            call = act.entry.call
            if act.kind == "delete" or not isinstance(call, Call):
                self.table.pop(network, None)
            elif "dst_addr" in call.args:
                args = call.args
                self.table[network] = Hop(int(str(args["port"])), int(str(args["dst_addr"])))
        return acts

    def refuse(
        self, done: str, expected: str, because: str, came: str, acts: Sequence[Act] = ()
    ) -> NoReturn:
        """Says what was not as it should be, and how it came to that."""
        way = [*self.said[-6:], *speak.words(acts)]
        raise Refused(Story(done, expected, because, came, tuple(way)))


@contextlib.contextmanager
def desk(work: Work, *, static: Sequence[tuple[str, int]] = ()) -> Iterator[Desk]:
    """A router of this student's addresses. Static routes lead by a neighbour at port 2."""
    dice = work.dice("addresses")
    first = dice.randrange(1, 250)
    addresses = {
        1: f"10.{first}.1.254/24",
        2: f"10.{first}.2.254/24",
        3: f"10.{first}.12.1/30",
        4: f"10.{first}.13.1/30",
    }
    ports = tuple(
        Port(
            number,
            Mac(0x02AA00000000 + number),
            IPv4Interface(address),
            COSTS.get(number, 1),
            number in COSTS,
        )
        for number, address in addresses.items()
    )
    base = int(ports[1].address.network.network_address)
    ways = tuple((IPv4Network(prefix), IPv4Address(base + last)) for prefix, last in static)
    asked = Asked("the router", str(ROUTER), ports, ways)
    info, _ = program()
    with running(work, [(asked, work.folder, info)]) as (control,):
        found = Desk(control, asked)
        found.begin()
        yield found


def advert(
    origin: str, sequence: int, links: Sequence[tuple[str, int]], networks: Sequence[str]
) -> Advert:
    """An advert, its addresses as text."""
    return Advert(
        IPv4Address(origin),
        sequence,
        tuple((IPv4Address(router), cost) for router, cost in links),
        tuple(IPv4Network(each) for each in networks),
    )
