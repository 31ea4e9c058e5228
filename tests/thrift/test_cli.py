"""simple_switch_CLI: the lines that people type, and those that scripts look for in its answers."""

from tests.thrift.switch import Door


def test_an_entry_is_added_shown_and_removed(switch: Door) -> None:
    said = switch.cli(
        "table_add by_address send 00:00:0a:00:00:01 => 2",
        "table_num_entries by_address",
        "table_dump ingress.by_address",
        "table_delete by_address 0",
        "table_num_entries by_address",
    )
    assert "Adding entry to exact match table by_address" in said
    assert "match key:           EXACT-00:00:0a:00:00:01" in said
    assert "runtime data:        00:02" in said
    assert "Entry has been added with handle 0" in said
    assert "Dumping entry 0x0" in said
    assert "Action entry: ingress.send - 02" in said
    assert "RuntimeCmd: 1\n" in said and "RuntimeCmd: 0\n" in said
    assert "Invalid" not in said and "Error" not in said


def test_prefixes_masks_ranges_and_priorities_are_read(switch: Door) -> None:
    said = switch.cli(
        "table_add by_prefix send 10.0.1.0/24 1 => 1",
        "table_add by_rule mark 00:00:0a:00:00:00&&&0xffffff000000 0x800->0x8ff "
        "=> aa:bb:cc:dd:ee:ff 3 5",
        "table_dump by_rule",
        "table_dump_entry_from_key by_prefix 10.0.1.0/24 1",
    )
    assert "LPM-0a:00:01:00/24\tEXACT-01" in said
    assert "TERNARY-00:00:0a:00:00:00 &&& ff:ff:ff:00:00:00\tRANGE-08:00 -> 08:ff" in said
    assert "Priority: 5" in said
    assert "Action entry: ingress.mark - aabbccddeeff, 03" in said
    assert "Action entry: ingress.send - 01" in said


def test_mistakes_are_told_and_the_next_line_is_read(switch: Door) -> None:
    said = switch.cli(
        "table_add none send 1 => 2",
        "table_add by_address send 1.2.3.4.5 => 2",
        "table_add by_address send 0 => 99999",
        "table_add by_address send 0 =>",
        "table_delete by_address 5",
        "table_set_default by_prefix send 1",
        "register_read cells 9",
        "counter_read none 0",
        "register_write cells 0 7",
        "register_read cells 0",
    )
    assert "Error: Invalid table name (none)" in said
    assert "Invalid match key: Error while parsing 1.2.3.4.5" in said
    assert "Invalid runtime data: Error while parsing 99999 - Parameter is too large" in said
    assert "Error: Action ingress.send needs 1 parameters" in said
    assert "Invalid table operation (INVALID_HANDLE)" in said
    assert "Invalid table operation (DEFAULT_ENTRY_IS_CONST)" in said
    assert "Invalid register operation (INVALID_INDEX)" in said
    assert "Error: Invalid counter name (none)" in said
    assert "cells[0]= 7" in said


def test_counters_registers_and_the_clock_are_shown(switch: Door) -> None:
    said = switch.cli(
        "counter_write seen 1 3 1500",
        "counter_read seen 1",
        "table_add by_address send 0 => 1",
        "counter_read hits 0",
        "register_write ingress.cells 2 0xff",
        "register_read ingress.cells",
        "get_time_elapsed",
        "show_tables",
        "table_info by_address",
        "reset_state",
        "counter_read seen 1",
        "switch_info",
    )
    assert "seen[1]= (1500 bytes, 3 packets)" in said
    assert "this is the direct counter for table ingress.by_address" in said
    assert "ingress.cells= 0, 0, 255, 0" in said
    assert "implementation=None, mk=ethernet.dst_addr(exact, 48)" in said
    assert "seen[1]= (0 bytes, 0 packets)" in said
    assert f"thrift_port              : {switch.port}" in said


def test_action_profiles_are_reached_by_the_old_names_of_commands(switch: Door) -> None:
    said = switch.cli(
        "table_indirect_create_member by_way send 1",
        "table_indirect_create_member by_way send 2",
        "table_indirect_modify_member by_way send 1 3",
        "table_indirect_create_group by_way",
        "table_indirect_add_member_to_group by_way 0 0",
        "table_indirect_add_member_to_group by_way 1 0",
        "table_dump_group by_way 0",
        "table_dump_member by_way 1",
        "table_indirect_remove_member_from_group by_way 0 0",
        "table_dump_group by_way 0",
        "table_indirect_delete_group by_way 0",
        "table_indirect_delete_member by_way 0",
        "act_prof_dump ways",
        "table_indirect_create_group by_address",
    )
    assert said.count("Member has been created with handle") == 2
    assert "Group has been created with handle 0" in said
    assert "Members: [0, 1]" in said and "Members: [1]" in said
    assert said.count("Action entry: ingress.send - 03") == 2
    assert "Unknown syntax" not in said
    assert "Error: Cannot run this command on non-indirect table" in said
