"""Tables and their entries."""

from __future__ import annotations

from typing import Any

from bm_runtime.standard.ttypes import BmActionEntryType, BmAddEntryOptions

from . import values
from .command import Commands, command
from .mistakes import Mistake
from .program import Action, Profile, Table


class TableCommands(Commands):
    """Commands about tables."""

    @command(0)
    def do_show_tables(self) -> None:
        """List the tables of the program: show_tables."""
        for name in sorted(self.program.tables):
            print(self.program.tables[name])

    @command(0)
    def do_show_actions(self) -> None:
        """List the actions of the program: show_actions."""
        for name in sorted(self.program.actions):
            print(self.program.actions[name])

    @command(1)
    def do_table_show_actions(self, name: str) -> None:
        """List the actions of a table: table_show_actions <table name>."""
        for action in sorted(self.program.table(name).actions):
            print(self.program.actions[action])

    @command(1)
    def do_table_info(self, name: str) -> None:
        """Show a table and its actions: table_info <table name>."""
        print(self.program.table(name))
        print("*" * 80)
        for action in sorted(self.program.table(name).actions):
            print(self.program.actions[action])

    @command(1)
    def do_table_num_entries(self, name: str) -> None:
        """Count the entries of a table: table_num_entries <table name>."""
        print(self.client.bm_mt_get_num_entries(0, self.program.table(name).name))

    @command(1)
    def do_table_clear(self, name: str) -> None:
        """Remove the entries of a table, but not its default: table_clear <table name>."""
        self.client.bm_mt_clear_entries(0, self.program.table(name).name, False)

    @command(2, None)
    def do_table_set_default(self, table_name: str, action_name: str, *params: str) -> None:
        """Set a default action: table_set_default <table name> <action name> [parameters]."""
        table = self.program.table(table_name)
        action = self.action_of(table, table_name, action_name)
        data = values.data(action, list(params))
        print("Setting default action of", table_name)
        self._show_action(action_name, data)
        self.client.bm_mt_set_default_action(0, table.name, action.name, data)

    @command(1)
    def do_table_reset_default(self, name: str) -> None:
        """Put a table's default entry back: table_reset_default <table name>."""
        self.client.bm_mt_reset_default_entry(0, self.program.table(name).name)

    @command(3, None)
    def do_table_add(self, table_name: str, action_name: str, *words: str) -> None:
        """Add an entry to a table: table_add <table name> <action name> <match fields> => \
<action parameters> [priority]."""
        table = self.program.table(table_name)
        action = self.action_of(table, table_name, action_name)
        fields, params, priority = parted(table, list(words))
        data, key = values.data(action, params), values.key(table, fields)
        print("Adding entry to", table.match, "match table", table_name)
        print(f"{'match key:':20} {values.shown_key(key)}")
        self._show_action(action_name, data)
        handle = self.client.bm_mt_add_entry(
            0, table.name, key, action.name, data, BmAddEntryOptions(priority)
        )
        print("Entry has been added with handle", handle)

    @command(3, None)
    def do_table_modify(self, table_name: str, action_name: str, handle: str, *params: str) -> None:
        """Give an entry another action: table_modify <table name> <action name> <entry handle> \
[action parameters]."""
        table = self.program.table(table_name)
        action = self.action_of(table, table_name, action_name)
        entry = values.number(handle, "entry handle")
        data = values.data(action, list(params[1:] if params[:1] == ("=>",) else params))
        print("Modifying entry", entry, "for", table.match, "match table", table_name)
        self.client.bm_mt_modify_entry(0, table.name, entry, action.name, data)

    @command(2)
    def do_table_delete(self, table_name: str, handle: str) -> None:
        """Remove an entry: table_delete <table name> <entry handle>."""
        table, entry = self.program.table(table_name), values.number(handle, "entry handle")
        print("Deleting entry", entry, "from", table_name)
        self.client.bm_mt_delete_entry(0, table.name, entry)

    @command(3)
    def do_table_set_timeout(self, table_name: str, handle: str, timeout: str) -> None:
        """Set after how long an idle entry is reported: table_set_timeout <table name> \
<entry handle> <timeout (ms)>."""
        table, entry = self.program.table(table_name), values.number(handle, "entry handle")
        if not table.has_timeouts:
            raise Mistake(f"Table {table_name} does not support entry timeouts")
        timeout_ms = values.number(timeout, "timeout")
        print("Setting a", timeout_ms, "ms timeout for entry", entry)
        self.client.bm_mt_set_entry_ttl(0, table.name, entry, timeout_ms)

    @command(2)
    def do_table_dump_entry(self, table_name: str, handle: str) -> None:
        """Show an entry: table_dump_entry <table name> <entry handle>."""
        table = self.program.table(table_name)
        entry = values.number(handle, "entry handle")
        self._show_entry(table, self.client.bm_mt_get_entry(0, table.name, entry))

    @command(1, None)
    def do_table_dump_entry_from_key(self, table_name: str, *words: str) -> None:
        """Show the entry with a key: table_dump_entry_from_key <table name> <match fields> \
[priority]."""
        table = self.program.table(table_name)
        fields, priority = _with_priority(table, list(words))
        key, options = values.key(table, fields), BmAddEntryOptions(priority)
        self._show_entry(table, self.client.bm_mt_get_entry_from_key(0, table.name, key, options))

    @command(1)
    def do_table_dump(self, table_name: str) -> None:
        """Show the entries of a table: table_dump <table name>."""
        table = self.program.table(table_name)
        entries = self.client.bm_mt_get_entries(0, table.name)
        print("==========\nTABLE ENTRIES")
        for entry in entries:
            print("**********")
            self._show_entry(table, entry)
        if table.profile is not None:
            self.show_profile(table.profile)
        print("==========\nDumping default entry")
        self._show_action_entry(self.client.bm_mt_get_default_entry(0, table.name))
        print("==========")

    def show_profile(self, profile: Profile) -> None:
        """Show an action profile, where the switch has commands for those."""

    def action_of(self, owner: Table | Profile, owner_name: str, name: str) -> Action:
        """Find an action of a table or profile."""
        action = self.program.action(owner, name)
        if action is None:
            what = "Table" if isinstance(owner, Table) else "Action profile"
            raise Mistake(f"{what} {owner_name} has no action {name}")
        return action

    @staticmethod
    def _show_action(name: str, data: list[bytes]) -> None:
        print(f"{'action:':20} {name}")
        print(f"{'runtime data:':20} {chr(9).join(values.colons(part) for part in data)}")

    def _show_entry(self, table: Table, entry: Any) -> None:
        print(f"Dumping entry {entry.entry_handle:#x}")
        print("Match key:")
        width = max((len(key.name) for key in table.keys), default=20)
        for key, param in zip(table.keys, entry.match_key, strict=False):
            shown = values.shown_part(param, bytes.hex)
            print(f"* {key.name:{max(20, width)}}: {key.match.upper():10}{shown}")
        priority = entry.options.priority
        if priority is not None and priority >= 0:
            print(f"Priority: {priority}")
        self._show_action_entry(entry.action_entry)
        if entry.life is not None:
            idle, timeout = entry.life.time_since_hit_ms, entry.life.timeout_ms
            print(f"Life: {idle}ms since hit, timeout is {timeout}ms")

    def _show_action_entry(self, entry: Any) -> None:
        match entry.action_type:
            case BmActionEntryType.NONE:
                print("EMPTY")
            case BmActionEntryType.ACTION_DATA:
                data = ", ".join(part.hex() for part in entry.action_data)
                print(f"Action entry: {entry.action_name} - {data}")
            case BmActionEntryType.MBR_HANDLE:
                print(f"Index: member({entry.mbr_handle})")
            case BmActionEntryType.GRP_HANDLE:
                print(f"Index: group({entry.grp_handle})")


def _with_priority(table: Table, words: list[str]) -> tuple[list[str], int]:
    """Part the priority off, which stands last where a table has them."""
    if not table.has_priorities:
        return words, 0
    try:
        return words[:-1], int(words[-1])
    except (IndexError, ValueError):
        raise Mistake(
            "Table is ternary, but could not extract a valid priority from args"
        ) from None


def parted(table: Table, words: list[str]) -> tuple[list[str], list[str], int]:
    """Part words into key, what stands behind `=>`, and priority."""
    words, priority = _with_priority(table, words)
    at = words.index("=>") if "=>" in words else len(words)
    return words[:at], words[at + 1 :], priority
