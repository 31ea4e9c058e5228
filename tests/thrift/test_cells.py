"""Counters and registers over Thrift."""

import pytest

from tests.thrift.switch import Door  # first: it finds the modules below
from tests.thrift.test_tables import add

from bm_runtime.standard.ttypes import (  # isort: skip
    BmCounterValue,
    CounterOperationErrorCode,
    InvalidCounterOperation,
    InvalidRegisterOperation,
    RegisterOperationErrorCode,
)


def test_counters_are_written_read_and_set_to_zero(switch: Door) -> None:
    standard, name = switch.standard, "ingress.seen"
    value = BmCounterValue(bytes=1500, packets=3)
    standard.bm_counter_write(0, name, 2, value)
    assert standard.bm_counter_read(0, name, 2) == value
    assert standard.bm_counter_read(0, name, 1) == BmCounterValue(bytes=0, packets=0)
    standard.bm_counter_reset_all(0, name)
    assert standard.bm_counter_read(0, name, 2).packets == 0
    with pytest.raises(InvalidCounterOperation) as refused:
        standard.bm_counter_read(0, name, 8)
    assert refused.value.code == CounterOperationErrorCode.INVALID_INDEX
    with pytest.raises(InvalidCounterOperation) as refused:
        standard.bm_counter_read(0, "none", 0)
    assert refused.value.code == CounterOperationErrorCode.INVALID_COUNTER_NAME


def test_an_entry_has_a_counter_of_its_own(switch: Door) -> None:
    standard, table = switch.standard, "ingress.by_address"
    handle = add(switch)
    value = BmCounterValue(bytes=64, packets=1)
    standard.bm_mt_write_counter(0, table, handle, value)
    assert standard.bm_mt_read_counter(0, table, handle) == value
    standard.bm_mt_reset_counters(0, table)
    assert standard.bm_mt_read_counter(0, table, handle).packets == 0


def test_registers_hold_what_fits_them(switch: Door) -> None:
    standard, name = switch.standard, "ingress.cells"
    standard.bm_register_write(0, name, 1, 0xDEADBEEF)
    assert standard.bm_register_read(0, name, 1) == 0xDEADBEEF
    # A bit<32> keeps the lowest 32 bits of -1.
    standard.bm_register_write(0, name, 2, -1)
    assert standard.bm_register_read_all(0, name) == [0, 0xDEADBEEF, 0xFFFFFFFF, 0]
    # From the first index to the one before the second.
    standard.bm_register_write_range(0, name, 0, 2, 7)
    assert standard.bm_register_read_all(0, name) == [7, 7, 0xFFFFFFFF, 0]
    standard.bm_register_reset(0, name)
    assert standard.bm_register_read_all(0, name) == [0, 0, 0, 0]
    with pytest.raises(InvalidRegisterOperation) as refused:
        standard.bm_register_write_range(0, name, 3, 5, 7)
    assert refused.value.code == RegisterOperationErrorCode.INVALID_INDEX
    with pytest.raises(InvalidRegisterOperation) as refused:
        standard.bm_register_read(0, "none", 0)
    assert refused.value.code == RegisterOperationErrorCode.INVALID_REGISTER_NAME
