"""Gives the routers of a network their programs and entries, and others while packets flow.

    routers = [Router(session, topology, switch, Source.of(switch, ...)), ...]
    for router in routers: print(*router.start(), sep="\\n")
    with reload.serving(routers): ...

The kit's controller writes what a program has tables for: routes, and, with a telemetry domain,
what makes the router a node. It goes by the names in the program's P4Info, so a program of one's
own is served as far as it has tables of those names, keys and actions. What cannot be written is
said, each thing once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apps import balancing, router, telemetry
from apps.domain import Domain
from controller import compiling, entities
from controller.entities import Item
from controller.entries import Entry
from controller.errors import ControllerError, NameNotFoundError
from controller.p4info import P4Info
from controller.session import Session
from controller.toolchain import Toolchain
from topo.model import Switch, Topology


@dataclass(frozen=True)
class Entries:
    """The entries written into a router's program, and those left out, in sentences."""

    insert: list[Item] = field(default_factory=list)
    modify: list[Item] = field(default_factory=list)
    remarks: tuple[str, ...] = ()


def source_of(switch: Switch, chosen: str | None, domain: Domain | None) -> Path:
    """The P4 source of a router: what the user has chosen, else the topology, else the kit's."""
    if chosen:
        return compiling.find(chosen)
    if switch.program is not None:
        return compiling.find(switch.program)
    return compiling.find("router" if domain is None else "int_router")


def entries_for(
    program: P4Info, topology: Topology, switch: Switch, domain: Domain | None = None
) -> Entries:
    """The kit's entries that fit a program."""
    insert, modify = router.routes(topology, switch), router.defaults(program)
    if balancing.can_balance(program):
        insert = [*insert, *balancing.entries(topology, switch)]
    if domain is not None:
        defaults, rest = telemetry.tables(domain, topology, switch)
        insert = [*insert, telemetry.report_session(domain, topology, switch), *rest]
        modify = [*modify, *defaults]
    refused: dict[str, int] = {}
    written = Entries(_fitting(insert, program, refused), _fitting(modify, program, refused))
    remarks = [
        f"{switch.name}: {count} {'entry' if count == 1 else 'entries'} not written: {why}"
        for why, count in refused.items()
    ]
    if not router.can_serve(program):
        remarks.append(
            f"{switch.name}: the program has no headers packet_in (ingress_port, reason) and "
            "packet_out (egress_port), so the router answers neither ARP nor pings to itself."
        )
    return Entries(written.insert, written.modify, tuple(remarks))


def _fitting(items: Iterable[Item], program: P4Info, refused: dict[str, int]) -> list[Item]:
    """The items that a program can hold; of the others `refused` counts the reasons."""
    fitting = []
    for item in items:
        try:
            entities.to_entity(item, program)
        except ControllerError as error:
            reason = _reason(item, error)
            refused[reason] = refused.get(reason, 0) + 1
        else:
            fitting.append(item)
    return fitting


def _reason(item: Item, error: ControllerError) -> str:
    """Why an item does not fit; without its values, so that many of a kind are said once."""
    if isinstance(item, Entry) and not (
        isinstance(error, NameNotFoundError) and error.kind == "table"
    ):
        return f"{item.table}: {error}"
    return str(error)


class Router:
    """One router of a network that is up, its program and what the kit has written into it."""

    def __init__(
        self,
        session: Session,
        topology: Topology,
        switch: Switch,
        source: Path,
        *,
        toolchain: Toolchain = Toolchain.VITRINE,
        domain: Domain | None = None,
    ) -> None:
        self.name = switch.name
        self.source = source
        self._session, self._topology, self._switch = session, topology, switch
        self._toolchain, self._domain = toolchain, domain

    def start(self) -> Sequence[str]:
        """Loads the program and writes the entries; what could not be written."""
        program, config = self._toolchain.compiled(self.source)
        written = entries_for(program, self._topology, self._switch, self._domain)
        self._session.load(program, config)
        self._session.insert(written.insert)
        self._session.modify(written.modify)
        return written.remarks

    def reload(self, source: Path | None = None) -> Sequence[str]:
        """The program as its source is now, or another, without losing a packet on the way.

        Entries that others have written are gone; queues and cables stay as they are. A program
        that does not compile, or that the switch refuses, changes nothing.
        """
        program, config = self._toolchain.compiled(source or self.source)
        written = entries_for(program, self._topology, self._switch, self._domain)
        if self._toolchain is Toolchain.VITRINE:
            self._session.swap(program, config, written.insert, written.modify)
        else:
            # simple_switch cannot hold a second program back while it is filled.
            self._session.load(program, config)
            self._session.insert(written.insert)
            self._session.modify(written.modify)
        self.source = source or self.source
        return written.remarks
