"""Classes, queues, weights, shapers, marks and mirrors of one router from a readable YAML file.

    python -m controller.apps.qos FILE [--router HOST:PORT] [--toolchain p4lang]

    classes: {bulk: 0, voice: 1}
    rules: [{class: voice, dscp: 46}]
    ports:
      2: {scheduler: strict, queues: {voice: {limit: 10 packets}}}

Rules, marks and mirrors become exactly those of the file; ports that it does not name stay as they
are. The words below `ports` are those of topology files (docs/topologies.md); examples lie beside
this program in `examples`.
"""

from __future__ import annotations

import argparse
import ipaddress
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from controller import classes
from controller.apps import options
from controller.classes import Rule
from controller.entities import CloneSession
from controller.entries import Call, Entry, Exact
from controller.errors import ControllerError
from controller.queueing import CLASS_COUNT_MAX, PortSettings, RouterSettings
from controller.queues import Queues
from controller.session import Session
from controller.simple_switch import SimpleSwitch, converted
from controller.toolchain import Toolchain
from topo import queueing, units
from topo.document import Place
from topo.errors import TopologyError

# How the queues of a router are set; it refuses what the router cannot do.
SetQueues: TypeAlias = Callable[[Mapping[int, PortSettings]], None]

THRESHOLDS = "ecn_thresholds"
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
    """What a file says."""

    rules: tuple[Rule, ...]
    ports: Mapping[int, PortSettings]
    # The depth in packets from which a queue marks, by port and class.
    marks: Mapping[tuple[int, int], int]
    mirrors: tuple[CloneSession, ...]


def load(file: Path) -> Qos:
    """Reads and checks a file; errors name the line."""
    parts = Place.load(file).fields(optional={"classes", "rules", "ports", "mirrors"})
    if "classes" in parts:
        numbers = {
            name: str(place.whole(high=CLASS_COUNT_MAX - 1))
            for name, place in parts["classes"].entries().items()
        }
        for part in parts.keys() & {"rules", "ports"}:
            parts[part].rename(numbers, _CLASS_PLACES)
    ports = {
        _number(key, place): place.fields(optional={*queueing.PORT_KEYS, "ecn_marks"})
        for key, place in _entries(parts, "ports").items()
    }
    return Qos(
        rules=tuple(_rule(place) for place in parts["rules"].items()) if "rules" in parts else (),
        ports={port: queueing.port_settings(fields) for port, fields in ports.items()},
        marks={
            (port, _number(class_, depth)): depth.parse(units.packets)
            for port, fields in ports.items()
            for class_, depth in _entries(fields, "ecn_marks").items()
        },
        mirrors=tuple(
            _mirror(_number(key, place), place) for key, place in _entries(parts, "mirrors").items()
        ),
    )


def _entries(fields: Mapping[str, Place], key: str) -> dict[str, Place]:
    return fields[key].entries() if key in fields else {}


def apply(session: Session, qos: Qos, set_queues: SetQueues | None = None) -> None:
    """Puts a file into force at a router that runs the kit's program.

    `set_queues` is for a router that is not ours; it comes first, as it may refuse.
    """
    (set_queues or Queues(session).configure)(qos.ports)
    session.delete(_present(session))
    thresholds = [
        Entry(
            THRESHOLDS,
            {"standard_metadata.egress_port": Exact(port), "class_num": Exact(class_)},
            Call("set_threshold", depth_packets=depth),
        )
        for (port, class_), depth in sorted(qos.marks.items())
    ]
    # Rules name mirrors, so these come first.
    session.insert([*qos.mirrors, *classes.entries(qos.rules), *thresholds])


def _present(session: Session) -> list[Entry | CloneSession]:
    """The rules, marks and mirrors that an earlier file left at the router."""
    tables = (classes.IPV4_CLASSES, classes.IPV6_CLASSES, THRESHOLDS)
    found: list[Entry | CloneSession] = [entry for table in tables for entry in session.read(table)]
    return found + list(session.clone_sessions())


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


def _simple_switch_queues(host: str, port: int) -> SetQueues:
    def configure(ports: Mapping[int, PortSettings]) -> None:
        conversion = converted(RouterSettings(ports), CLASS_COUNT_MAX)
        with SimpleSwitch(host, port) as switch:
            switch.configure(conversion)
        for remark in conversion.remarks:
            print(remark)

    return configure


def _number(key: str, place: Place) -> int:
    if not (key.isascii() and key.isdigit()):
        place.refuse("must have a number for a name, or one that `classes` gives a number to.")
    return int(key)


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="qos", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="see controller/apps/examples")
    options.add_router(parser)
    options.add_toolchain(parser)
    given = parser.parse_args(arguments)
    try:
        qos = load(given.file)
        set_queues = None
        if Toolchain.named(given.toolchain) is Toolchain.P4LANG:
            set_queues = _simple_switch_queues(*options.thrift_address(given.router, given.thrift))
        device_id = options.device_id(given.router)
        election_id = options.election_id(given.router, device_id)
        with Session.connect(given.router, device_id=device_id, election_id=election_id) as session:
            session.use()
            apply(session, qos, set_queues)
    except (ControllerError, TopologyError) as error:
        print(f"qos: {error}", file=sys.stderr)
        return 1
    print(f"{len(qos.rules)} rules, {len(qos.ports)} ports, {len(qos.mirrors)} mirrors in force.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
