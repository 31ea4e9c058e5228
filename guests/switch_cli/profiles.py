"""Action profiles, and tables whose entries name their members or groups."""

from __future__ import annotations

from typing import Any

from bm_runtime.standard.ttypes import BmAddEntryOptions

from . import values
from .command import command
from .mistakes import Mistake
from .program import Profile, Table
from .tables import TableCommands, parted


class ProfileCommands(TableCommands):
    """Commands about action profiles."""

    def _profile(self, name: str, *, has_selector: bool = False) -> Profile:
        found: Profile = self.program.named("action profile", self.program.profiles, name)
        if has_selector and not found.has_selector:
            raise Mistake("Cannot run this command on an action profile without selector")
        return found

    def _indirect(self, name: str, *, has_selector: bool = False) -> Table:
        table = self.program.table(name)
        if table.profile is None:
            raise Mistake("Cannot run this command on non-indirect table")
        if has_selector and not table.profile.has_selector:
            raise Mistake("Cannot run this command on an indirect table with no selector")
        return table

    @command(2, None)
    def do_act_prof_create_member(self, name: str, action_name: str, *params: str) -> None:
        """Add a member: act_prof_create_member <profile name> <action name> [action parameters]."""
        profile = self._profile(name)
        action = self.action_of(profile, name, action_name)
        data = values.data(action, list(params))
        handle = self.client.bm_mt_act_prof_add_member(0, profile.name, action.name, data)
        print("Member has been created with handle", handle)

    @command(2)
    def do_act_prof_delete_member(self, name: str, handle: str) -> None:
        """Remove a member: act_prof_delete_member <profile name> <member handle>."""
        member = values.number(handle, "member handle")
        self.client.bm_mt_act_prof_delete_member(0, self._profile(name).name, member)

    @command(3, None)
    def do_act_prof_modify_member(
        self, name: str, action_name: str, handle: str, *params: str
    ) -> None:
        """Change a member: act_prof_modify_member <profile name> <action name> <member handle> \
[action parameters]."""
        profile = self._profile(name)
        action = self.action_of(profile, name, action_name)
        member = values.number(handle, "member handle")
        data = values.data(action, list(params[1:] if params[:1] == ("=>",) else params))
        self.client.bm_mt_act_prof_modify_member(0, profile.name, member, action.name, data)

    @command(1)
    def do_act_prof_create_group(self, name: str) -> None:
        """Add a group: act_prof_create_group <profile name>."""
        profile = self._profile(name, has_selector=True)
        handle = self.client.bm_mt_act_prof_create_group(0, profile.name)
        print("Group has been created with handle", handle)

    @command(2)
    def do_act_prof_delete_group(self, name: str, handle: str) -> None:
        """Remove a group: act_prof_delete_group <profile name> <group handle>."""
        profile = self._profile(name, has_selector=True)
        group = values.number(handle, "group handle")
        self.client.bm_mt_act_prof_delete_group(0, profile.name, group)

    @command(3)
    def do_act_prof_add_member_to_group(self, name: str, member: str, group: str) -> None:
        """Add to a group: act_prof_add_member_to_group <profile name> <member handle> \
<group handle>."""
        profile = self._profile(name, has_selector=True)
        handles = values.number(member, "member handle"), values.number(group, "group handle")
        self.client.bm_mt_act_prof_add_member_to_group(0, profile.name, *handles)

    @command(3)
    def do_act_prof_remove_member_from_group(self, name: str, member: str, group: str) -> None:
        """Take out of a group: act_prof_remove_member_from_group <profile name> <member handle> \
<group handle>."""
        profile = self._profile(name, has_selector=True)
        handles = values.number(member, "member handle"), values.number(group, "group handle")
        self.client.bm_mt_act_prof_remove_member_from_group(0, profile.name, *handles)

    @command(1)
    def do_act_prof_dump(self, name: str) -> None:
        """Show a profile: act_prof_dump <profile name>."""
        self.show_profile(self._profile(name))

    @command(2)
    def do_act_prof_dump_member(self, name: str, handle: str) -> None:
        """Show a member: act_prof_dump_member <profile name> <member handle>."""
        member = values.number(handle, "member handle")
        profile = self._profile(name)
        _show_member(self.client.bm_mt_act_prof_get_member(0, profile.name, member))

    @command(2)
    def do_act_prof_dump_group(self, name: str, handle: str) -> None:
        """Show a group: act_prof_dump_group <profile name> <group handle>."""
        group = values.number(handle, "group handle")
        profile = self._profile(name)
        _show_group(self.client.bm_mt_act_prof_get_group(0, profile.name, group))

    def show_profile(self, profile: Profile) -> None:
        """Show all members and groups."""
        print("==========\nMEMBERS")
        for member in self.client.bm_mt_act_prof_get_members(0, profile.name):
            print("**********")
            _show_member(member)
        if profile.has_selector:
            print("==========\nGROUPS")
            for group in self.client.bm_mt_act_prof_get_groups(0, profile.name):
                print("**********")
                _show_group(group)

    def _add(self, table: Table, words: list[str], call: Any) -> None:
        fields, behind, priority = parted(table, words)
        if len(behind) != 1:
            raise Mistake("Invalid arguments, could not find handle")
        handle, key = values.number(behind[0], "handle"), values.key(table, fields)
        print("Adding entry to indirect match table", table.name)
        entry = call(0, table.name, key, handle, BmAddEntryOptions(priority))
        print("Entry has been added with handle", entry)

    @command(2, None)
    def do_table_indirect_add(self, name: str, *words: str) -> None:
        """Add an entry: table_indirect_add <table name> <match fields> => <member handle> \
[priority]."""
        self._add(self._indirect(name), list(words), self.client.bm_mt_indirect_add_entry)

    @command(2, None)
    def do_table_indirect_add_with_group(self, name: str, *words: str) -> None:
        """Add an entry: table_indirect_add_with_group <table name> <match fields> => \
<group handle> [priority]."""
        table = self._indirect(name, has_selector=True)
        self._add(table, list(words), self.client.bm_mt_indirect_ws_add_entry)

    @command(2)
    def do_table_indirect_delete(self, name: str, handle: str) -> None:
        """Remove an entry: table_indirect_delete <table name> <entry handle>."""
        table, entry = self._indirect(name), values.number(handle, "entry handle")
        print("Deleting entry", entry, "from", name)
        self.client.bm_mt_indirect_delete_entry(0, table.name, entry)

    @command(2)
    def do_table_indirect_set_default(self, name: str, handle: str) -> None:
        """Set a default member: table_indirect_set_default <table name> <member handle>."""
        table, member = self._indirect(name), values.number(handle, "handle")
        self.client.bm_mt_indirect_set_default_member(0, table.name, member)

    @command(2)
    def do_table_indirect_set_default_with_group(self, name: str, handle: str) -> None:
        """Set a default group: table_indirect_set_default_with_group <table name> \
<group handle>."""
        table, group = self._indirect(name, has_selector=True), values.number(handle, "handle")
        self.client.bm_mt_indirect_ws_set_default_group(0, table.name, group)

    @command(1)
    def do_table_indirect_reset_default(self, name: str) -> None:
        """Put a default entry back: table_indirect_reset_default <table name>."""
        self.client.bm_mt_indirect_reset_default_entry(0, self._indirect(name).name)


def _show_member(member: Any) -> None:
    print(f"Dumping member {member.mbr_handle}")
    data = ", ".join(part.hex() for part in member.action_data)
    print(f"Action entry: {member.action_name} - {data}")


def _show_group(group: Any) -> None:
    print(f"Dumping group {group.grp_handle}")
    print(f"Members: [{', '.join(str(handle) for handle in group.mbr_handles)}]")
