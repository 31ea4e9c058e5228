"""The required answers of a switch to updates, and the contents of its tables afterwards."""

from __future__ import annotations

from google.rpc import code_pb2
from p4.v1 import p4runtime_pb2

from .schema import Table

Update = p4runtime_pb2.Update
OK = frozenset({code_pb2.OK})
# The specification says which for some mistakes, and leaves others open.
REFUSED = frozenset({code_pb2.INVALID_ARGUMENT, code_pb2.NOT_FOUND, code_pb2.PERMISSION_DENIED})
FULL = frozenset({code_pb2.RESOURCE_EXHAUSTED})


class Model:
    """Tables as dictionaries."""

    def __init__(self, tables: list[Table]) -> None:
        self._sizes = {table.id: table.size for table in tables}
        # By table and key.
        self.held: dict[int, dict[bytes, p4runtime_pb2.TableEntry]] = {it.id: {} for it in tables}
        # The capacity for entries with sets of actions is unknown: any write may be refused.
        self._sets = {table.id for table in tables if table.has_sets}

    def expect(self, update: p4runtime_pb2.Update, *, is_wrong: bool) -> frozenset[int]:
        """The codes that may come."""
        entry = update.entity.table_entry
        if is_wrong:
            return REFUSED
        held, key = self.held[entry.table_id], key_of(entry)
        if update.type == Update.INSERT:
            if key in held:
                return frozenset({code_pb2.ALREADY_EXISTS})
            if len(held) >= self._sizes[entry.table_id]:
                return FULL
            return OK | FULL if entry.table_id in self._sets else OK
        if key not in held:
            return frozenset({code_pb2.NOT_FOUND})
        return OK | FULL if entry.table_id in self._sets else OK

    def carry_out(self, update: p4runtime_pb2.Update) -> None:
        """The update was answered with OK."""
        entry = update.entity.table_entry
        held, key = self.held[entry.table_id], key_of(entry)
        if update.type == Update.DELETE:
            del held[key]
        else:
            held[key] = entry

    def entries(self) -> dict[int, dict[bytes, bytes]]:
        """By table and key: the action, as bytes."""
        return {
            table: {key: action_of(entry) for key, entry in held.items()}
            for table, held in self.held.items()
        }


def key_of(entry: p4runtime_pb2.TableEntry) -> bytes:
    """The identity of an entry in its table."""
    fields = sorted(field.SerializeToString(deterministic=True) for field in entry.match)
    return b"".join([entry.priority.to_bytes(4, "big"), *fields])


def action_of(entry: p4runtime_pb2.TableEntry) -> bytes:
    """An entry's action or set of actions; the order of the set does not matter."""
    if entry.action.HasField("action"):
        return _call(entry.action.action)
    actions = entry.action.action_profile_action_set.action_profile_actions
    return b"|".join(sorted(one.weight.to_bytes(4, "big") + _call(one.action) for one in actions))


def _call(call: p4runtime_pb2.Action) -> bytes:
    params = sorted(param.SerializeToString(deterministic=True) for param in call.params)
    return b"".join([call.action_id.to_bytes(4, "big"), *params])
