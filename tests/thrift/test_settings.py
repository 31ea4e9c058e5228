"""Meters, value sets and CRCs over Thrift: what a program leaves to the control plane."""

import hashlib
from pathlib import Path

import pytest

from tests.thrift.switch import Door, ours_alone  # first: it finds the modules below
from tests.thrift.test_tables import MAC, code_of

from bm_runtime.standard.ttypes import (  # isort: skip
    BmAddEntryOptions,
    BmCrc16Config,
    BmCrc32Config,
    BmMatchParam,
    BmMatchParamRange,
    BmMatchParamTernary,
    BmMatchParamType,
    BmMeterRateConfig,
    CrcErrorCode,
    InvalidCrcOperation,
    InvalidMeterOperation,
    InvalidParseVSetOperation,
    MeterOperationErrorCode,
    ParseVSetOperationErrorCode,
    TableOperationErrorCode,
)

RATES = [BmMeterRateConfig(0.0005, 10), BmMeterRateConfig(0.001, 20)]


def test_meters_keep_their_rates(switch: Door) -> None:
    standard, name = switch.standard, "ingress.police"
    assert standard.bm_meter_get_rates(0, name, 0) == []
    standard.bm_meter_set_rates(0, name, 0, RATES)
    assert standard.bm_meter_get_rates(0, name, 0) == RATES
    assert standard.bm_meter_get_rates(0, name, 1) == []
    standard.bm_meter_array_set_rates(0, name, RATES)
    assert standard.bm_meter_get_rates(0, name, 3) == RATES
    # Half a packet a second, of a packet and a half.
    slow = [BmMeterRateConfig(0.0000005, 2), BmMeterRateConfig(0.0000015, 3)]
    standard.bm_meter_set_rates(0, name, 0, slow)
    assert standard.bm_meter_get_rates(0, name, 0) == slow
    for rates, code in (
        (RATES[:1], MeterOperationErrorCode.BAD_RATES_LIST),
        (RATES[::-1], MeterOperationErrorCode.INVALID_INFO_RATE_VALUE),
    ):
        with pytest.raises(InvalidMeterOperation) as refused:
            standard.bm_meter_set_rates(0, name, 0, rates)
        assert refused.value.code == code
    with pytest.raises(InvalidMeterOperation) as refused:
        standard.bm_meter_get_rates(0, name, 4)
    assert refused.value.code == MeterOperationErrorCode.INVALID_INDEX


@ours_alone
def test_a_burst_is_no_less_than_nothing(switch: Door) -> None:
    with pytest.raises(InvalidMeterOperation) as refused:
        rates = [RATES[0], BmMeterRateConfig(1.0, -1)]
        switch.standard.bm_meter_set_rates(0, "ingress.police", 0, rates)
    assert refused.value.code == MeterOperationErrorCode.INVALID_BURST_SIZE_VALUE


def test_an_entry_has_a_meter_of_its_own(switch: Door) -> None:
    standard, table = switch.standard, "ingress.by_rule"
    key = [
        BmMatchParam(BmMatchParamType.TERNARY, ternary=BmMatchParamTernary(MAC, MAC)),
        BmMatchParam(BmMatchParamType.RANGE, range=BmMatchParamRange(b"\0\0", b"\xff\xff")),
    ]
    options = BmAddEntryOptions(priority=1)
    entry = standard.bm_mt_add_entry(0, table, key, "ingress.mark", [MAC, b"\0\1"], options)
    assert standard.bm_mt_get_meter_rates(0, table, entry) == []
    standard.bm_mt_set_meter_rates(0, table, entry, RATES)
    assert standard.bm_mt_get_meter_rates(0, table, entry) == RATES
    refused = code_of(standard.bm_mt_get_meter_rates, 0, "ingress.fixed", 0)
    assert refused == TableOperationErrorCode.METERS_DISABLED


def test_the_meters_of_entries_are_an_array_too_of_which_their_handles_are_the_indexes(
    switch: Door,
) -> None:
    standard, table, name = switch.standard, "ingress.by_rule", "ingress.colors"

    def add(priority: int) -> int:
        key = [
            BmMatchParam(BmMatchParamType.TERNARY, ternary=BmMatchParamTernary(MAC, MAC)),
            BmMatchParam(BmMatchParamType.RANGE, range=BmMatchParamRange(b"\0\0", b"\xff\xff")),
        ]
        options = BmAddEntryOptions(priority=priority)
        return standard.bm_mt_add_entry(0, table, key, "ingress.mark", [MAC, b"\0\1"], options)

    early = add(1)
    standard.bm_meter_array_set_rates(0, name, RATES)
    assert standard.bm_meter_get_rates(0, name, early) == RATES
    assert standard.bm_mt_get_meter_rates(0, table, early) == RATES
    # Also of entries that come later.
    late = add(2)
    assert standard.bm_mt_get_meter_rates(0, table, late) == RATES
    slow = [BmMeterRateConfig(0.0001, 10), BmMeterRateConfig(0.0002, 20)]
    standard.bm_meter_set_rates(0, name, early, slow)
    assert standard.bm_mt_get_meter_rates(0, table, early) == slow
    assert standard.bm_mt_get_meter_rates(0, table, late) == RATES
    with pytest.raises(InvalidMeterOperation) as refused:
        standard.bm_meter_get_rates(0, name, 99)
    assert refused.value.code == MeterOperationErrorCode.INVALID_INDEX


def test_value_sets_hold_each_value_once(switch: Door) -> None:
    standard, name = switch.standard, "read.tagged"
    standard.bm_parse_vset_add(0, name, b"\x81\0")
    standard.bm_parse_vset_add(0, name, b"\x81\0")
    standard.bm_parse_vset_add(0, name, b"\0\5")
    assert sorted(standard.bm_parse_vset_get(0, name)) == [b"\0\5", b"\x81\0"]
    standard.bm_parse_vset_remove(0, name, b"\x81\0")
    assert standard.bm_parse_vset_get(0, name) == [b"\0\5"]
    standard.bm_parse_vset_clear(0, name)
    assert standard.bm_parse_vset_get(0, name) == []
    with pytest.raises(InvalidParseVSetOperation) as refused:
        standard.bm_parse_vset_get(0, "none")
    assert refused.value.code == ParseVSetOperationErrorCode.INVALID_PARSE_VSET_NAME


def test_a_crc_takes_parameters_of_its_own_width(switch: Door) -> None:
    name, config = "calc", BmCrc16Config(0x1021, -1, 0, False, False)
    switch.standard.bm_set_crc16_custom_parameters(0, name, config)
    with pytest.raises(InvalidCrcOperation) as refused:
        wide = BmCrc32Config(0x04C11DB7, -1, -1, True, True)
        switch.standard.bm_set_crc32_custom_parameters(0, name, wide)
    assert refused.value.code == CrcErrorCode.WRONG_TYPE_CALCULATION


@ours_alone
def test_a_calculation_that_there_is_not_is_named(switch: Door) -> None:
    config = BmCrc16Config(0x1021, -1, 0, False, False)
    with pytest.raises(InvalidCrcOperation) as refused:
        switch.standard.bm_set_crc16_custom_parameters(0, "none", config)
    assert refused.value.code == CrcErrorCode.INVALID_CALCULATION_NAME


def test_a_file_is_told_from_the_program_by_its_md5(switch: Door, program: Path) -> None:
    assert switch.standard.bm_get_config_md5() == hashlib.md5(program.read_bytes()).digest()


def test_the_commands_of_the_prompt(switch: Door) -> None:
    said = switch.cli(
        "meter_set_rates police 0 0.0005:10 0.001:20",
        "meter_get_rates police 0",
        "meter_set_rates police 0 0.1:1",
        "show_pvs",
    )
    assert "0: info rate = 0.0005, burst size = 10" in said
    assert "1: info rate = 0.001, burst size = 20" in said
    assert "Error: Invalid number of rates, expected 2" in said
    assert "compressed bitwidth:16" in said
