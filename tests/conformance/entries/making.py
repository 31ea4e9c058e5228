"""Random entries: well-formed ones, and ones with one thing wrong that the specification names.

Values come from small pools, so that entries meet each other again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from p4.v1 import p4runtime_pb2

from .schema import Action, Key, Match, Table

Entry: TypeAlias = p4runtime_pb2.TableEntry
# Different values of a part of a key, and of a parameter.
_POOL = 12
_PRIORITIES = 5
_UNKNOWN_ID = 0x02FFFFFF


def encoded(value: int) -> bytes:
    """The shortest bytes of a value."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def entry(dice: Random, table: Table) -> Entry:
    """One that a table takes."""
    made = Entry(table_id=table.id)
    for key in table.keys:
        _match(dice, made, key)
    if table.has_priorities:
        made.priority = dice.randint(1, _PRIORITIES)
    usable = [action for action in table.actions if action.for_entries]
    if not table.has_sets:
        _call(dice, made.action.action, dice.choice(usable))
        return made
    count = dice.randint(1, min(4, table.weights_max or 4))
    for weight in [dice.randint(1, (table.weights_max or 12) // count) for _ in range(count)]:
        one = made.action.action_profile_action_set.action_profile_actions.add(weight=weight)
        _call(dice, one.action, dice.choice(usable))
    return made


def _value(dice: Random, width: int) -> int:
    # Both ends of the range, and some in between.
    step = max(1, (1 << width) // _POOL)
    return min((1 << width) - 1, dice.randrange(_POOL) * step)


def _match(dice: Random, made: Entry, key: Key) -> None:
    value, whole = _value(dice, key.width), (1 << key.width) - 1
    if key.kind == Match.EXACT:
        made.match.add(field_id=key.id).exact.value = encoded(value)
    elif key.kind == Match.LPM:
        length = dice.choice((0, 1, key.width // 2, key.width))
        if length:
            field = made.match.add(field_id=key.id).lpm
            field.value, field.prefix_len = encoded(value & ~(whole >> length)), length
    elif key.kind == Match.TERNARY:
        mask = dice.choice((0, whole, 1 << (key.width - 1), _value(dice, key.width)))
        if mask:
            field = made.match.add(field_id=key.id).ternary
            field.value, field.mask = encoded(value & mask), encoded(mask)
    elif key.kind == Match.OPTIONAL:
        if dice.random() < 0.5:
            made.match.add(field_id=key.id).optional.value = encoded(value)
    elif key.kind == Match.RANGE:
        low, high = sorted((value, _value(dice, key.width)))
        if (low, high) != (0, whole):
            field = made.match.add(field_id=key.id).range
            field.low, field.high = encoded(low), encoded(high)
    else:
        raise ValueError(f"there is no way to make a key of kind {key.kind}")


def _call(dice: Random, call: p4runtime_pb2.Action, action: Action) -> None:
    call.action_id = action.id
    for number, width in action.params:
        call.params.add(param_id=number, value=encoded(_value(dice, width)))


# ---- what can be wrong ---------------------------------------------------------------------------


def _unknown_table(_dice: Random, made: Entry, _table: Table) -> bool:
    made.table_id = _UNKNOWN_ID
    return True


def _unknown_key(dice: Random, made: Entry, _table: Table) -> bool:
    if not made.match:
        return False
    dice.choice(made.match).field_id = 1000
    return True


def _key_twice(dice: Random, made: Entry, _table: Table) -> bool:
    if not made.match:
        return False
    made.match.add().CopyFrom(dice.choice(made.match))
    return True


def _key_missing(dice: Random, made: Entry, table: Table) -> bool:
    exact = [key.id for key in table.keys if key.kind == Match.EXACT]
    if not exact:
        return False
    gone = dice.choice(exact)
    kept = [field for field in made.match if field.field_id != gone]
    del made.match[:]
    made.match.extend(kept)
    return True


def _key_of_another_kind(_dice: Random, made: Entry, table: Table) -> bool:
    kinds = {key.id: key.kind for key in table.keys}
    for field in made.match:
        if kinds[field.field_id] == Match.EXACT:
            value = field.exact.value
            field.ternary.value = field.ternary.mask = value
            return True
    return False


def _value_too_wide(_dice: Random, made: Entry, table: Table) -> bool:
    widths = {key.id: key.width for key in table.keys}
    for field in made.match:
        if field.HasField("exact"):
            field.exact.value = encoded(1 << widths[field.field_id])
            return True
    return False


def _no_bytes(_dice: Random, made: Entry, _table: Table) -> bool:
    for field in made.match:
        if field.HasField("exact"):
            field.exact.value = b""
            return True
    return False


def _value_beyond_mask(_dice: Random, made: Entry, table: Table) -> bool:
    widths = {key.id: key.width for key in table.keys}
    for field in made.match:
        if field.HasField("ternary") and widths[field.field_id] > 1:
            field.ternary.value, field.ternary.mask = b"\x01", b"\x02"
            return True
    return False


def _value_beyond_prefix(_dice: Random, made: Entry, table: Table) -> bool:
    widths = {key.id: key.width for key in table.keys}
    for field in made.match:
        if field.HasField("lpm") and widths[field.field_id] > 1:
            field.lpm.value, field.lpm.prefix_len = b"\x01", 1
            return True
    return False


def _mask_of_zeros(_dice: Random, made: Entry, _table: Table) -> bool:
    for field in made.match:
        if field.HasField("ternary"):
            field.ternary.value = field.ternary.mask = b"\0"
            return True
    return False


def _wrong_priority(_dice: Random, made: Entry, table: Table) -> bool:
    made.priority = 0 if table.has_priorities else 1
    return True


def _calls(made: Entry) -> list[p4runtime_pb2.Action]:
    if made.action.HasField("action"):
        return [made.action.action]
    return [one.action for one in made.action.action_profile_action_set.action_profile_actions]


def _unknown_action(dice: Random, made: Entry, _table: Table) -> bool:
    dice.choice(_calls(made)).action_id = 0x01FFFFFF
    return True


def _action_for_default_alone(dice: Random, made: Entry, table: Table) -> bool:
    others = [action for action in table.actions if not action.for_entries]
    if not others:
        return False
    call = dice.choice(_calls(made))
    call.Clear()
    _call(dice, call, dice.choice(others))
    return True


def _param_missing(_dice: Random, made: Entry, _table: Table) -> bool:
    for call in _calls(made):
        if call.params:
            del call.params[-1]
            return True
    return False


def _param_twice(_dice: Random, made: Entry, _table: Table) -> bool:
    for call in _calls(made):
        if call.params:
            call.params.add().CopyFrom(call.params[0])
            return True
    return False


def _param_too_wide(_dice: Random, made: Entry, _table: Table) -> bool:
    for call in _calls(made):
        if call.params:
            call.params[0].value = b"\x01" + bytes(40)
            return True
    return False


def _no_action(_dice: Random, made: Entry, _table: Table) -> bool:
    made.ClearField("action")
    return True


def _weight_of_nothing(dice: Random, made: Entry, table: Table) -> bool:
    if not table.has_sets:
        return False
    actions = made.action.action_profile_action_set.action_profile_actions
    dice.choice(actions).weight = dice.choice((0, -1))
    return True


def _too_much_weight(_dice: Random, made: Entry, table: Table) -> bool:
    if table.weights_max is None:
        return False
    actions = made.action.action_profile_action_set.action_profile_actions
    actions[0].weight = table.weights_max + 1
    return True


def _one_action_for_a_set(dice: Random, made: Entry, table: Table) -> bool:
    call = _calls(made)[0]
    if not table.has_sets:
        one = made.action.action_profile_action_set.action_profile_actions.add(weight=1)
        _call(dice, one.action, dice.choice([it for it in table.actions if it.for_entries]))
        return True
    kept = p4runtime_pb2.Action()
    kept.CopyFrom(call)
    made.action.action.CopyFrom(kept)
    return True


# Each makes one thing wrong, or returns that it cannot with this entry. A wrong key is refused in
# every update, a wrong action in INSERT and MODIFY; a MODIFY without an action leaves the action
# as it is.
Mistake = Callable[[Random, Entry, Table], bool]
KEY_MISTAKES: tuple[Mistake, ...] = (
    *(_unknown_table, _unknown_key, _key_twice, _key_missing, _key_of_another_kind),
    *(_value_too_wide, _no_bytes, _value_beyond_mask, _value_beyond_prefix, _mask_of_zeros),
    _wrong_priority,
)
ACTION_MISTAKES: tuple[Mistake, ...] = (
    *(_unknown_action, _action_for_default_alone, _param_missing, _param_twice, _param_too_wide),
    *(_weight_of_nothing, _too_much_weight, _one_action_for_a_set),
)
INSERT_MISTAKES: tuple[Mistake, ...] = (_no_action,)
