"""The state that a controller has written to a device, so that it can be written again after a
restart.

Only the end counts: an entry that was inserted, modified twice and then removed leaves nothing.
What others name comes first: members, then groups, then entries, whatever the order of the writing
was, because a change can make an entry name a member that is younger than itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from p4.v1 import p4runtime_pb2

# Entities that can be modified but neither inserted nor deleted.
_MODIFY_ONLY = frozenset(
    {
        *("register_entry", "meter_entry", "counter_entry"),
        *("direct_meter_entry", "direct_counter_entry"),
    }
)
# Members come first, then what names them, and so on; the rest names nothing and goes with the
# entries.
_RANKS = {
    "action_profile_member": 0,
    "action_profile_group": 1,
    "direct_meter_entry": 3,
    "direct_counter_entry": 3,
}
# Of each kind of entity the fields that say which one it is; the rest is what it holds.
_KEYS = {
    "table_entry": ("table_id", "match", "priority", "is_default_action"),
    "action_profile_member": ("action_profile_id", "member_id"),
    "action_profile_group": ("action_profile_id", "group_id"),
    "register_entry": ("register_id", "index"),
    "meter_entry": ("meter_id", "index"),
    "counter_entry": ("counter_id", "index"),
    "value_set_entry": ("value_set_id",),
    "digest_entry": ("digest_id",),
}
# Direct entities are identified by their table entries.
_DIRECT = ("direct_meter_entry", "direct_counter_entry")
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
            if update.type == p4runtime_pb2.Update.DELETE:
                self._forget(update.entity)
            else:
                self._entities[identity(update.entity)] = update.entity

    def _forget(self, entity: p4runtime_pb2.Entity) -> None:
        self._entities.pop(identity(entity), None)
        if entity.WhichOneof("entity") == "table_entry":
            # With an entry go its own meter and counter.
            for kind in _DIRECT:
                direct = p4runtime_pb2.Entity()
                getattr(direct, kind).table_entry.CopyFrom(entity.table_entry)
                self._entities.pop(identity(direct), None)

    def queries(self) -> list[p4runtime_pb2.Entity]:
        """The queries that `updates` needs to find out what a device lacks."""
        return queries(self._entities.values())

    def lacks(self, present: Iterable[p4runtime_pb2.Entity]) -> bool:
        """Whether something is not there, or a default entry is another one."""
        found = {identity(entity): entity for entity in present}
        return any(
            not _is_same(entity, found.get(key))
            for key, entity in self._entities.items()
            if _query(entity) is not None
        )

    def updates(self, present: Iterable[p4runtime_pb2.Entity] = ()) -> list[p4runtime_pb2.Update]:
        """The updates that bring a device with these entities alone to this state."""
        found = {identity(entity) for entity in present}
        updates = [
            p4runtime_pb2.Update(type=_kind(entity, key in found), entity=entity)
            for key, entity in self._entities.items()
        ]
        return sorted(updates, key=lambda update: _RANKS.get(_name(update.entity), 2))


def queries(entities: Iterable[p4runtime_pb2.Entity]) -> list[p4runtime_pb2.Entity]:
    """The queries that find out which of these a device has."""
    found = {}
    for entity in entities:
        query = _query(entity)
        if query is not None:
            found[query.SerializeToString(deterministic=True)] = query
    return list(found.values())


def to_repeat(
    update: p4runtime_pb2.Update, present: Collection[bytes]
) -> p4runtime_pb2.Update.Type | None:
    """How to make an update again that was cut off, done or not; None: it is done.

    `present` are the identities of what the device has.
    """
    is_there = identity(update.entity) in present
    if update.type == p4runtime_pb2.Update.DELETE:
        return update.type if is_there else None
    if update.type == p4runtime_pb2.Update.INSERT and is_there:
        return p4runtime_pb2.Update.MODIFY
    return update.type


def _name(entity: p4runtime_pb2.Entity) -> str:
    return str(entity.WhichOneof("entity"))


def _is_default(entity: p4runtime_pb2.Entity) -> bool:
    return _name(entity) == "table_entry" and entity.table_entry.is_default_action


def _kind(entity: p4runtime_pb2.Entity, is_there: bool) -> p4runtime_pb2.Update.Type:
    return (
        p4runtime_pb2.Update.MODIFY
        if is_there or not _is_inserted(entity)
        else p4runtime_pb2.Update.INSERT
    )


def _is_inserted(entity: p4runtime_pb2.Entity) -> bool:
    # A value set is there from the start; its members are replaced.
    return not (_is_default(entity) or _name(entity) in {*_MODIFY_ONLY, "value_set_entry"})


def _query(entity: p4runtime_pb2.Entity) -> p4runtime_pb2.Entity | None:
    """Reads the entity, and all others of its table or the like; None: reading tells nothing.

    A register or a meter is there in any case, and packets may have changed what it holds.
    """
    name = _name(entity)
    query = p4runtime_pb2.Entity()
    if name == "packet_replication_engine_entry":
        kind = entity.packet_replication_engine_entry.WhichOneof("type")
        getattr(query.packet_replication_engine_entry, kind).SetInParent()
    elif _is_default(entity):
        query.table_entry.table_id = entity.table_entry.table_id
        query.table_entry.is_default_action = True
    elif _is_inserted(entity):
        container = _KEYS[name][0]
        setattr(getattr(query, name), container, getattr(getattr(entity, name), container))
    else:
        return None
    return query


def _is_same(wanted: p4runtime_pb2.Entity, found: p4runtime_pb2.Entity | None) -> bool:
    if found is None:
        return False
    return not _is_default(wanted) or wanted.table_entry.action == found.table_entry.action


def identity(entity: p4runtime_pb2.Entity) -> bytes:
    """The same bytes for every entity that stands for the same thing."""
    name = entity.WhichOneof("entity")
    body = getattr(entity, name)
    if name == "packet_replication_engine_entry":
        name = body.WhichOneof("type")
        return f"{name}:{getattr(getattr(body, name), _REPLICATION_KEYS[name])}".encode()
    if name in _DIRECT:
        entry = p4runtime_pb2.Entity(table_entry=body.table_entry)
        return name.encode() + b":" + identity(entry)
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
