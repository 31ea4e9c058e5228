"""The contents of a program, from its BMv2 JSON: the objects that commands name.

The name of an object in P4_16 is its whole path; any end of it that no other object of its kind
shares does too.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .mistakes import Mistake


@dataclass(frozen=True)
class Action:
    """An action, with the names and widths of its parameters."""

    name: str
    params: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        params = ",\t".join(f"{name}({width})" for name, width in self.params)
        return f"{self.name:30} [{params}]"


@dataclass(frozen=True)
class Key:
    """One key of a table."""

    name: str
    match: str
    width: int


@dataclass
class Profile:
    """An action profile, with the actions of its tables."""

    name: str
    has_selector: bool
    actions: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        return f"{self.name:30} [{self.has_selector}]"


@dataclass
class Table:
    """A table."""

    name: str
    match: str
    keys: tuple[Key, ...]
    actions: set[str]
    profile: Profile | None
    has_timeouts: bool

    @property
    def has_priorities(self) -> bool:
        """Whether its entries have priorities."""
        return self.match in ("ternary", "range")

    def __str__(self) -> str:
        keys = ",\t".join(f"{key.name}({key.match}, {key.width})" for key in self.keys)
        profile = self.profile.name if self.profile else None
        return f"{self.name:30} [implementation={profile}, mk={keys}]"


@dataclass(frozen=True)
class Array:
    """An array of counters, meters or registers, or the counters or meters of a table's entries."""

    name: str
    size: int | None
    # The table, where its cells are those of entries.
    table: str | None = None
    rate_count: int = 0
    width: int = 0


@dataclass(frozen=True)
class ValueSet:
    """A parser value set."""

    name: str
    width: int

    def __str__(self) -> str:
        return f"{self.name:30} [compressed bitwidth:{self.width}]"


class Program:
    """The objects of a program, by kind and name."""

    def __init__(self, text: str) -> None:
        source = json.loads(text) if text else {}
        self.actions = {
            action["name"]: Action(
                action["name"],
                tuple((param["name"], param["bitwidth"]) for param in action["runtime_data"]),
            )
            for action in source.get("actions", [])
        }
        self.profiles: dict[str, Profile] = {}
        self.tables: dict[str, Table] = {}
        for pipeline in source.get("pipelines", []):
            self._read_pipeline(pipeline, source)
        self.counters = _arrays(source, "counter_arrays")
        self.meters = _arrays(source, "meter_arrays")
        self.registers = _arrays(source, "register_arrays")
        self.value_sets = {
            found["name"]: ValueSet(found["name"], found["compressed_bitwidth"])
            for found in source.get("parse_vsets", [])
        }
        self.crcs = {
            calculation["name"]: int(calculation["algo"][3:5])
            for calculation in source.get("calculations", [])
            if calculation["algo"] in ("crc16_custom", "crc32_custom")
        }

    def _read_pipeline(self, pipeline: dict[str, Any], source: dict[str, Any]) -> None:
        for profile in pipeline.get("action_profiles", []):
            name = profile["name"]
            self.profiles[name] = Profile(name, "selector" in profile)
        for table in pipeline["tables"]:
            name, profile_name = table["name"], table.get("action_profile")
            if profile_name is None and "act_prof_name" in table:
                # As older compilers wrote it.
                profile_name = table["act_prof_name"]
                self.profiles[profile_name] = Profile(profile_name, "selector" in table)
            profile = self.profiles.get(profile_name)
            actions = set(table["actions"])
            if profile is not None:
                profile.actions |= actions
            keys = tuple(_key(key, source) for key in table["key"])
            timeouts = table["support_timeout"]
            self.tables[name] = Table(name, table["match_type"], keys, actions, profile, timeouts)

    def named(self, kind: str, objects: dict[str, Any], name: str) -> Any:
        """Find the object of this name, or of the only name that ends so."""
        if name in objects:
            return objects[name]
        ends = Counter(end for whole in objects for end in _ends(whole))
        if ends[name] == 1:
            return next(it for whole, it in objects.items() if name in _ends(whole))
        raise Mistake(f"Invalid {kind} name ({name})")

    def table(self, name: str) -> Table:
        """Find a table."""
        found: Table = self.named("table", self.tables, name)
        return found

    def action(self, owner: Table | Profile, name: str) -> Action | None:
        """Find an action of a table or profile, if it has one of this name."""
        own = {whole: self.actions[whole] for whole in owner.actions}
        try:
            found: Action = self.named("action", own, name)
        except Mistake:
            return None
        return found


def _ends(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[at:]) for at in range(len(parts))]


def _arrays(source: dict[str, Any], kind: str) -> dict[str, Array]:
    return {
        array["name"]: Array(
            array["name"],
            array.get("size"),
            array.get("binding") if array.get("is_direct") else None,
            array.get("rate_count", 0),
            array.get("bitwidth", 0),
        )
        for array in source.get(kind, [])
    }


def _key(key: dict[str, Any], source: dict[str, Any]) -> Key:
    target, match = key["target"], key["match_type"]
    if match == "valid":
        name = target if isinstance(target, str) else target[0]
        return Key(f"{name}_valid", match, 1)
    if target[1] == "$valid$":
        return Key(f"{target[0]}_valid", match, 1)
    headers = {header["name"]: header["header_type"] for header in source["headers"]}
    fields = {of["name"]: of["fields"] for of in source["header_types"]}[headers[target[0]]]
    width = next(found[1] for found in fields if found[0] == target[1])
    return Key(".".join(target), match, width)
