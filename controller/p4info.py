"""A P4 program's tables, actions, counters and other objects by name.

P4Info gives every object a numeric id, a full name (`ingress.routing.ipv4_routes`) and an alias.
Controllers written with this package never see the ids. They may use the full name or any end of it
that is unique among the objects of that kind (`routing.ipv4_routes`, `ipv4_routes`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Generic, TypeVar

from google.protobuf import text_format
from p4.config.v1 import p4info_pb2

from controller.errors import ControllerError, NameNotFoundError


class MatchKind(Enum):
    """How a table compares one key field; the numbers are P4Info's."""

    EXACT = p4info_pb2.MatchField.EXACT
    LPM = p4info_pb2.MatchField.LPM
    TERNARY = p4info_pb2.MatchField.TERNARY
    RANGE = p4info_pb2.MatchField.RANGE
    OPTIONAL = p4info_pb2.MatchField.OPTIONAL


# Kinds whose entries can overlap, so that a table with one of them needs priorities.
PRIORITY_KINDS = frozenset({MatchKind.TERNARY, MatchKind.RANGE, MatchKind.OPTIONAL})


@dataclass(frozen=True)
class Key:
    """One key field of a table."""

    id: int
    name: str
    width_bits: int
    kind: MatchKind


@dataclass(frozen=True)
class Param:
    """One parameter of an action, filled by the control plane."""

    id: int
    name: str
    width_bits: int


@dataclass(frozen=True)
class Action:
    """An action and its parameters, in the order of the P4 program."""

    id: int
    name: str
    params: tuple[Param, ...]


@dataclass(frozen=True)
class Table:
    """A table: what it matches, which actions its entries may run, how many entries it promises."""

    id: int
    name: str
    keys: tuple[Key, ...]
    action_ids: frozenset[int]
    size: int
    # Whether entries refer to an action profile instead of holding an action.
    has_profile: bool = False

    @property
    def has_priorities(self) -> bool:
        """Whether entries can overlap and are ordered by a priority."""
        return any(key.kind in PRIORITY_KINDS for key in self.keys)


@dataclass(frozen=True)
class Counter:
    """An indexed counter."""

    id: int
    name: str
    size: int


@dataclass(frozen=True)
class Meter:
    """An indexed meter."""

    id: int
    name: str
    size: int


@dataclass(frozen=True)
class Register:
    """An array of values of one width."""

    id: int
    name: str
    size: int
    width_bits: int


@dataclass(frozen=True)
class Profile:
    """An action profile, or an action selector, which may also have groups."""

    id: int
    name: str
    size: int
    has_selector: bool


@dataclass(frozen=True)
class PacketHeader:
    """The metadata of packet-ins or packet-outs; the name is `packet_in` or `packet_out`."""

    id: int
    name: str
    fields: tuple[Param, ...]


Item = TypeVar("Item", Table, Action, Counter, Meter, Register, Profile, PacketHeader)


class Names(Generic[Item]):
    """Objects of one kind, found by id, by full name or by a unique end of the name."""

    def __init__(self, kind: str, items: Iterable[Item]) -> None:
        self._kind = kind
        self._by_id: dict[int, Item] = {item.id: item for item in items}
        self._by_suffix: dict[str, list[Item]] = {}
        for item in self._by_id.values():
            parts = item.name.split(".")
            for start in range(len(parts)):
                self._by_suffix.setdefault(".".join(parts[start:]), []).append(item)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._by_id.values())

    def by_id(self, id: int) -> Item:
        """The object a message of the device refers to."""
        try:
            return self._by_id[id]
        except KeyError:
            raise ControllerError(
                f"the device speaks of {self._kind} {id:#010x}, which this program does not have: "
                "device and controller run different programs."
            ) from None

    def __getitem__(self, name: str) -> Item:
        found = self._by_suffix.get(name, [])
        exact = [item for item in found if item.name == name]
        if len(exact) == 1:
            return exact[0]
        if len(found) == 1:
            return found[0]
        if found:
            full = ", ".join(sorted(item.name for item in found))
            raise ControllerError(f"{self._kind} {name!r} is ambiguous: it may be any of {full}.")
        raise NameNotFoundError(self._kind, name, (item.name for item in self))


class P4Info:
    """The index over one P4Info message. `message` is the original, as the device wants it."""

    def __init__(self, message: p4info_pb2.P4Info) -> None:
        self.message = message
        self.tables: Names[Table] = Names("table", map(_table, message.tables))
        self.actions: Names[Action] = Names("action", map(_action, message.actions))
        self.counters: Names[Counter] = Names(
            "counter", (Counter(c.preamble.id, c.preamble.name, c.size) for c in message.counters)
        )
        self.meters: Names[Meter] = Names(
            "meter", (Meter(m.preamble.id, m.preamble.name, m.size) for m in message.meters)
        )
        self.registers: Names[Register] = Names("register", map(_register, message.registers))
        self.profiles: Names[Profile] = Names(
            "action profile",
            (
                Profile(p.preamble.id, p.preamble.name, p.size, p.with_selector)
                for p in message.action_profiles
            ),
        )
        self.packet_headers: Names[PacketHeader] = Names(
            "packet header", map(_packet_header, message.controller_packet_metadata)
        )

    @classmethod
    def load(cls, path: Path) -> P4Info:
        """Reads P4Info in text form, as `vitrine-p4c --p4runtime-files` and p4c write it."""
        try:
            return _read(path.read_text())
        except OSError as error:
            raise ControllerError(
                f"{path} cannot be read ({error.strerror}): compile the P4 program first."
            ) from error
        except text_format.ParseError as error:
            raise ControllerError(f"{path} is not P4Info in text form: {error}") from error


@functools.lru_cache(maxsize=16)
def _read(text: str) -> P4Info:
    """A network has many routers of one program, and to read it takes Python 40 ms."""
    return P4Info(text_format.Parse(text, p4info_pb2.P4Info()))


def _table(table: p4info_pb2.Table) -> Table:
    return Table(
        id=table.preamble.id,
        name=table.preamble.name,
        keys=tuple(
            Key(field.id, field.name, field.bitwidth, MatchKind(field.match_type))
            for field in table.match_fields
        ),
        action_ids=frozenset(reference.id for reference in table.action_refs),
        size=table.size,
        has_profile=table.implementation_id != 0,
    )


def _register(register: p4info_pb2.Register) -> Register:
    width_bits = register.type_spec.bitstring.bit.bitwidth
    return Register(register.preamble.id, register.preamble.name, register.size, width_bits)


def _packet_header(header: p4info_pb2.ControllerPacketMetadata) -> PacketHeader:
    fields = (Param(field.id, field.name, field.bitwidth) for field in header.metadata)
    return PacketHeader(header.preamble.id, header.preamble.name, tuple(fields))


def _action(action: p4info_pb2.Action) -> Action:
    return Action(
        id=action.preamble.id,
        name=action.preamble.name,
        params=tuple(Param(param.id, param.name, param.bitwidth) for param in action.params),
    )
