"""Commands about action profiles by their old names, which take a table instead of a profile."""

from __future__ import annotations

import sys
from typing import Any

from .command import command
from .mistakes import Mistake
from .profiles import ProfileCommands

_CHANGES = (
    "create_member",
    "delete_member",
    "modify_member",
    "create_group",
    "delete_group",
    "add_member_to_group",
    "remove_member_from_group",
)
# By the old name. Those that only show something were never deprecated.
_CURRENT = {f"table_indirect_{change}": f"act_prof_{change}" for change in _CHANGES} | {
    "table_dump_member": "act_prof_dump_member",
    "table_dump_group": "act_prof_dump_group",
}


class DeprecatedCommands(ProfileCommands):
    """The old names."""


def _command(old: str, current: str) -> Any:
    is_change = old.startswith("table_indirect")

    @command(1, None)
    def run(self: DeprecatedCommands, name: str, *words: str) -> None:
        table = self._indirect(name, has_selector=is_change and old.endswith("group"))
        assert table.profile is not None
        sharing = [it for it in self.program.tables.values() if it.profile is table.profile]
        if is_change and len(sharing) > 1:
            raise Mistake("Legacy command does not work with shared action profiles")
        if is_change:
            # Scripts parse standard output.
            print(f"This is a deprecated command, use '{current}' instead", file=sys.stderr)
        getattr(self, f"do_{current}")(" ".join((table.profile.name, *words)))

    run.__doc__ = f"Do {current} with the action profile of a table: {old} <table name> ..."
    return run


for _old, _new in _CURRENT.items():
    setattr(DeprecatedCommands, f"do_{_old}", _command(_old, _new))
