"""Table entries in names and typed values, and as P4Runtime messages, in both directions.

    Entry("ipv4_routes", {"hdr.ipv4.dst_addr": Lpm(IPv4Address("10.0.1.0"), 24)},
          Call("set_next_hop", port=1, src_addr=Mac.parse(...), dst_addr=Mac.parse(...)))

`to_message` checks everything P4Info knows: names, widths, match kinds, missing and unknown keys
and parameters, whether a priority is needed. What it accepts, a device with the same program
accepts too, unless the entry exists already or the table is full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from p4.v1 import p4runtime_pb2

from controller import p4info
from controller.errors import EntryError, NameNotFoundError
from controller.p4info import MatchKind, P4Info
from controller.values import Value, decode, encode


@dataclass(frozen=True)
class Exact:
    """The field equals `value`."""

    value: Value

    def __str__(self) -> str:
        return f"{self.value}"


@dataclass(frozen=True)
class Lpm:
    """The first `prefix_len` bits of the field equal those of `value`; the rest of it is zero."""

    value: Value
    prefix_len: int

    def __str__(self) -> str:
        return f"{self.value}/{self.prefix_len}"


@dataclass(frozen=True)
class Ternary:
    """The bits of the field that are set in `mask` equal those of `value`."""

    value: Value
    mask: Value

    def __str__(self) -> str:
        return f"{self.value} &&& {self.mask}"


@dataclass(frozen=True)
class Range:
    """The field lies between `low` and `high`, both included."""

    low: Value
    high: Value

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Optional:
    """The field equals `value`; an optional key that is left out matches anything."""

    value: Value

    def __str__(self) -> str:
        return f"{self.value}"


Match: TypeAlias = Exact | Lpm | Ternary | Range | Optional

_KIND_OF: Mapping[type, MatchKind] = {
    Exact: MatchKind.EXACT,
    Lpm: MatchKind.LPM,
    Ternary: MatchKind.TERNARY,
    Range: MatchKind.RANGE,
    Optional: MatchKind.OPTIONAL,
}


@dataclass(frozen=True, init=False)
class Call:
    """An action by name with the values of its parameters."""

    action: str
    args: Mapping[str, Value]

    def __init__(self, action: str, /, **args: Value) -> None:
        object.__setattr__(self, "action", action)
        object.__setattr__(self, "args", args)


@dataclass(frozen=True)
class ToMember:
    """The entry's action is a member of the table's action profile."""

    id: int


@dataclass(frozen=True)
class ToGroup:
    """A hash picks the action from a group of the table's action selector."""

    id: int


@dataclass(frozen=True)
class Choice:
    """A hash picks one of these calls, each as often as its weight says; no ids are needed."""

    calls: tuple[tuple[Call, int], ...]


Outcome: TypeAlias = Call | ToMember | ToGroup | Choice


@dataclass(frozen=True)
class Entry:
    """One entry of one table.

    `match` holds the keys by name; a key that is left out matches anything (exact keys cannot be
    left out). None instead of a mapping means the table's default entry.
    """

    table: str
    match: Mapping[str, Match] | None
    # A call; or, for a table with an action profile, one of the others.
    call: Outcome
    # Larger wins; only, and always, for tables with ternary, range or optional keys.
    priority: int = 0

    def __str__(self) -> str:
        outcome = self.call.action if isinstance(self.call, Call) else str(self.call)
        if self.match is None:
            return f"{self.table}[default] -> {outcome}"
        match = ", ".join(f"{name}={value}" for name, value in self.match.items())
        return f"{self.table}[{match}] -> {outcome}"


def to_message(entry: Entry, program: P4Info) -> p4runtime_pb2.TableEntry:
    """The message of an entry, after checking it against the program."""
    table = program.tables[entry.table]
    message = p4runtime_pb2.TableEntry(table_id=table.id, priority=entry.priority)
    message.is_default_action = entry.match is None
    if entry.match is not None:
        _check_priority(entry, table)
        message.match.extend(_match_messages(entry.match, table, str(entry)))
    _set_outcome(message.action, entry, table, program)
    return message


def from_message(message: p4runtime_pb2.TableEntry, program: P4Info) -> Entry:
    """The entry a device reports; its values are plain integers."""
    table = program.tables.by_id(message.table_id)
    keys = {key.id: key for key in table.keys}
    match = {keys[field.field_id].name: _match(field) for field in message.match}
    outcome = _outcome(message.action, program)
    match_or_default = None if message.is_default_action else match
    return Entry(table.name, match_or_default, outcome, message.priority)


def action_message(call: Call, program: P4Info) -> p4runtime_pb2.Action:
    """The message of a call, after checking its parameters."""
    action = program.actions[call.action]
    given = dict(call.args)
    message = p4runtime_pb2.Action(action_id=action.id)
    for param in action.params:
        if param.name not in given:
            raise EntryError(f"action {action.name} needs a value for {param.name!r}.")
        what = f"{param.name} of {action.name}"
        value = encode(given.pop(param.name), param.width_bits, what)
        message.params.add(param_id=param.id, value=value)
    if given:
        names = (param.name for param in action.params)
        raise NameNotFoundError(f"parameter of {action.name}", next(iter(given)), names)
    return message


def _check_priority(entry: Entry, table: p4info.Table) -> None:
    if table.has_priorities and entry.priority <= 0:
        raise EntryError(
            f"{entry}: entries of {table.name} can overlap, so give a priority above 0."
        )
    if not table.has_priorities and entry.priority != 0:
        raise EntryError(f"{entry}: entries of {table.name} cannot overlap, so give no priority.")


def _match_messages(
    matches: Mapping[str, Match], table: p4info.Table, what: str
) -> Iterable[p4runtime_pb2.FieldMatch]:
    """One message for each key that is given, in the table's order."""
    given = dict(matches)
    for key in table.keys:
        match = given.pop(key.name, None)
        if match is None:
            # Leaving out a key means "anything", which an exact match cannot say.
            if key.kind is MatchKind.EXACT:
                raise EntryError(f"{what}: the key {key.name!r} is missing.")
            continue
        yield _match_message(match, key, f"{what}: {key.name}")
    if given:
        raise NameNotFoundError(
            f"key of {table.name}", next(iter(given)), (key.name for key in table.keys)
        )


def _match_message(match: Match, key: p4info.Key, what: str) -> p4runtime_pb2.FieldMatch:
    if _KIND_OF.get(type(match)) is not key.kind:
        raise EntryError(
            f"{what} is matched as {key.kind.name.lower()}, and {match} is of another kind."
        )
    message = p4runtime_pb2.FieldMatch(field_id=key.id)
    if isinstance(match, Exact):
        message.exact.value = encode(match.value, key.width_bits, what)
    elif isinstance(match, Lpm):
        message.lpm.value = _lpm_value(match, key, what)
        message.lpm.prefix_len = match.prefix_len
    elif isinstance(match, Ternary):
        value = encode(match.value, key.width_bits, what)
        mask = encode(match.mask, key.width_bits, f"the mask of {what}")
        if decode(value) & ~decode(mask):
            raise EntryError(f"{what}: the value has bits set that the mask leaves out.")
        message.ternary.value, message.ternary.mask = value, mask
    elif isinstance(match, Range):
        message.range.low = encode(match.low, key.width_bits, what)
        message.range.high = encode(match.high, key.width_bits, what)
        if decode(message.range.low) > decode(message.range.high):
            raise EntryError(f"{what}: the range {match.low} to {match.high} is empty.")
    else:
        message.optional.value = encode(match.value, key.width_bits, what)
    return message


def _lpm_value(match: Lpm, key: p4info.Key, what: str) -> bytes:
    """The prefix's bytes; P4Runtime refuses a prefix of length 0 and bits behind the prefix."""
    if not 0 < match.prefix_len <= key.width_bits:
        raise EntryError(
            f"{what}: a prefix of {match.prefix_len} bits does not exist in {key.width_bits}; "
            "to match everything, leave the key out."
        )
    value = encode(match.value, key.width_bits, what)
    if decode(value) & ((1 << (key.width_bits - match.prefix_len)) - 1):
        raise EntryError(f"{what}: {match.value} has bits set behind its /{match.prefix_len}.")
    return value


def _match(message: p4runtime_pb2.FieldMatch) -> Match:
    kind = message.WhichOneof("field_match_type")
    body = getattr(message, kind)
    if kind == "exact":
        return Exact(decode(body.value))
    if kind == "lpm":
        return Lpm(decode(body.value), body.prefix_len)
    if kind == "ternary":
        return Ternary(decode(body.value), decode(body.mask))
    if kind == "range":
        return Range(decode(body.low), decode(body.high))
    return Optional(decode(body.value))


def _set_outcome(
    message: p4runtime_pb2.TableAction, entry: Entry, table: p4info.Table, program: P4Info
) -> None:
    outcome = entry.call
    if isinstance(outcome, Call) is table.has_profile:
        what = "members, groups or a choice of its action profile" if table.has_profile else "calls"
        raise EntryError(f"{entry}: the entries of {table.name} hold {what}.")
    if isinstance(outcome, Call):
        message.action.CopyFrom(_allowed(outcome, table, program))
    elif isinstance(outcome, ToMember):
        message.action_profile_member_id = outcome.id
    elif isinstance(outcome, ToGroup):
        message.action_profile_group_id = outcome.id
    else:
        for call, weight in outcome.calls:
            chosen = message.action_profile_action_set.action_profile_actions.add(weight=weight)
            chosen.action.CopyFrom(_allowed(call, table, program))


def _allowed(call: Call, table: p4info.Table, program: P4Info) -> p4runtime_pb2.Action:
    action = program.actions[call.action]
    if action.id not in table.action_ids:
        allowed = (program.actions.by_id(id).name for id in table.action_ids)
        raise NameNotFoundError(f"action of {table.name}", call.action, allowed)
    return action_message(call, program)


def _outcome(message: p4runtime_pb2.TableAction, program: P4Info) -> Outcome:
    kind = message.WhichOneof("type")
    if kind == "action_profile_member_id":
        return ToMember(message.action_profile_member_id)
    if kind == "action_profile_group_id":
        return ToGroup(message.action_profile_group_id)
    if kind == "action_profile_action_set":
        chosen = message.action_profile_action_set.action_profile_actions
        return Choice(tuple((_call(each.action, program), each.weight) for each in chosen))
    # A default entry that was never set carries no action.
    return _call(message.action, program) if kind else Call("NoAction")


def _call(message: p4runtime_pb2.Action, program: P4Info) -> Call:
    action = program.actions.by_id(message.action_id)
    params = {param.id: param.name for param in action.params}
    return Call(action.name, **{params[a.param_id]: decode(a.value) for a in message.params})
