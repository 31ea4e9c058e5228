"""The readable file of a router's classes: what it says, read and checked.

    qos = load(Path("voice.yaml"))  ->  Qos(rules, router, marks, mirrors)

Its words are explained by the program that puts it into force, qos.py beside it; `buffer`, `input`
and what is below `ports` are the words of topology files.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from controller import classes
from controller.classes import Rule
from controller.entities import CloneSession
from controller.errors import ControllerError
from controller.queueing import CLASS_COUNT_MAX, RouterSettings
from topo import deciders, queueing, units
from topo.document import Place

# Where a class may be called by its name.
_CLASS_PLACES = frozenset({"class", "queues", "ecn_marks", "drr", "wfq", "wrr"})
_PROTOCOLS = {
    "icmp": classes.ICMP,
    "tcp": classes.TCP,
    "udp": classes.UDP,
    "icmpv6": classes.ICMPV6,
}
_RULE_KEYS = ("src", "dst", "protocol", "dscp", "src_port", "dst_port", "mirror")


@dataclass(frozen=True)
class Qos:
    """The contents of a file."""

    rules: tuple[Rule, ...]
    router: RouterSettings
    # The depth in packets from which a queue marks, by port and class.
    marks: Mapping[tuple[int, int], int]
    mirrors: tuple[CloneSession, ...]
    # The file's names of its classes.
    names: Mapping[int, str] = field(default_factory=dict)

    def called(self, class_: int) -> str:
        """A class for people: `1 (voice)`."""
        return f"{class_} ({self.names[class_]})" if class_ in self.names else f"{class_}"


def load(file: Path) -> Qos:
    """Reads and checks a file; errors name the line."""
    parts = Place.load(file).fields(
        optional={*queueing.ROUTER_KEYS, "classes", "rules", "ports", "mirrors"}
    )
    numbers = {
        name: place.whole(high=CLASS_COUNT_MAX - 1)
        for name, place in _entries(parts, "classes").items()
    }
    for part in parts.keys() & {"rules", "ports", "mirrors"}:
        parts[part].rename({name: str(number) for name, number in numbers.items()}, _CLASS_PLACES)
    ports = {
        _number(key, place): place.fields(optional={*queueing.PORT_KEYS, "ecn_marks"})
        for key, place in _entries(parts, "ports").items()
    }
    router = queueing.router_settings(
        parts, {port: queueing.port_settings(fields) for port, fields in ports.items()}
    )
    for each in deciders.invitations(0, router):
        raise ControllerError(
            f"{file}: {each.decider} can decide only where a network begins with it: name it in "
            "the topology file."
        )
    return Qos(
        rules=tuple(_rule(place) for place in parts["rules"].items()) if "rules" in parts else (),
        router=router,
        marks={
            (port, _number(class_, depth)): depth.parse(units.packets)
            for port, fields in ports.items()
            for class_, depth in _entries(fields, "ecn_marks").items()
        },
        mirrors=tuple(
            _mirror(_number(key, place), place) for key, place in _entries(parts, "mirrors").items()
        ),
        names={number: name for name, number in numbers.items()},
    )


def _entries(fields: Mapping[str, Place], key: str) -> dict[str, Place]:
    return fields[key].entries() if key in fields else {}


def _rule(place: Place) -> Rule:
    fields = place.fields(required={"class"}, optional=_RULE_KEYS)

    def network(key: str) -> classes.Network | None:
        return fields[key].parse(ipaddress.ip_network) if key in fields else None

    def whole(key: str, high: int) -> int | None:
        return fields[key].whole(high=high) if key in fields else None

    protocol = None
    if "protocol" in fields:
        named = fields["protocol"].text().lower()
        protocol = _PROTOCOLS.get(named)
        if protocol is None:
            protocol = fields["protocol"].whole(high=255)
    try:
        return Rule(
            class_=fields["class"].whole(high=CLASS_COUNT_MAX - 1),
            src=network("src"),
            dst=network("dst"),
            protocol=protocol,
            dscp=whole("dscp", 63),
            src_port=whole("src_port", 65535),
            dst_port=whole("dst_port", 65535),
            mirror=whole("mirror", 32767),
        )
    except ControllerError as error:
        raise place.error(f"{place.name}: {error}") from error


def _mirror(number: int, place: Place) -> CloneSession:
    fields = place.fields(required={"port"}, optional={"length", "class"})
    return CloneSession(
        number,
        ports=(fields["port"].whole(low=1, high=511),),
        class_=fields["class"].whole(high=CLASS_COUNT_MAX - 1) if "class" in fields else 0,
        length_bytes_max=fields["length"].parse(units.size_bytes) if "length" in fields else 0,
    )


def _number(key: str, place: Place) -> int:
    if not (key.isascii() and key.isdigit()):
        place.refuse("must have a number for a name, or one that `classes` gives a number to.")
    return int(key)
