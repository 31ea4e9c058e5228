"""Classes, queues, weights, shapers, marks, mirrors and input stage of one router from a YAML file.

    python -m apps.qos FILE [--router HOST:PORT] [--toolchain p4lang]

    classes: {bulk: 0, voice: 1}
    rules: [{class: voice, dscp: 46}]
    ports:
      2: {scheduler: strict, queues: {voice: {limit: 10 packets}}}

Rules, marks and mirrors become exactly those of the file, and what it says unchanged is left alone,
its counters included; ports that it does not name stay as they are, and so do the shared buffer and
the input stage. The words of `buffer`, `input` and below `ports` are those of topology files
(docs/topologies.md); examples lie beside this program in `examples`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from apps import options
from apps.qos_file import Qos, load
from controller import classes, reader, routers
from controller.entities import CloneSession
from controller.entries import Call, Entry, Exact
from controller.errors import ControllerError
from controller.queueing import CLASS_COUNT_MAX, PortSettings, RouterSettings
from controller.queues import Queues
from controller.session import Session
from controller.simple_switch import SimpleSwitch, converted
from controller.toolchain import Toolchain
from topo.backend import CPU_PORT
from topo.errors import TopologyError
from topo.units import counted

# How the queues of a router are set; it refuses what the router cannot do.
SetQueues: TypeAlias = Callable[[RouterSettings], None]

THRESHOLDS = "ecn_thresholds"


def apply(session: Session, qos: Qos, set_queues: SetQueues | None = None) -> None:
    """Puts a file into force at a router that runs the kit's program.

    `set_queues` is for a router that is not ours; it comes first, as it may refuse.
    """
    (set_queues or Queues(session).configure)(qos.router)
    thresholds = [
        Entry(
            THRESHOLDS,
            {"standard_metadata.egress_port": Exact(port), "class_num": Exact(class_)},
            Call("set_threshold", depth_packets=depth),
        )
        for (port, class_), depth in sorted(qos.marks.items())
    ]
    # Rules name mirrors, so these come first.
    wanted: list[Entry | CloneSession] = [*qos.mirrors, *classes.entries(qos.rules), *thresholds]
    session.replace(_present(session), wanted)


def dropping(qos: Qos, ports: Mapping[int, PortSettings]) -> list[str]:
    """Sentences about rules whose classes ports do not have, so that packets are dropped.

    `ports`: all of the router, as they are with the file in force. Where a rule with `dst` leads is
    for the routes to say, so of such rules only those are told that no port can serve.
    """
    # Packets to the controller get no class.
    counts = {port: it.queue_count or 1 for port, it in sorted(ports.items()) if port != CPU_PORT}
    found = []
    for class_ in sorted({rule.class_ for rule in qos.rules}):
        without = [port for port, count in counts.items() if count <= class_]
        goes_anywhere = any(rule.class_ == class_ and rule.dst is None for rule in qos.rules)
        if without and (goes_anywhere or len(without) == len(counts)):
            at = f"port{'s' if len(without) > 1 else ''} {', '.join(map(str, without))}"
            found.append(
                f"no class {qos.called(class_)} at {at}: what a rule puts into it is dropped "
                "there, as BAD_CLASS. Give the port such a queue, or let the rule say with `dst` "
                "which way its packets go."
            )
    return found + [
        f"no class {qos.called(mirror.class_)} at port {port}: every copy of mirror {mirror.id} is "
        "dropped there, as BAD_CLASS."
        for mirror in qos.mirrors
        for port in mirror.ports
        if counts.get(port, CLASS_COUNT_MAX) <= mirror.class_
    ]


def _present(session: Session) -> list[Entry | CloneSession]:
    """The rules, marks and mirrors that an earlier file left at the router."""
    tables = (classes.IPV4_CLASSES, classes.IPV6_CLASSES, THRESHOLDS)
    found: list[Entry | CloneSession] = [entry for table in tables for entry in session.read(table)]
    return found + list(session.clone_sessions())


def _simple_switch_queues(host: str, port: int) -> SetQueues:
    def configure(settings: RouterSettings) -> None:
        conversion = converted(settings, CLASS_COUNT_MAX)
        with SimpleSwitch(host, port) as switch:
            switch.configure(conversion)
        for remark in conversion.remarks:
            print(remark)

    return configure


@reader.ends_unread
def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="qos", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="see apps/examples")
    options.add_router(parser)
    options.add_toolchain(parser)
    given = parser.parse_args(arguments)
    try:
        qos, router = load(given.file), routers.address_of(given.router)
        set_queues = None
        if Toolchain.named(given.toolchain) is Toolchain.P4LANG:
            set_queues = _simple_switch_queues(*options.thrift_address(router, given.thrift))
        with Session.connect(router) as session:
            session.use()
            apply(session, qos, set_queues)
            # A simple_switch has all classes at all ports.
            dropped = [] if set_queues else dropping(qos, Queues(session).settings().ports)
    except (ControllerError, TopologyError) as error:
        print(f"qos: {error}", file=sys.stderr)
        return 1
    print(
        f"{counted(len(qos.rules), 'rule')}, {counted(len(qos.router.ports), 'port')}, "
        f"{counted(len(qos.mirrors), 'mirror')} in force."
    )
    for sentence in dropped:
        print(f"warning: {sentence}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
