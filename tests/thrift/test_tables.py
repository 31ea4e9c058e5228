"""Tables over Thrift: entries, default entries, what is refused and with which code."""

import pytest

from tests.thrift.switch import Door, ours_alone  # first: it finds the modules below

from bm_runtime.standard.ttypes import (  # isort: skip
    BmActionEntryType,
    BmAddEntryOptions,
    BmMatchParam,
    BmMatchParamExact,
    BmMatchParamLPM,
    BmMatchParamRange,
    BmMatchParamTernary,
    BmMatchParamType,
    InvalidTableOperation,
    TableOperationErrorCode as Code,
)

MAC = bytes.fromhex("00000a000001")


def exact(key: bytes) -> BmMatchParam:
    return BmMatchParam(BmMatchParamType.EXACT, exact=BmMatchParamExact(key))


def add(switch: Door, key: bytes = MAC, port: int = 2) -> int:
    options = BmAddEntryOptions(priority=0)
    data = [port.to_bytes(2, "big")]
    return switch.standard.bm_mt_add_entry(
        0, "ingress.by_address", [exact(key)], "ingress.send", data, options
    )


def code_of(call: object, *arguments: object) -> int:
    with pytest.raises(InvalidTableOperation) as refused:
        call(*arguments)
    return refused.value.code


def test_an_entry_is_added_read_modified_and_removed(switch: Door) -> None:
    standard, table = switch.standard, "ingress.by_address"
    handle = add(switch)
    assert handle == 0
    assert add(switch, key=MAC[::-1]) == 1
    assert standard.bm_mt_get_num_entries(0, table) == 2
    entry = standard.bm_mt_get_entry(0, table, handle)
    assert entry.match_key == [exact(MAC)]
    assert entry.entry_handle == handle
    assert entry.action_entry.action_type == BmActionEntryType.ACTION_DATA
    assert entry.action_entry.action_name == "ingress.send"
    # As few bytes as the value needs, as there.
    assert entry.action_entry.action_data == [b"\2"]
    assert entry.options.priority == -1
    assert entry.life is None

    standard.bm_mt_modify_entry(0, table, handle, "ingress.drop", [])
    options = BmAddEntryOptions(priority=0)
    found = standard.bm_mt_get_entry_from_key(0, table, [exact(MAC)], options)
    assert (found.entry_handle, found.action_entry.action_name) == (handle, "ingress.drop")

    standard.bm_mt_delete_entry(0, table, handle)
    assert [it.entry_handle for it in standard.bm_mt_get_entries(0, table)] == [1]
    standard.bm_mt_clear_entries(0, table, False)
    assert standard.bm_mt_get_entries(0, table) == []


def test_a_handle_stands_for_one_entry_only(switch: Door) -> None:
    standard, table = switch.standard, "ingress.by_address"
    first, second, third = (add(switch, key=bytes([number]) * 6) for number in (1, 2, 3))
    standard.bm_mt_delete_entry(0, table, third)
    standard.bm_mt_delete_entry(0, table, first)
    # The lowest number that is free, for the second time.
    again = add(switch)
    assert again == 1 << 24
    delete, modify = standard.bm_mt_delete_entry, standard.bm_mt_modify_entry
    assert code_of(delete, 0, table, first) == Code.EXPIRED_HANDLE
    assert code_of(modify, 0, table, first, "ingress.drop", []) == Code.EXPIRED_HANDLE
    assert code_of(standard.bm_mt_get_entry, 0, table, third) == Code.INVALID_HANDLE
    assert standard.bm_mt_get_entry(0, table, again).entry_handle == again
    listed = [it.entry_handle for it in standard.bm_mt_get_entries(0, table)]
    assert listed == [again, second]
    standard.bm_mt_delete_entry(0, table, again)
    assert add(switch) == 2 << 24


def test_handles_begin_again_in_a_table_that_was_cleared(switch: Door) -> None:
    standard, table = switch.standard, "ingress.by_address"
    standard.bm_mt_delete_entry(0, table, add(switch))
    assert add(switch) == 1 << 24
    add(switch, key=MAC[::-1])
    standard.bm_mt_clear_entries(0, table, False)
    assert [add(switch), add(switch, key=MAC[::-1])] == [0, 1]


def test_every_kind_of_key_comes_back_as_it_was_written(switch: Door) -> None:
    standard, options = switch.standard, BmAddEntryOptions(priority=7)
    prefix = BmMatchParam(
        BmMatchParamType.LPM, lpm=BmMatchParamLPM(bytes([10, 0, 1, 0]), prefix_length=24)
    )
    data = [b"\0\1"]
    handle = standard.bm_mt_add_entry(
        0, "ingress.by_prefix", [prefix, exact(b"\1")], "ingress.send", data, options
    )
    entry = standard.bm_mt_get_entry(0, "ingress.by_prefix", handle)
    assert entry.match_key == [prefix, exact(b"\1")]
    assert entry.options.priority == -1, "prefixes have no priority"

    mask = BmMatchParam(
        BmMatchParamType.TERNARY, ternary=BmMatchParamTernary(MAC, b"\xff" * 5 + b"\0")
    )
    span = BmMatchParam(BmMatchParamType.RANGE, range=BmMatchParamRange(b"\x08\0", b"\x08\xff"))
    handle = standard.bm_mt_add_entry(
        0, "ingress.by_rule", [mask, span], "ingress.mark", [MAC, b"\0\3"], options
    )
    entry = standard.bm_mt_get_entry(0, "ingress.by_rule", handle)
    # The last byte does not count, so it is not kept.
    mask.ternary.key = MAC[:5] + b"\0"
    assert entry.match_key == [mask, span]
    assert entry.options.priority == 7
    assert entry.action_entry.action_data == [MAC.lstrip(b"\0"), b"\3"]


def test_default_entries_are_set_and_put_back(switch: Door) -> None:
    standard, table = switch.standard, "ingress.by_address"
    assert standard.bm_mt_get_default_entry(0, table).action_name == "ingress.drop"
    standard.bm_mt_set_default_action(0, table, "ingress.send", [b"\0\5"])
    default = standard.bm_mt_get_default_entry(0, table)
    assert (default.action_name, default.action_data) == ("ingress.send", [b"\5"])
    standard.bm_mt_reset_default_entry(0, table)
    assert standard.bm_mt_get_default_entry(0, table).action_name == "ingress.drop"
    standard.bm_mt_set_default_action(0, table, "ingress.send", [b"\0\5"])
    standard.bm_mt_clear_entries(0, table, True)
    assert standard.bm_mt_get_default_entry(0, table).action_name == "ingress.drop"


def test_what_is_wrong_has_the_code_of_the_interface(switch: Door) -> None:
    standard, options = switch.standard, BmAddEntryOptions(priority=0)
    table, send = "ingress.by_address", "ingress.send"
    add_entry = standard.bm_mt_add_entry
    add(switch)
    key = [exact(MAC)]
    data = [b"\0\1"]
    assert code_of(add_entry, 0, table, key, send, data, options) == Code.DUPLICATE_ENTRY
    assert code_of(add_entry, 0, "none", key, send, data, options) == Code.INVALID_TABLE_NAME
    assert code_of(add_entry, 0, table, key, "none", data, options) == Code.INVALID_ACTION_NAME
    assert code_of(add_entry, 0, table, key, send, [], options) == Code.BAD_ACTION_DATA
    short = [exact(MAC[:5])]
    assert code_of(add_entry, 0, table, short, send, data, options) == Code.BAD_MATCH_KEY
    assert code_of(add_entry, 0, table, [], send, data, options) == Code.BAD_MATCH_KEY
    profile = "ingress.by_way"
    assert code_of(add_entry, 0, profile, key, send, data, options) == Code.WRONG_TABLE_TYPE
    fixed = [exact(b"\x08\0")]
    refused = code_of(add_entry, 0, "ingress.fixed", fixed, send, data, options)
    assert refused == Code.IMMUTABLE_TABLE_ENTRIES
    for number in range(1, 4):
        add(switch, key=bytes([number]) * 6)
    full = [exact(b"\xff" * 6)]
    assert code_of(add_entry, 0, table, full, send, data, options) == Code.TABLE_FULL
    assert code_of(standard.bm_mt_delete_entry, 0, table, 77) == Code.INVALID_HANDLE
    assert code_of(standard.bm_mt_get_entry, 0, table, -1) == Code.INVALID_HANDLE
    default = standard.bm_mt_set_default_action
    refused = code_of(default, 0, "ingress.by_prefix", send, data)
    assert refused == Code.DEFAULT_ENTRY_IS_CONST
    assert code_of(standard.bm_mt_read_counter, 0, "ingress.fixed", 0) == Code.COUNTERS_DISABLED


@ours_alone
def test_constant_entries_stay_whoever_clears(switch: Door) -> None:
    clear = switch.standard.bm_mt_clear_entries
    assert code_of(clear, 0, "ingress.fixed", False) == Code.IMMUTABLE_TABLE_ENTRIES
    assert switch.standard.bm_mt_get_num_entries(0, "ingress.fixed") == 1


def test_an_idle_time_is_kept_with_its_entry(switch: Door) -> None:
    standard, table = switch.standard, "ingress.by_address"
    handle = add(switch)
    standard.bm_mt_set_entry_ttl(0, table, handle, 5000)
    standard.bm_mt_modify_entry(0, table, handle, "ingress.drop", [])
    life = standard.bm_mt_get_entry(0, table, handle).life
    assert life.timeout_ms == 5000 and life.time_since_hit_ms >= 0
    ttl = standard.bm_mt_set_entry_ttl
    assert code_of(ttl, 0, "ingress.fixed", 0, 5000) == Code.AGEING_DISABLED
