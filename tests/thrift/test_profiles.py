"""Action profiles over Thrift: members, groups, and the entries that name them."""

from tests.thrift.switch import Door  # first: it finds the modules below
from tests.thrift.test_tables import code_of, exact

from bm_runtime.standard.ttypes import (  # isort: skip
    BmActionEntryType,
    BmAddEntryOptions,
    TableOperationErrorCode as Code,
)

PROFILE, TABLE = "ingress.ways", "ingress.by_way"
NO_OPTIONS = BmAddEntryOptions(priority=0)


def member(switch: Door, port: int) -> int:
    data = [port.to_bytes(2, "big")]
    return switch.standard.bm_mt_act_prof_add_member(0, PROFILE, "ingress.send", data)


def test_members_and_groups_are_numbered_from_zero_and_numbers_used_again(switch: Door) -> None:
    standard = switch.standard
    assert [member(switch, port) for port in (1, 2, 3)] == [0, 1, 2]
    standard.bm_mt_act_prof_delete_member(0, PROFILE, 1)
    assert member(switch, 4) == 1
    found = standard.bm_mt_act_prof_get_members(0, PROFILE)
    assert [(it.mbr_handle, it.action_data) for it in found] == [
        (0, [b"\1"]),
        (1, [b"\4"]),
        (2, [b"\3"]),
    ]
    standard.bm_mt_act_prof_modify_member(0, PROFILE, 2, "ingress.drop", [])
    assert standard.bm_mt_act_prof_get_member(0, PROFILE, 2).action_name == "ingress.drop"

    assert standard.bm_mt_act_prof_create_group(0, PROFILE) == 0
    standard.bm_mt_act_prof_add_member_to_group(0, PROFILE, 2, 0)
    standard.bm_mt_act_prof_add_member_to_group(0, PROFILE, 0, 0)
    assert standard.bm_mt_act_prof_get_group(0, PROFILE, 0).mbr_handles == [0, 2]
    standard.bm_mt_act_prof_remove_member_from_group(0, PROFILE, 2, 0)
    groups = standard.bm_mt_act_prof_get_groups(0, PROFILE)
    assert [(it.grp_handle, it.mbr_handles) for it in groups] == [(0, [0])]


def test_entries_name_members_or_groups(switch: Door) -> None:
    standard = switch.standard
    first, second = member(switch, 1), member(switch, 2)
    group = standard.bm_mt_act_prof_create_group(0, PROFILE)
    standard.bm_mt_act_prof_add_member_to_group(0, PROFILE, first, group)
    # A bit<12> takes two bytes.
    entry = standard.bm_mt_indirect_add_entry(0, TABLE, [exact(b"\0\7")], second, NO_OPTIONS)
    found = standard.bm_mt_get_entry(0, TABLE, entry).action_entry
    assert (found.action_type, found.mbr_handle) == (BmActionEntryType.MBR_HANDLE, second)
    standard.bm_mt_indirect_ws_modify_entry(0, TABLE, entry, group)
    found = standard.bm_mt_get_entry(0, TABLE, entry).action_entry
    assert (found.action_type, found.grp_handle) == (BmActionEntryType.GRP_HANDLE, group)
    used = code_of(standard.bm_mt_act_prof_delete_group, 0, PROFILE, group)
    assert used == Code.GRP_STILL_USED
    standard.bm_mt_indirect_modify_entry(0, TABLE, entry, first)
    standard.bm_mt_act_prof_delete_group(0, PROFILE, group)
    standard.bm_mt_indirect_set_default_member(0, TABLE, second)
    assert standard.bm_mt_get_default_entry(0, TABLE).mbr_handle == second
    standard.bm_mt_indirect_reset_default_entry(0, TABLE)
    assert standard.bm_mt_get_default_entry(0, TABLE).action_type == BmActionEntryType.NONE
    standard.bm_mt_indirect_delete_entry(0, TABLE, entry)
    assert standard.bm_mt_get_num_entries(0, TABLE) == 0


def test_what_is_wrong_has_the_code_of_the_interface(switch: Door) -> None:
    standard = switch.standard
    add = standard.bm_mt_act_prof_add_member
    assert code_of(add, 0, "none", "ingress.send", [b"\0\1"]) == Code.INVALID_ACTION_PROFILE_NAME
    assert code_of(add, 0, PROFILE, "ingress.mark", []) == Code.INVALID_ACTION_NAME
    first = member(switch, 1)
    group = standard.bm_mt_act_prof_create_group(0, PROFILE)
    key = [exact(b"\0\1")]
    with_group = standard.bm_mt_indirect_ws_add_entry
    assert code_of(with_group, 0, TABLE, key, group, NO_OPTIONS) == Code.EMPTY_GRP
    assert code_of(with_group, 0, TABLE, key, 9, NO_OPTIONS) == Code.INVALID_GRP_HANDLE
    with_member = standard.bm_mt_indirect_add_entry
    assert code_of(with_member, 0, TABLE, key, 9, NO_OPTIONS) == Code.INVALID_MBR_HANDLE
    direct = "ingress.by_address"
    assert code_of(with_member, 0, direct, key, first, NO_OPTIONS) == Code.WRONG_TABLE_TYPE
    join = standard.bm_mt_act_prof_add_member_to_group
    leave = standard.bm_mt_act_prof_remove_member_from_group
    assert code_of(leave, 0, PROFILE, first, group) == Code.MBR_NOT_IN_GRP
    join(0, PROFILE, first, group)
    assert code_of(join, 0, PROFILE, first, group) == Code.MBR_ALREADY_IN_GRP
    delete = standard.bm_mt_act_prof_delete_member
    assert code_of(delete, 0, PROFILE, first) == Code.MBR_STILL_USED
    assert code_of(delete, 0, PROFILE, 7) == Code.INVALID_MBR_HANDLE


def test_the_commands_of_the_prompt(switch: Door) -> None:
    said = switch.cli(
        "act_prof_create_member ways send 1",
        "act_prof_create_member ways send 2",
        "act_prof_create_group ways",
        "act_prof_add_member_to_group ways 0 0",
        "act_prof_add_member_to_group ways 1 0",
        "table_indirect_add_with_group by_way 5 => 0",
        "table_indirect_add by_way 6 => 1",
        "table_dump by_way",
        "table_indirect_add by_way 6 => 1",
    )
    assert "Member has been created with handle 1" in said
    assert "Group has been created with handle 0" in said
    assert "Adding entry to indirect match table ingress.by_way" in said
    assert "Index: group(0)" in said and "Index: member(1)" in said
    assert "Members: [0, 1]" in said
    assert said.rstrip().endswith("Invalid table operation (DUPLICATE_ENTRY)\nRuntimeCmd:")
