"""The checks of a first router: one packet a case, then many, then hosts that talk through it.

Each case looks at one thing and leaves the rest alone, so that one mistake costs its own points.
"""

from __future__ import annotations

import ipaddress
from random import Random

from course.exercise import Case, Exercise, Work
from course.exercises.first_router.router import Route, Router
from course.exercises.first_router.traffic import talk
from course.story import Refused
from course.tools.packets import Packet, checksum_is_right
from course.tools.tracer import compile_program

MANY = 200


def begin(work: Work) -> Router:
    """Compiles the submission and gives it a table of its own for this student."""
    router = Router(compile_program(work, "router.p4"), _routes(work.dice("routes")))
    # Entries that do not fit are reported once, before any case.
    router.life(Packet("10.0.0.1", "10.0.0.2"))
    return router


def _routes(dice: Random) -> list[Route]:
    """A short prefix, a longer one inside, a host inside of that; and one beside them."""
    net, inner, host, other = dice.sample(range(1, 250), 4)
    ports = dice.sample(range(1, 9), 4)
    return [
        Route(f"10.{net}.0.0", 16, ports[0]),
        Route(f"10.{net}.{inner}.0", 24, ports[1]),
        Route(f"10.{net}.{inner}.{host}", 32, ports[2]),
        Route(f"172.16.{other}.0", 24, ports[3]),
    ]


def _packet(router: Router, route: int, last: int = 0) -> Packet:
    """A packet for an address that this route, and no longer one, leads to."""
    base = ipaddress.IPv4Address(router.routes[route].prefix)
    host = {0: 0xFE00, 1: 251, 2: 0, 3: 17}[route]
    target = base + (host + last if route != 2 else 0)
    return Packet("192.0.2.7", str(target), payload=bytes(range(8)))


def forwards(router: Router) -> None:
    """A packet with one route leaves by its port."""
    router.leaves(_packet(router, 3), because=f"{_RFC}, section 5.2.1.2: forward by the route.")


def longest_prefix(router: Router) -> None:
    """Of several routes that fit, the most specific one counts, at each of three lengths."""
    for route in (0, 1, 2):
        router.leaves(
            _packet(router, route),
            because=f"{_RFC}, section 5.2.4.3: of all routes that match, the longest prefix wins.",
        )


def addresses(router: Router) -> None:
    """The Ethernet header names the router's port and the next hop."""
    for name in ("destination MAC address", "source MAC address"):
        router.leaves_with(
            _packet(router, 3),
            name,
            because=f"{_RFC}, section 3.3.1, and RFC 894: a frame is addressed to the next hop, "
            "by the port it leaves from: forward(port, src_addr, dst_addr).",
        )


def ttl_less_one(router: Router) -> None:
    """Each hop takes one off the TTL."""
    for ttl in (64, 255, 2):
        router.leaves_with(
            _packet(router, 3).but(ttl=ttl),
            "TTL",
            because=f"{_RFC}, section 5.3.1: a router takes at least one off the TTL.",
        )


def ttl_used_up(router: Router) -> None:
    """A packet that has used up its TTL goes no further."""
    for ttl in (1, 0):
        router.ends(
            _packet(router, 3).but(ttl=ttl),
            because=f"{_RFC}, section 5.3.1: a packet whose TTL is 0 after the hop, or was 0 when "
            "it came, is discarded, not forwarded. Otherwise a loop of routes is for ever.",
        )


def checksum_computed(router: Router) -> None:
    """Departing packets have a correct checksum."""
    packet = _packet(router, 3).but(identification=0x1234)
    life = router.life(packet)
    port, frame = router.sent(packet, life, because="A packet with a route leaves.")
    if not checksum_is_right(frame):
        found = int.from_bytes(frame[24:26], "big")
        right = int.from_bytes(router.after(packet)[24:26], "big")
        raise Refused(
            router.story(
                packet,
                life,
                expected=f"a header whose 16-bit words add up: checksum 0x{right:04x} if all other "
                "fields are right",
                because="RFC 1071: the checksum covers the TTL, and the TTL has changed "
                "(RFC 1624 has the difference, here the target computes it anew).",
                came=f"port {port} sent it with checksum 0x{found:04x}, which does not add up; the "
                "next router drops it",
            )
        )


def checksum_wrong(router: Router) -> None:
    """A header that was damaged on the way is dropped."""
    for error in (1, 0x8000):
        router.ends(
            _packet(router, 3).but(checksum_error=error),
            because=f"{_RFC}, section 5.2.2: a router verifies the header checksum and discards "
            "what is wrong. In v1model verify_checksum only sets "
            "standard_metadata.checksum_error; it drops nothing.",
        )


def no_route(router: Router) -> None:
    """A packet without a route is dropped."""
    router.ends(
        Packet("192.0.2.7", "198.51.100.9", payload=bytes(20)),
        because=f"{_RFC}, section 5.2.7.1: without a route there is no next hop to send it to.",
    )


def not_ip(router: Router) -> None:
    """Packets other than IPv4 do not leave."""
    arp = bytes.fromhex("ffffffffffff020000000001080600010800060400010200000000010a00000100000000")
    arp += bytes.fromhex("00000a000002") + bytes(18)
    router.ends_frame(
        arp,
        "an ARP request",
        because="Ethernet broadcasts stay in their network (RFC 1812, section 3.3.2). In v1model "
        "egress_spec begins as 0, so what no action drops leaves by port 0.",
    )


def options(router: Router) -> None:
    """A header with options is dropped, not mistaken for one without."""
    router.ends(
        _packet(router, 3).but(options=bytes([1, 1, 1, 0])),
        because="RFC 791, section 3.1: a header of IHL 6 has 24 bytes, and its checksum covers the "
        "options too. The handout lets your router drop what it cannot read whole.",
        what="an IPv4 packet with four bytes of options",
    )


def cut_short(router: Router) -> None:
    """A frame that ends inside the IPv4 header is dropped."""
    frame = _packet(router, 3).frame[: 14 + 12]
    router.ends_frame(
        frame,
        "a frame that ends after 12 bytes of IPv4 header",
        because="P4-16, section 12.8.1: extract fails with PacketTooShort, and the header stays "
        "invalid; v1model then goes on to ingress.",
    )


def many(router: Router) -> None:
    """Two hundred packets over some fifty routes, each byte as it should be."""
    dice = router.program.work.dice("many")
    networks = {
        ipaddress.IPv4Network((_any(dice), length), strict=False): None
        for length in (9, 12, 16, 19, 22, 24)
        for _ in range(10)
    }
    crowd = Router(
        router.program,
        [Route(str(each[0]), each.prefixlen, dice.randrange(1, 9)) for each in networks],
    )
    packets = [
        Packet(
            "192.0.2.7",
            _near(dice, crowd.routes),
            ttl=dice.choice((1, 2, 64, 128)),
            identification=dice.randrange(1 << 16),
            dscp=dice.randrange(64),
            payload=dice.randbytes(dice.randrange(0, 40)),
        )
        for _ in range(MANY)
    ]
    crowd.all_right(packets)


def _any(dice: Random) -> int:
    return (10 << 24) + dice.randrange(1 << 24)


def _near(dice: Random, routes: list[Route]) -> str:
    """An address behind a route, or, one time in ten, one that no route leads to."""
    if dice.random() < 0.1:
        return f"11.{dice.randrange(256)}.0.1"
    route = dice.choice(routes)
    network = ipaddress.IPv4Network((route.prefix, route.length))
    return str(network[dice.randrange(network.num_addresses)])


_RFC = "RFC 1812"

# Drops by a router that sends nothing are no merit: these count after a packet that leaves right.
_SENDS = ("forwards", "checksum-computed")

EXERCISE = Exercise(
    name="first-router",
    title="Your first router",
    question="What must a router do with a packet, and which packets must it drop?",
    minutes=90,
    files=("router.p4",),
    begin=begin,
    cases=(
        Case("forwards", "A packet with a route leaves by its port.", 5, forwards),
        Case("longest-prefix", "Of several routes the most specific wins.", 15, longest_prefix),
        Case("addresses", "The frame goes from the port to the next hop.", 10, addresses),
        Case("ttl-less-one", "Each hop takes one off the TTL.", 10, ttl_less_one),
        Case(
            "checksum-computed",
            "What leaves has a right checksum.",
            15,
            checksum_computed,
            behind=("ttl-less-one",),
        ),
        Case(
            "ttl-used-up",
            "A packet whose TTL is used up is dropped.",
            10,
            ttl_used_up,
            behind=_SENDS,
        ),
        Case("checksum-wrong", "A damaged header is dropped.", 5, checksum_wrong, behind=_SENDS),
        Case("no-route", "A packet without a route is dropped.", 5, no_route, behind=_SENDS),
        Case("not-ip", "What is not IPv4 is dropped.", 5, not_ip, behind=_SENDS),
        Case("options", "A header with options is dropped.", 5, options, behind=_SENDS),
        Case(
            "cut-short",
            "A frame that ends in its header is dropped.",
            5,
            cut_short,
            behind=_SENDS,
        ),
        Case("many", "Two hundred packets over fifty routes are right to the byte.", 5, many),
        Case("ping-and-tcp", "Two hosts ping and run TCP through two of it.", 5, talk, live=True),
    ),
)
