"""Which world labs and prompts run in, as WORLD names it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum

from labs.errors import SettingError


class World(Enum):
    """Where hosts, cables and routers are."""

    LIVE = "live"
    VIRTUAL = "virtual"

    @classmethod
    def named(cls, name: str) -> World:
        """The world of that name."""
        try:
            return cls(name)
        except ValueError:
            names = ", ".join(each.value for each in cls)
            raise SettingError(f"there is no world {name!r}: WORLD is one of {names}.") from None

    @classmethod
    def chosen(cls, environment: Mapping[str, str] = os.environ) -> World:
        """What WORLD says; the live one if it says nothing."""
        return cls.named(environment.get("WORLD") or cls.LIVE.value)

    @property
    def title(self) -> str:
        """What stands above a column of its numbers."""
        return f"{self.value} world"

    @property
    def sentence(self) -> str:
        """What a reader of a report has to know of it."""
        return _SENTENCES[self]


_SENTENCES = {
    World.LIVE: "Live world: hosts with the kernel's TCP around real routers, in real time.",
    World.VIRTUAL: (
        "Virtual world: hosts with the kit's own TCP, cables and routers in virtual time; how fast "
        "the machine is changes nothing."
    ),
}
