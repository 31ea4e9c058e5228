"""A router's answers in its own name: ARP and ICMP, one question a time."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address

from course.exercise import Work
from course.exercises.control_plane import speak
from course.exercises.control_plane.desk import Desk, desk
from course.exercises.control_plane.process import Act, Sent
from course.exercises.control_plane.speak import Station
from course.tools.packets import checksum

NOBODY = Station(IPv4Address("0.0.0.0"), bytes(6))
_FAR = IPv4Address("172.31.9.9")
_ARP = "RFC 826: whoever is asked for answers to the one who asks, and nobody else does."
_ECHO = (
    "RFC 792 and RFC 1122, section 3.2.2.6: an echo reply has the request's identifier, number "
    "and data, comes from the address that was asked, and its checksum covers all of it."
)
_QUOTE = (
    "RFC 792: an error quotes the packet's header and the first 8 bytes behind it, so that its "
    "sender knows whose packet it was; RFC 1812, section 4.3.2.4: it comes from the router's "
    "address at the port where the packet came in. "
)
_SILENT = (
    "RFC 1812, section 4.3.2.7: no error about an error, about a later fragment, or about what "
    "was sent to many: they would breed."
)


def arp(work: Work) -> None:
    """Requests for an address of the port are answered, and no others."""
    with desk(work) as router:
        for number in (1, 3):
            asker, own = router.station(number, 2), router.own(number)
            question = speak.arp(1, speak.BROADCAST, asker, Station(own.address, bytes(6)))
            acts = router.comes(number, speak.NEIGHBOUR, question)
            wanted = Sent(number, speak.arp(2, asker.mac, own, asker))
            if [_shape(act) for act in _sent(acts)] != [_shape(wanted)]:
                router.refuse(
                    f"{asker.address} asked at port {number} who has {own.address}.",
                    f"One frame, by port {number}: {speak.frame_words(wanted.frame)}.",
                    _ARP,
                    _came(acts),
                    acts,
                )
        asker, other = router.station(1, 2), router.station(1, 9)
        question = speak.arp(1, speak.BROADCAST, asker, Station(other.address, bytes(6)))
        _silent(router, router.comes(1, speak.NEIGHBOUR, question), _ARP, "Somebody else was meant")


def _shape(act: Sent) -> tuple[int, bytes]:
    """A frame without what pads it."""
    return act.port, act.frame[:42]


def ping(work: Work) -> None:
    """Each of its addresses answers pings, also one of another port."""
    with desk(work) as router:
        asker = router.station(1, 5)
        for number, payload in ((1, bytes(range(56))), (2, b"an odd length"), (3, b"")):
            rest = bytes([0x12, 0x34, 0, number]) + payload
            target = router.own(number).address
            request = speak.packet(
                asker, router.own(1).mac, target, speak.ICMP, speak.icmp(speak.ECHO, 0, rest)
            )
            acts = router.comes(1, speak.LOCAL, request)
            done = f"{asker.address} pinged {target} with {len(payload)} bytes."
            wanted = speak.icmp(speak.ECHO_REPLY, 0, rest)
            _icmp(router, acts, asker, target, wanted, done, _ECHO)


def time_exceeded(work: Work) -> None:
    """A packet whose TTL is used up is reported, by the port at which it came."""
    with desk(work) as router:
        for number in (1, 2):
            asker = router.station(number, 5)
            frame = speak.packet(
                asker, router.own(number).mac, _FAR, speak.UDP, speak.datagram(), ttl=1
            )
            acts = router.comes(number, speak.TTL, frame)
            done = f"A datagram of {asker.address} for {_FAR} came with TTL 1 at port {number}."
            _error(router, acts, number, asker, frame, (speak.EXCEEDED, 0), done)
        # A ping to the router itself needs no further hop.
        own = router.own(1).address
        asker = router.station(1, 5)
        rest = bytes([1, 2, 3, 4, 5, 6])
        request = speak.packet(
            asker, router.own(1).mac, own, speak.ICMP, speak.icmp(speak.ECHO, 0, rest), ttl=1
        )
        done = f"{asker.address} pinged {own}, the router's own address, with TTL 1."
        because = "RFC 1812, section 5.3.1: TTL is checked where a packet is forwarded, and this "
        because += "one has arrived."
        wanted = speak.icmp(speak.ECHO_REPLY, 0, rest)
        acts = router.comes(1, speak.TTL, request)
        _icmp(router, acts, asker, own, wanted, done, because)


def unreachable(work: Work) -> None:
    """Without a route, or an answer from the last hop, the sender is notified; never about an
    error."""
    with desk(work) as router:
        asker, mac = router.station(1, 5), router.own(1).mac
        frame = speak.packet(asker, mac, _FAR, speak.UDP, speak.datagram(), ttl=9)
        acts = router.comes(1, speak.NO_ROUTE, frame)
        done = f"A datagram of {asker.address} came for {_FAR}, to which there is no route."
        _error(router, acts, 1, asker, frame, (speak.UNREACHABLE, 0), done)
        fragment = speak.packet(asker, mac, _FAR, speak.UDP, bytes(32), fragment=0x20)
        failure = speak.icmp(speak.UNREACHABLE, 1, bytes(32))
        error = speak.packet(asker, mac, _FAR, speak.ICMP, failure)
        group = IPv4Address("239.1.2.3")
        many = speak.packet(asker, bytes.fromhex("01005e010203"), group, speak.UDP, bytes(32))
        for what, each in (
            ("A later fragment of a packet without a route came", fragment),
            ("An ICMP error without a route came", error),
            ("A datagram for a group came, to which there is no route", many),
        ):
            _silent(router, router.comes(1, speak.NO_ROUTE, each), _SILENT, what)
        absent = router.station(2, 99)
        frame = speak.packet(asker, mac, absent.address, speak.UDP, speak.datagram())
        router.comes(1, speak.NO_ROUTE, frame)
        acts = [act for act in router.waits(3) if _is_icmp(act)]
        done = f"A datagram of {asker.address} came for {absent.address}, a host in the network of "
        done += "port 2 that answers no ARP; 3 s passed."
        _error(router, acts, 1, asker, frame, (speak.UNREACHABLE, 1), done)


# ---- what came -----------------------------------------------------------------------------------


def _sent(acts: Sequence[Act]) -> list[Sent]:
    return [act for act in acts if isinstance(act, Sent)]


def _is_icmp(act: Act) -> bool:
    return isinstance(act, Sent) and act.frame[12:14] == b"\x08\x00" and act.frame[23] == 1


def _came(acts: Sequence[Act]) -> str:
    sent = _sent(acts)
    if not sent:
        return "It sent nothing."
    return "It sent " + "; ".join(
        f"by port {each.port} {speak.frame_words(each.frame)}" for each in sent[:3]
    )


def _silent(router: Desk, acts: Sequence[Act], because: str, what: str) -> None:
    if any(_is_icmp(act) or act.frame[12:14] == b"\x08\x06" for act in _sent(acts)):
        router.refuse(f"{what}.", "No answer.", because, _came(acts), acts)


def _error(
    router: Desk,
    acts: Sequence[Act],
    number: int,
    asker: Station,
    about: bytes,
    kind_code: tuple[int, int],
    done: str,
) -> None:
    """One ICMP error about a frame, whatever more of it is quoted than must be."""
    packet, because = about[14:], _QUOTE + _WHY[kind_code]
    sent = _sent(acts)
    quoted = sent[0].frame[42:] if len(sent) == 1 else b""
    least, most = packet[:28], packet[:548]
    if not (quoted.startswith(least) and most.startswith(quoted)):
        quoted = least
    wanted = speak.icmp(*kind_code, bytes(4) + quoted)
    _icmp(router, acts, asker, router.own(number).address, wanted, done, because)


_WHY = {
    (speak.EXCEEDED, 0): "Type 11, code 0: TTL exceeded in transit. traceroute lives on it.",
    (speak.UNREACHABLE, 0): "Type 3, code 0: network unreachable.",
    (speak.UNREACHABLE, 1): "Type 3, code 1: host unreachable, for the last router on the way "
    "(RFC 1812, section 4.3.3.1).",
}


def _icmp(
    router: Desk,
    acts: Sequence[Act],
    asker: Station,
    source: IPv4Address,
    message: bytes,
    done: str,
    because: str,
) -> None:
    """One frame back to the asker, with this message."""
    expected = (
        f"One frame back to {asker.mac.hex(':')}: ICMP {source} > {asker.address}, type "
        f"{message[0]}, code {message[1]}, {len(message)} bytes."
    )
    sent = _sent(acts)
    came = _came(acts)
    if len(sent) == 1:
        came = _wrong(router, sent[0], asker, source, message)
    if came:
        router.refuse(done, expected, because, came, acts)


def _wrong(router: Desk, sent: Sent, asker: Station, source: IPv4Address, message: bytes) -> str:
    """The mistake in an answer; nothing, if there is none."""
    frame = sent.frame
    number = next(
        each.number for each in router.asked.ports if asker.address in each.address.network
    )
    head, body = frame[14:34], frame[34 : 14 + int.from_bytes(frame[16:18], "big")]
    told = speak.frame_words(frame)
    if sent.port != number:
        return f"It left by port {sent.port}, and the asker is at port {number}: {told}."
    if frame[:6] != asker.mac or frame[6:12] != router.own(number).mac:
        return f"The frame goes from {frame[6:12].hex(':')} to {frame[:6].hex(':')}: {told}."
    if len(frame) < 42 or frame[12:15] != b"\x08\x00\x45" or frame[23] != speak.ICMP:
        return f"It is no ICMP over IPv4 with a header of 20 bytes: {told}."
    if head[12:20] != source.packed + asker.address.packed:
        return f"Its addresses are others: {told}."
    if checksum(head) != 0 or head[8] < 2:
        return f"Its IPv4 header is wrong: TTL {head[8]}, checksum 0x{head[10:12].hex()}."
    if body[:2] != message[:2]:
        return f"It is of another type or code: {told}."
    if body[4:] != message[4:]:
        return (
            f"It carries other data behind its checksum: {body[4:].hex()}, not {message[4:].hex()}."
        )
    if body != message:
        return f"Its ICMP checksum is 0x{body[2:4].hex()}, not 0x{message[2:4].hex()}."
    return ""
