"""A program that fails, made smaller while it still fails in the same way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from tests.generated import tree as t

# Trials cost a compilation each.
_TRIALS_MAX = 600


def shrunk(program: t.Program, fails: Callable[[t.Program], bool]) -> t.Program:
    """The smallest program that was found; `fails` may be called some hundred times."""
    position, progress = 0, False
    for _ in range(_TRIALS_MAX):
        smaller = next(islice(_smaller(program), position, None), None)
        if smaller is None:
            if not progress:
                break
            position, progress = 0, False
        elif fails(smaller):
            # Attempts before this place did not help, and go on doing so for a while.
            program, progress = smaller, True
        else:
            position += 1
    return program


def _smaller(program: t.Program) -> Iterator[t.Program]:
    """Programs with something left out, those with much left out first."""
    yield from _fewer(program, "packets")
    for name in ("controls", "functions"):
        yield from _fewer(program, name)
    yield from _changed(program)


def _fewer(node: Any, name: str) -> Iterator[Any]:
    """Halves of a list left out, then single ones."""
    whole = getattr(node, name)
    size = len(whole)
    while size > 0:
        for at in range(0, len(whole), size):
            yield dataclasses.replace(node, **{name: whole[:at] + whole[at + size :]})
        size //= 2


# Lists from which anything may be left out; the compiler refuses what does not fit then.
_LISTS = ("actions", "tables", "variables", "instances", "arrays", "entries", "branches", "cases")
_BODIES = ("body", "then", "other")


def _changed(node: Any) -> Iterator[Any]:
    """The node with one part of it smaller."""
    if isinstance(node, tuple):
        for at, each in enumerate(node):
            for smaller in _changed(each):
                yield (*node[:at], smaller, *node[at + 1 :])
        return
    if not dataclasses.is_dataclass(node) or isinstance(node, t.Type):
        return
    if isinstance(node, t.If):
        yield t.Block(node.then)
        yield t.Block(node.other)
    if isinstance(node, t.For) and node.count > 1:
        yield dataclasses.replace(node, count=1)
    yield from _simpler(node)
    for each in dataclasses.fields(node):
        value = getattr(node, each.name)
        if isinstance(value, tuple) and each.name in (*_LISTS, *_BODIES):
            yield from _fewer(node, each.name)
        for smaller in _changed(value):
            yield dataclasses.replace(node, **{each.name: smaller})


def _simpler(node: Any) -> Iterator[Any]:
    """An expression replaced by a part of it of the same type, or by a number."""
    if not isinstance(node, t.Expression) or isinstance(node, (t.Literal, t.Name, t.Member)):
        return
    if isinstance(node.type, (t.Bits, t.Boolean)):
        yield t.Literal(node.type, 0)
        yield t.Literal(node.type, 1)
    for each in dataclasses.fields(node):
        value = getattr(node, each.name)
        if isinstance(value, t.Expression) and value.type == node.type:
            yield value
