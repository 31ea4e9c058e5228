"""Values of a program that runs: what can be stored, copied, read from bits and written to bits.

A scalar is a Python integer (of `int<W>` with its sign, of `bool` 0 or 1) or `None`, which is a
value that the specification leaves open. Whatever is computed from such a value is open too; where
one would decide something, the packet is given up (`UndefinedError`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.generated import tree as t


class UndefinedError(Exception):
    """From here on the behaviour is up to the target."""


@dataclass
class Header:
    """Fields by name, and whether they are valid."""

    type: t.HeaderType
    valid: bool = False
    fields: dict[str, int | None] = field(default_factory=dict)

    def __post_init__(self):
        if not self.fields:
            self.forget()

    def forget(self) -> None:
        """Leaves all fields open."""
        self.fields = {name: None for name, _ in self.type.fields}


@dataclass
class Stack:
    """Elements, and which one `next` names."""

    elements: list[Header]
    next: int = 0


@dataclass
class Struct:
    """A struct, or a union (whose fields are headers)."""

    type: t.StructType | t.UnionType
    fields: dict[str, Value]


Value = int | None | Header | Stack | Struct


def fresh(type_: t.Type, scalar: int | None = None) -> Value:
    """A variable before anything was written to it: headers are not valid."""
    if isinstance(type_, t.HeaderType):
        return Header(type_)
    if isinstance(type_, t.StackType):
        return Stack([Header(type_.element) for _ in range(type_.size)])
    if isinstance(type_, (t.StructType, t.UnionType)):
        return Struct(type_, {name: fresh(each, scalar) for name, each in type_.fields})
    return scalar


def copied(value: Value) -> Value:
    """The same value in another place."""
    if isinstance(value, Header):
        return Header(value.type, value.valid, dict(value.fields))
    if isinstance(value, Stack):
        return Stack([copied(each) for each in value.elements], value.next)
    if isinstance(value, Struct):
        return Struct(value.type, {name: copied(each) for name, each in value.fields.items()})
    return value


def wrapped(value: int, type_: t.Type) -> int:
    """The low bits of a number, read as the type reads them."""
    if isinstance(type_, t.Boolean):
        return value & 1
    low = value & ((1 << type_.width) - 1)
    return low - (1 << type_.width) if type_.signed and low >> (type_.width - 1) else low


def saturated(value: int, type_: t.Bits) -> int:
    """The number of the type that is nearest."""
    low, high = 0, (1 << type_.width) - 1
    if type_.signed:
        low, high = -(1 << (type_.width - 1)), (1 << (type_.width - 1)) - 1
    return max(low, min(high, value))


def pattern(value: int, type_: t.Type) -> int:
    """The bits of a value, as a number that is not negative."""
    return value & ((1 << t.width_of(type_)) - 1)


class Reader:
    """The bits of a packet, and how many are read."""

    def __init__(self, data: bytes) -> None:
        self._number = int.from_bytes(data, "big")
        self._length = 8 * len(data)
        self.position = 0

    def left(self) -> int:
        """Bits that are not read."""
        return self._length - self.position

    def peek(self, width: int) -> int:
        """The next bits, which must be there."""
        return self._number >> (self.left() - width) & ((1 << width) - 1)

    def take(self, width: int) -> int:
        """The same, and goes on."""
        value = self.peek(width)
        self.position += width
        return value

    def rest(self) -> list[int | None]:
        """All that is left, a bit each."""
        return [self._number >> at & 1 for at in reversed(range(self.left()))]


def emitted(value: Value) -> list[int | None]:
    """The bits of all valid headers in a value, `None` for those that are open."""
    if isinstance(value, Stack):
        return [bit for each in value.elements for bit in emitted(each)]
    if isinstance(value, Struct):
        return [bit for each in value.fields.values() for bit in emitted(each)]
    if not isinstance(value, Header) or not value.valid:
        return []
    bits: list[int | None] = []
    for name, type_ in value.type.fields:
        number, width = value.fields[name], t.width_of(type_)
        bits += [None if number is None else number >> at & 1 for at in reversed(range(width))]
    return bits
