"""A submitted router with routes in its table: sends packets in, and says what should come out."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from course.story import Refused, Story
from course.tools.packets import ETHERNET_BYTES, FIELDS, Packet, field, show
from course.tools.tracer import Life, Program

IN_PORT = 9


@dataclass(frozen=True)
class Route:
    """A prefix, and the port that leads to it."""

    prefix: str
    length: int
    port: int

    @property
    def source_mac(self) -> int:
        """Of the router's port."""
        return 0x02AA00000000 + self.port

    @property
    def target_mac(self) -> int:
        """Of the next hop."""
        return 0x02BB00000000 + self.port

    @property
    def entry(self) -> str:
        """As a line of STF."""
        prefix = int(ipaddress.IPv4Address(self.prefix))
        return (
            f"add routes hdr.ipv4.dst_addr:0x{prefix:08x}/{self.length} "
            f"forward(port:{self.port}, src_addr:0x{self.source_mac:012x}, "
            f"dst_addr:0x{self.target_mac:012x})"
        )

    def leads_to(self, target: str) -> bool:
        """Whether an address lies behind this route."""
        network = ipaddress.IPv4Network((self.prefix, self.length))
        return ipaddress.IPv4Address(target) in network

    def __str__(self) -> str:
        return f"{self.prefix}/{self.length} by port {self.port}"


class Router:
    """A submission with these routes."""

    def __init__(self, program: Program, routes: list[Route]) -> None:
        self.program = program
        self.routes = routes
        self._entries = [route.entry for route in routes]

    def life(self, packet: Packet) -> Life:
        """The life of a packet."""
        return self._lives([packet.frame])[0]

    def _lives(self, frames: Sequence[bytes]) -> list[Life]:
        return self.program.lives(self._entries, [(IN_PORT, frame) for frame in frames])

    # ---- what should happen ----------------------------------------------------------------------

    def route(self, packet: Packet) -> Route | None:
        """The longest prefix that fits; none if the packet is to be dropped."""
        fitting = [route for route in self.routes if route.leads_to(packet.target)]
        if packet.ttl <= 1 or not fitting:
            return None
        return max(fitting, key=lambda route: route.length)

    def after(self, packet: Packet) -> bytes:
        """The frame that a right router makes of a packet that has a route."""
        route = self.route(packet)
        assert route is not None, "it has a route"
        return packet.but(
            ttl=packet.ttl - 1, from_mac=route.source_mac, to_mac=route.target_mac
        ).frame

    # ---- checks ----------------------------------------------------------------------------------

    def leaves(self, packet: Packet, *, because: str) -> tuple[int, bytes]:
        """The packet leaves by the port of its route, and by no other."""
        life = self.life(packet)
        port, frame = self.sent(packet, life, because)
        route = self.route(packet)
        assert route is not None, "the case sends packets that have routes"
        if port != route.port:
            fitting = ", ".join(str(each) for each in self.routes if each.leads_to(packet.target))
            raise Refused(
                self.story(
                    packet,
                    life,
                    expected=f"it leaves by port {route.port}; the routes that fit: {fitting}",
                    because=because,
                    came=f"it left by port {port}",
                )
            )
        return port, frame

    def leaves_with(self, packet: Packet, name: str, *, because: str) -> None:
        """The packet leaves with the right value in one field."""
        life = self.life(packet)
        _, frame = self.sent(packet, life, because)
        want, have = field(self.after(packet), name), field(frame, name)
        if want != have:
            raise Refused(
                self.story(
                    packet,
                    life,
                    expected=f"{name} {show(name, want)}",
                    because=because,
                    came=f"it left with {name} {show(name, have)}",
                )
            )

    def ends(self, packet: Packet, *, because: str, what: str = "") -> None:
        """The packet does not leave."""
        self.ends_frame(
            packet.frame,
            what or f"the packet {packet}",
            because=because,
            entries=self._fitting(packet),
        )

    def ends_frame(
        self, frame: bytes, what: str, *, because: str, entries: Sequence[str] = ()
    ) -> None:
        """The frame does not leave."""
        life = self._lives([frame])[0]
        if life.sent:
            port, sent = life.sent[0]
            ttl = f" with TTL {sent[22]}" if len(sent) > 22 and sent[12:14] == b"\x08\x00" else ""
            raise Refused(
                Story(
                    done=f"{_capital(what)} came in at port {IN_PORT}.",
                    expected="Nothing comes out.",
                    because=because,
                    came=f"It left by port {port}{ttl}.",
                    way=tuple(life.steps),
                    again=self.program.again(entries or self._entries[:1], IN_PORT, frame),
                )
            )

    def all_right(self, packets: Sequence[Packet]) -> None:
        """Each packet leaves as it should, to the byte, or is dropped as it should be."""
        lives = self._lives([packet.frame for packet in packets])
        for number, (packet, life) in enumerate(zip(packets, lives, strict=True), 1):
            route = self.route(packet)
            if route is None:
                wanted, expected = [], "nothing to come out"
            else:
                wanted = [(route.port, self.after(packet))]
                expected = f"it to leave by port {route.port}, {route.prefix}/{route.length}"
            if life.sent != wanted:
                raise Refused(
                    self.story(
                        packet,
                        life,
                        expected=f"{expected} (packet {number} of {len(packets)})",
                        because="All of the above at once: RFC 1812, sections 5.2.4.3 and 5.3.1.",
                        came=_difference(life.sent, wanted),
                    )
                )

    def sent(self, packet: Packet, life: Life, because: str) -> tuple[int, bytes]:
        """The one frame that came out, long enough to be looked at."""
        if len(life.sent) == 1 and len(life.sent[0][1]) >= ETHERNET_BYTES + 20:
            return life.sent[0]
        came = f"{len(life.sent)} frames came out" if life.sent else "nothing came out"
        if life.dropped:
            came += f": {life.dropped[0]}"
        if life.sent and len(life.sent) == 1:
            came = f"a frame of {len(life.sent[0][1])} bytes came out, which is no IPv4 packet"
        raise Refused(
            self.story(packet, life, expected="one packet comes out", because=because, came=came)
        )

    def story(self, packet: Packet, life: Life, *, expected: str, because: str, came: str) -> Story:
        """The events of a packet that came in."""
        return Story(
            done=f"The packet {packet} came in at port {IN_PORT}.",
            expected=f"{_capital(expected)}.",
            because=because,
            came=f"{_capital(came)}.",
            way=tuple(life.steps),
            again=self.program.again(self._fitting(packet), IN_PORT, packet.frame),
        )

    def _fitting(self, packet: Packet) -> list[str]:
        """The entries that matter for a packet, so that a command line stays short."""
        return [route.entry for route in self.routes if route.leads_to(packet.target)]


def _difference(sent: list[tuple[int, bytes]], wanted: list[tuple[int, bytes]]) -> str:
    if not sent:
        return "nothing came out"
    port, frame = sent[0]
    if len(sent) > 1:
        return f"{len(sent)} frames came out, the first by port {port}"
    if not wanted:
        return f"it left by port {port}"
    wanted_port, wanted_frame = wanted[0]
    if port != wanted_port:
        return f"it left by port {port}"
    for name, start, end in FIELDS:
        if frame[start:end] != wanted_frame[start:end]:
            have, want = show(name, frame[start:end]), show(name, wanted_frame[start:end])
            return f"it left with {name} {have}, not {want}"
    return "what is behind the IPv4 header was changed, and a router leaves it alone"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
