"""What a controller has written to a device, so that it can be written again after a restart.

Only the end counts: an entry that was inserted, modified twice and then removed leaves nothing. The
order of the first writing is kept, because members come before the groups and entries that name
them.
"""

from __future__ import annotations

from collections.abc import Iterable

from p4.v1 import p4runtime_pb2

# What can be set but neither inserted nor removed.
_MODIFY_ONLY = frozenset(
    {
        *("register_entry", "meter_entry", "counter_entry"),
        *("direct_meter_entry", "direct_counter_entry"),
    }
)
# Of each kind of entity the fields that say which one it is; the rest is what it holds.
_KEYS = {
    "table_entry": ("table_id", "match", "priority", "is_default_action"),
    "action_profile_member": ("action_profile_id", "member_id"),
    "action_profile_group": ("action_profile_id", "group_id"),
    "register_entry": ("register_id", "index"),
    "meter_entry": ("meter_id", "index"),
    "counter_entry": ("counter_id", "index"),
    "direct_meter_entry": ("table_entry",),
    "direct_counter_entry": ("table_entry",),
    "value_set_entry": ("value_set_id",),
    "digest_entry": ("digest_id",),
}
_REPLICATION_KEYS = {
    "multicast_group_entry": "multicast_group_id",
    "clone_session_entry": "session_id",
}


class Ledger:
    """The state of one device as its controller wants it."""

    def __init__(self) -> None:
        self._entities: dict[bytes, p4runtime_pb2.Entity] = {}

    def clear(self) -> None:
        """A new program has none of the old one's entries."""
        self._entities.clear()

    def note(self, updates: Iterable[p4runtime_pb2.Update]) -> None:
        """Remembers updates that the device has accepted."""
        for update in updates:
            key = identity(update.entity)
            if update.type == p4runtime_pb2.Update.DELETE:
                self._entities.pop(key, None)
            else:
                self._entities[key] = update.entity

    def updates(self) -> list[p4runtime_pb2.Update]:
        """What brings an empty device to this state."""
        return [
            p4runtime_pb2.Update(type=_kind(entity), entity=entity)
            for entity in self._entities.values()
        ]


def _kind(entity: p4runtime_pb2.Entity) -> p4runtime_pb2.Update.Type:
    name = entity.WhichOneof("entity")
    is_default = name == "table_entry" and entity.table_entry.is_default_action
    # A value set is there from the start; its members are replaced.
    if is_default or name in _MODIFY_ONLY or name == "value_set_entry":
        return p4runtime_pb2.Update.MODIFY
    return p4runtime_pb2.Update.INSERT


def identity(entity: p4runtime_pb2.Entity) -> bytes:
    """The same bytes for every entity that stands for the same thing."""
    name = entity.WhichOneof("entity")
    body = getattr(entity, name)
    if name == "packet_replication_engine_entry":
        name = body.WhichOneof("type")
        return f"{name}:{getattr(getattr(body, name), _REPLICATION_KEYS[name])}".encode()
    bare = type(body)()
    for field in _KEYS[name]:
        value = getattr(body, field)
        if isinstance(value, int):
            setattr(bare, field, value)
        elif hasattr(value, "CopyFrom"):
            getattr(bare, field).CopyFrom(value)
        else:
            # Matches may come in any order and mean the same.
            getattr(bare, field).extend(sorted(value, key=lambda match: match.field_id))
    return name.encode() + b":" + bare.SerializeToString(deterministic=True)
