"""Which world labs and prompts run in, as `--world` names it."""

from __future__ import annotations

from enum import Enum

from controller.compiling import ROOT
from labs.errors import SettingError
from labs.hint import meant


class World(Enum):
    """Where hosts, cables and routers are."""

    LIVE = "live"
    VIRTUAL = "virtual"

    @classmethod
    def named(cls, name: str | None) -> World:
        """The world of that name; without one the live world, which only a clone has."""
        if not name:
            return cls.LIVE if (ROOT / "Makefile").exists() else cls.VIRTUAL
        try:
            return cls(name)
        except ValueError:
            names = [each.value for each in cls]
            raise SettingError(f"--world {name}: {meant(name, names)}") from None

    @property
    def title(self) -> str:
        """The heading of a column of its numbers."""
        return f"{self.value} world"

    @property
    def sentence(self) -> str:
        """A report's sentence about it."""
        return _SENTENCES[self]


_SENTENCES = {
    World.LIVE: "Live world: hosts with the kernel's TCP around real routers, in real time.",
    World.VIRTUAL: (
        "Virtual world: hosts with the kit's own TCP, cables and routers in virtual time; how fast "
        "the machine is changes nothing."
    ),
}
