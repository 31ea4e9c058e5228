"""The checks of address translation: the mappings, and the new checksums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from random import Random

from course.exercise import Case, Exercise, Work
from course.exercises.address_translation import segments
from course.exercises.address_translation.segments import NAMES, TCP, UDP, End, Segment, some_bytes
from course.story import Refused, Story
from course.tools.packets import checksum_is_right
from course.tools.tracer import Life, Program, compile_program

INSIDE, OUTSIDE = 1, 2
# Sizes of payloads: none, an odd one, a full segment.
SIZES = (0, 7, 1400)
_RFC_3022 = "RFC 3022, section 2.2"
_RFC_1624 = "RFC 1624, section 3"


@dataclass(frozen=True)
class Mapping:
    """One connection of the house: who it is inside, and what the Internet sees."""

    protocol: int
    inside: End
    outside: End

    @property
    def entries(self) -> tuple[str, str]:
        """Both ways, as lines of STF."""

        def line(table: str, action: str, key: End, to: End) -> str:
            return (
                f"add ingress.{table} protocol:{self.protocol} addr:{int(key.addr):#010x} "
                f"port:{key.port} ingress.{action}(addr:{int(to.addr):#010x}, port:{to.port})"
            )

        return (
            line("outbound", "translate_source", self.inside, self.outside),
            line("inbound", "translate_destination", self.outside, self.inside),
        )


@dataclass(frozen=True)
class House:
    """The submission, with the connections of this student's house in its tables."""

    program: Program
    mappings: Sequence[Mapping]
    server: End

    @property
    def entries(self) -> list[str]:
        """All tables."""
        return [line for mapping in self.mappings for line in mapping.entries]

    def going_out(self, mapping: Mapping, payload: bytes = b"") -> Segment:
        """From a host of the house to the server."""
        return Segment(mapping.protocol, mapping.inside, self.server, payload)

    def coming_in(self, mapping: Mapping, payload: bytes = b"") -> Segment:
        """From the server to the house."""
        return Segment(mapping.protocol, self.server, mapping.outside, payload)

    def life(self, port: int, frame: bytes) -> Life:
        """The life of a frame."""
        return self.program.lives(self.entries, [(port, frame)])[0]

    def refuse(
        self, done: str, expected: str, because: str, came: str, life: Life, port: int, frame: bytes
    ) -> Refused:
        """The story of a packet that went wrong."""
        return Refused(
            Story(
                done=done,
                expected=expected,
                because=because,
                came=came,
                way=tuple(life.steps),
                again=self.program.again(self.entries, port, frame),
            )
        )

    def translated(self, mapping: Mapping, segment: Segment, because: str) -> tuple[bytes, Life]:
        """The frame that comes out translated; refused if it does not, or otherwise."""
        is_out = segment.source == mapping.inside
        port, to_port = (INSIDE, OUTSIDE) if is_out else (OUTSIDE, INSIDE)
        source = mapping.outside if is_out else segment.source
        target = segment.target if is_out else mapping.inside
        life = self.life(port, segment.frame)
        done = f"{segment} came in at port {port}."
        expected = f"It leaves by port {to_port}, as {source} > {target}."
        if [at for at, _ in life.sent] != [to_port]:
            came = _where(life)
            raise self.refuse(done, expected, because, came, life, port, segment.frame)
        frame = life.sent[0][1]
        if len(frame) != len(segment.frame) or segments.read(frame)[:2] != (source, target):
            found = segments.read(frame) if len(frame) >= len(segment.frame) else None
            came = f"It left as {found[0]} > {found[1]}." if found else f"{len(frame)} bytes left."
            raise self.refuse(done, expected, because, came, life, port, segment.frame)
        return frame, life


def _where(life: Life) -> str:
    if not life.sent:
        return "Nothing came out."
    return "It left by " + " and ".join(f"port {port}" for port, _ in life.sent) + "."


def begin(work: Work) -> House:
    """Compiles the submission and fills its tables with a house of this student's."""
    dice = work.dice("house")
    public = IPv4Address(f"203.0.113.{dice.randrange(1, 250)}")
    hosts = [IPv4Address(f"192.168.{dice.randrange(256)}.{last}") for last in (10, 11)]
    ports = dice.sample(range(1024, 65536), 8)
    mappings = [
        Mapping(protocol, End(host, ports[2 * index]), End(public, ports[2 * index + 1]))
        for index, (protocol, host) in enumerate(
            (protocol, host) for protocol in (TCP, UDP) for host in hosts
        )
    ]
    server = End(IPv4Address(f"198.51.100.{dice.randrange(1, 250)}"), 443)
    house = House(compile_program(work, "nat.p4"), mappings, server)
    # Entries that do not fit are reported once, before any case.
    house.life(INSIDE, house.going_out(mappings[0]).frame)
    return house


def outbound(house: House) -> None:
    """Packets from a host of the house leave with the public address and a port of their own."""
    for mapping in house.mappings:
        because = (
            f"{_RFC_3022}: the source address and the source port of what leaves are replaced."
        )
        house.translated(mapping, house.going_out(mapping, b"hello"), because)


def inbound(house: House) -> None:
    """Answers find their host again."""
    for mapping in house.mappings:
        because = f"{_RFC_3022}: of what comes back the destination address and port are replaced."
        house.translated(mapping, house.coming_in(mapping, b"world"), because)


def _both_ways(house: House, protocol: int, payload: bytes) -> list[tuple[Mapping, Segment]]:
    found = [each for each in house.mappings if each.protocol == protocol]
    return [
        (mapping, segment)
        for mapping in found
        for segment in (house.going_out(mapping, payload), house.coming_in(mapping, payload))
    ]


def ip_checksum(house: House) -> None:
    """The IPv4 header's checksum is that of the new addresses."""
    for protocol in (TCP, UDP):
        for mapping, segment in _both_ways(house, protocol, b"x"):
            frame, life = house.translated(mapping, segment, _FIRST_TRANSLATE)
            if not checksum_is_right(frame):
                raise house.refuse(
                    f"{segment} came in.",
                    "It leaves with a right header checksum.",
                    "RFC 791, section 3.1: the checksum covers the addresses, and whoever changes "
                    "the header computes it anew.",
                    f"The checksum is {frame[24:26].hex()}, which is wrong.",
                    life,
                    _port(mapping, segment),
                    segment.frame,
                )


_FIRST_TRANSLATE = "Before its checksum can be looked at, the packet has to be translated."


def _port(mapping: Mapping, segment: Segment) -> int:
    return INSIDE if segment.source == mapping.inside else OUTSIDE


def _checksums(house: House, protocol: int) -> None:
    dice = house.program.work.dice("payload")
    for size in SIZES:
        for mapping, segment in _both_ways(house, protocol, some_bytes(dice, size)):
            _summed(
                house,
                mapping,
                segment,
                f"{_RFC_1624}, equation 3: HC' = ~(~HC + ~m + m'). "
                "The checksum covers the ports, and through the pseudo header the addresses.",
            )


def _summed(house: House, mapping: Mapping, segment: Segment, because: str) -> None:
    """The segment leaves with the checksum that it would have had if it had been sent so."""
    frame, life = house.translated(mapping, segment, _FIRST_TRANSLATE)
    source, target, found = segments.read(frame)
    right = segment.but(source=source, target=target).checksum
    if not _same(found, right, segment.protocol):
        raise house.refuse(
            f"{segment} came in, with checksum {segment.checksum:#06x}.",
            f"It leaves as {source} > {target}, with checksum {right:#06x}.",
            because,
            f"Its checksum is {found:#06x}.",
            life,
            _port(mapping, segment),
            segment.frame,
        )


def _same(found: int, right: int, protocol: int) -> bool:
    """Whether two checksums are one; TCP has two ways to write 0."""
    return found == right or (protocol == TCP and {found, right} == {0, 0xFFFF})


def tcp_checksum(house: House) -> None:
    """TCP's checksum is right again, whatever follows the header."""
    _checksums(house, TCP)


def udp_checksum(house: House) -> None:
    """And UDP's."""
    _checksums(house, UDP)


def damage_stays(house: House) -> None:
    """A packet damaged on the way is still damaged behind the router."""
    dice = house.program.work.dice("damage")
    for protocol in (TCP, UDP):
        for mapping, whole in _both_ways(house, protocol, some_bytes(dice, 64)):
            segment = whole.but(damage=dice.randrange(1, 0x7FFF))
            frame, life = house.translated(mapping, segment, _FIRST_TRANSLATE)
            source, target, found = segments.read(frame)
            right = segment.but(source=source, target=target, damage=0).checksum
            # As far from right as it was, in the arithmetic of ones' complements.
            off = (found - right) % 0xFFFF
            if off != (segment.checksum - whole.checksum) % 0xFFFF:
                came = "is right" if off == 0 else f"is off by {off}"
                raise house.refuse(
                    f"{whole} came in, damaged: its checksum was off by "
                    f"{(segment.checksum - whole.checksum) % 0xFFFF}.",
                    "It leaves with a checksum that is off by as much.",
                    f"{_RFC_1624}: only what the router changed is taken out and put in. A "
                    "checksum computed anew would vouch for bytes that nobody has checked.",
                    f"Its checksum {came}.",
                    life,
                    _port(mapping, segment),
                    segment.frame,
                )


def udp_none(house: House) -> None:
    """A datagram without a checksum leaves without one."""
    for mapping, segment in _both_ways(house, UDP, b"no sum"):
        _summed(
            house,
            mapping,
            segment.but(has_checksum=False),
            "RFC 768: a checksum of 0 says that the sender has computed none. RFC 3022, section "
            "4.1: then there is none to change.",
        )


def udp_zero(house: House) -> None:
    """A checksum that comes out as 0 is written as all ones."""
    for mapping, sent in _both_ways(house, UDP, b""):
        is_out = sent.source == mapping.inside
        after = sent.but(source=mapping.outside) if is_out else sent.but(target=mapping.inside)
        payload = segments.that_sums_to_nothing(after).payload
        _summed(
            house,
            mapping,
            sent.but(payload=payload),
            "RFC 768: if the computed checksum is 0, it is transmitted as all ones, because 0 says "
            "that there is none.",
        )


def strangers(house: House) -> None:
    """Packets without an entry get through in neither direction."""
    dice = house.program.work.dice("strangers")
    known = house.mappings[0]
    for port, frame, words in _unknown(house, known, dice):
        life = house.life(port, frame)
        if life.sent:
            raise house.refuse(
                f"{words} came in at port {port}.",
                "It is dropped.",
                f"{_RFC_3022}: only sessions that the router knows are translated. In PSA a packet "
                "is dropped unless the program sends it somewhere.",
                _where(life),
                life,
                port,
                frame,
            )


def _unknown(house: House, known: Mapping, dice: Random) -> list[tuple[int, bytes, str]]:
    other = known.outside.port ^ dice.choice((1, 2, 4))
    wrong_port = house.coming_in(known).but(target=End(known.outside.addr, other))
    wrong_protocol = house.coming_in(known).but(protocol=UDP)
    stranger = house.going_out(known).but(source=End(IPv4Address("192.0.2.99"), known.inside.port))
    arp = bytes.fromhex("ffffffffffff02000000000108060001080006040001") + bytes(20)
    return [
        (OUTSIDE, wrong_port.frame, f"{wrong_port}, a port that nobody has"),
        (OUTSIDE, wrong_protocol.frame, f"{wrong_protocol}, a port that only {NAMES[TCP]} has"),
        (INSIDE, stranger.frame, f"{stranger}, from a host that is not in the table"),
        (OUTSIDE, arp, "An ARP request"),
    ]


EXERCISE = Exercise(
    name="address-translation",
    title="One address for a whole house",
    question="How does a router change addresses that the packets' checksums cover?",
    minutes=120,
    files=("nat.p4",),
    begin=begin,
    cases=(
        Case("outbound", "What leaves has the public address and its port.", 15, outbound),
        Case("inbound", "What comes back finds its host again.", 15, inbound),
        Case("ip-checksum", "The header's checksum is right.", 10, ip_checksum),
        Case("tcp-checksum", "TCP's checksum is right, whatever follows.", 15, tcp_checksum),
        Case("udp-checksum", "And UDP's.", 10, udp_checksum),
        Case("damage-stays", "What came damaged leaves damaged.", 15, damage_stays),
        Case("udp-none", "A datagram without a checksum keeps none.", 10, udp_none),
        Case("udp-zero", "A checksum of 0 is written as all ones.", 5, udp_zero),
        Case(
            "strangers",
            "Who is in no table does not get through.",
            5,
            strangers,
            behind=("outbound", "inbound"),
        ),
    ),
)
