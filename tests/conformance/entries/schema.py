"""The tables of a P4Info, as far as entries are concerned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from p4.config.v1 import p4info_pb2

Match = p4info_pb2.MatchField.MatchType


@dataclass(frozen=True)
class Key:
    """A part of a key."""

    id: int
    width: int
    kind: int


@dataclass(frozen=True)
class Action:
    """An action, with ids and widths of its parameters, and whether entries may name it."""

    id: int
    params: tuple[tuple[int, int], ...]
    for_entries: bool


@dataclass(frozen=True)
class Table:
    """A table that controllers fill."""

    id: int
    keys: tuple[Key, ...]
    actions: tuple[Action, ...]
    size: int
    # Entries are sets of actions.
    has_sets: bool
    # The largest sum of the weights of a set, if it is given.
    weights_max: int | None

    @property
    def has_priorities(self) -> bool:
        """Whether its entries have priorities."""
        return any(it.kind in (Match.TERNARY, Match.RANGE, Match.OPTIONAL) for it in self.keys)


def tables(info: p4info_pb2.P4Info) -> list[Table]:
    """All tables whose entries are not the program's own."""
    params = {
        it.preamble.id: tuple((param.id, param.bitwidth) for param in it.params)
        for it in info.actions
    }
    profiles = {it.preamble.id: it for it in info.action_profiles}
    return [
        _table(it, params, profiles)
        for it in info.tables
        if it.match_fields and not it.is_const_table
    ]


def _table(
    table: p4info_pb2.Table,
    params: Mapping[int, tuple[tuple[int, int], ...]],
    profiles: Mapping[int, p4info_pb2.ActionProfile],
) -> Table:
    keys = tuple(Key(it.id, it.bitwidth, it.match_type) for it in table.match_fields)
    actions = tuple(
        Action(it.id, params[it.id], it.scope != p4info_pb2.ActionRef.DEFAULT_ONLY)
        for it in table.action_refs
    )
    profile = profiles.get(table.implementation_id)
    weights_max = profile.max_group_size or None if profile else None
    has_sets = profile is not None
    return Table(table.preamble.id, keys, actions, table.size, has_sets, weights_max)
