"""Places that are assigned to: a name, a field, an element, bits of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tests.generated import tree as t
from tests.generated.values import Header, Struct, UndefinedError, Value, wrapped


@dataclass
class Scope:
    """Names of a block, and the block around it."""

    outer: Scope | None
    names: dict[str, Value] = field(default_factory=dict)

    def find(self, name: str) -> dict[str, Value]:
        """The names of the innermost block that declares one."""
        scope = self
        while name not in scope.names:
            scope = scope.outer
        return scope.names


class Evaluator(Protocol):
    """The requirements for finding a place: names, and the value of an index."""

    def scope(self) -> Scope: ...

    def known(self, expression: t.Expression) -> int: ...


@dataclass(frozen=True)
class Place:
    """Where a value is, found once: later changes of an index do not move it (6.8)."""

    get: Callable[[], Value]
    set: Callable[[Value], None]


def place(machine: Evaluator, expression: t.Expression) -> Place:
    """The place that an expression names."""
    match expression:
        case t.Name(name):
            names = machine.scope().find(name)
            return Place(lambda: names[name], lambda value: names.update({name: value}))
        case t.Member(base, "next" | "last" as which):
            return _element(place(machine, base), lambda stack: stack.next - (which == "last"))
        case t.Index(base, index):
            number = machine.known(index)
            return _element(place(machine, base), lambda _: number)
        case t.Member(base, name):
            is_part = isinstance(base, t.Member) and isinstance(base.base.type, t.UnionType)
            return _field(
                place(machine, base), name, place(machine, base.base) if is_part else None
            )
        case t.Slice(base, high, low):
            return _bits(place(machine, base), base.type, high, low)
    raise TypeError(expression)


def _element(stack: Place, which: Callable[[Value], int]) -> Place:
    at = which(stack.get())
    if not 0 <= at < len(stack.get().elements):
        raise UndefinedError

    def put(value: Value) -> None:
        stack.get().elements[at] = value

    return Place(lambda: stack.get().elements[at], put)


def _field(base: Place, name: str, union: Place | None) -> Place:
    def get() -> Value:
        value = base.get()
        return None if isinstance(value, Header) and not value.valid else value.fields[name]

    def put(value: Value) -> None:
        whole = base.get()
        if isinstance(whole, Header) and not whole.valid:
            # 8.17: writing to a header that is not valid changes nothing that is defined; 8.20: but
            # fields of another member of its union.
            for other in union.get().fields.values() if union else ():
                other.forget()
            return
        if isinstance(whole, Struct) and isinstance(whole.type, t.UnionType):
            # 8.20: one valid member makes the others invalid; so does making any of them invalid.
            for other in whole.fields.values():
                other.valid = False
                other.forget()
        whole.fields[name] = value

    return Place(get, put)


def _bits(base: Place, type_: t.Type, high: int, low: int) -> Place:
    mask = (1 << (high - low + 1)) - 1

    def get() -> Value:
        value = base.get()
        return None if value is None else value >> low & mask

    def put(value: Value) -> None:
        whole = base.get()
        open_ = whole is None or value is None
        base.set(None if open_ else wrapped(whole & ~(mask << low) | value << low, type_))

    return Place(get, put)
