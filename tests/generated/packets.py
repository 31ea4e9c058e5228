"""Packets for a program: each takes some way through its parser that a die chooses."""

from __future__ import annotations

from tests.generated import tree as t
from tests.generated.grow_expressions import Expressions

_STATES_MAX = 12
_SHORT = 0.15


def packets(grown: Expressions, states: tuple[t.State, ...], count: int) -> tuple[t.Packet, ...]:
    """Packets from ports 0 to 3."""
    by_name = {each.name: each for each in states}
    return tuple(t.Packet(grown.random.randrange(4), _frame(grown, by_name)) for _ in range(count))


def _frame(grown: Expressions, states: dict[str, t.State]) -> bytes:
    bits, name = "", "start"
    for _ in range(_STATES_MAX):
        if name not in states:
            break
        state = states[name]
        branch = grown.random.choice(state.branches)
        wanted = {}
        if branch.matches is not None:
            for key, match in zip(state.keys, branch.matches, strict=False):
                wanted[_field(key)] = (key, match)
        for statement in state.body:
            if isinstance(statement, t.Extract):
                bits += _header(grown, statement.header, wanted)
            elif isinstance(statement, t.Advance):
                bits += _number(grown, statement.bits)
        name = branch.state
    payload = grown.random.getrandbits(24).to_bytes(3, "big")[: grown.random.randrange(4)]
    frame = (int("1" + bits, 2).to_bytes(len(bits) // 8 + 1, "big")[1:] if bits else b"") + payload
    if grown.has("short_packets", _SHORT):
        frame = frame[: grown.random.randrange(1, len(frame))] if len(frame) > 1 else frame
    return frame or b"\0"


def _header(grown: Expressions, header: t.Expression, wanted: dict) -> str:
    bits = ""
    for name, type_ in header.type.fields:
        width = t.width_of(type_)
        value = grown.number(width)
        key, match = wanted.get(name, (None, None))
        if match is not None and grown.random.random() < 0.9:
            value = _fitting(value, key, match) & ((1 << width) - 1)
        bits += f"{value:0{width}b}"
    return bits


def _number(grown: Expressions, width: int) -> str:
    return f"{grown.number(width):0{width}b}"


def _without_cast(key: t.Expression) -> t.Expression:
    while isinstance(key, t.Cast):
        key = key.operand
    return key


def _field(key: t.Expression) -> str:
    """The field that decides a key, as far as one can see."""
    place = _without_cast(key)
    place = place.base if isinstance(place, t.Slice) else place
    return place.name if isinstance(place, t.Member) else ""


def _fitting(value: int, key: t.Expression, match: t.Match) -> int:
    """The value changed so that the key, or the slice of it that is the key, matches."""
    key = _without_cast(key)
    low = key.low if isinstance(key, t.Slice) else 0
    ones = (1 << t.width_of(key.type)) - 1
    part = value >> low & ones
    if match.kind == "range":
        part = match.value + part % (match.mask - match.value + 1)
    elif match.kind != "any":
        part = part & ~match.mask | match.value & match.mask
    return value & ~(ones << low) | part << low
