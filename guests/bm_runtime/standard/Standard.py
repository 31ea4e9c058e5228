"""The functions of the service `standard`."""

from __future__ import annotations

from thrift_interface import (
    BINARY,
    BOOL,
    I32,
    I64,
    TEXT,
    ClientBase,
    Failure,
    Function,
    Type,
    list_of,
    struct_of,
)

from .ttypes import *  # noqa: F403 - users of this module find the types in it
from .ttypes import (
    BmActionEntry,
    BmAddEntryOptions,
    BmConfig,
    BmCounterValue,
    BmCrc16Config,
    BmCrc32Config,
    BmMatchParam,
    BmMeterRateConfig,
    BmMtActProfGroup,
    BmMtActProfMember,
    BmMtEntry,
    DevMgrPortInfo,
    InvalidCounterOperation,
    InvalidCrcOperation,
    InvalidDevMgrOperation,
    InvalidIdLookup,
    InvalidLearnOperation,
    InvalidMeterOperation,
    InvalidParseVSetOperation,
    InvalidRegisterOperation,
    InvalidSwapOperation,
    InvalidTableOperation,
    InvalidToeplitzHashOperation,
)

_CONTEXT = ("cxt_id", I32)
_KEY = ("match_key", list_of(struct_of(BmMatchParam)))
_OPTIONS = ("options", struct_of(BmAddEntryOptions))
_ACTION = (("action_name", TEXT), ("action_data", list_of(BINARY)))
_ENTRY = ("entry_handle", I32)
_MEMBER = ("mbr_handle", I32)
_GROUP = ("grp_handle", I32)
_RATES = ("rates", list_of(struct_of(BmMeterRateConfig)))
_LIST = ("list_id", I32)


def _of(
    name: str,
    throws: type[Failure],
    *parameters: tuple[str, Type],
    returns: Type | None = None,
) -> Function:
    """Make a function of the object called by the argument `name`."""
    return ((_CONTEXT, (name, TEXT), *parameters), returns, throws)


def _table(*parameters: tuple[str, Type], returns: Type | None = None) -> Function:
    return _of("table_name", InvalidTableOperation, *parameters, returns=returns)


def _profile(*parameters: tuple[str, Type], returns: Type | None = None) -> Function:
    return _of("act_prof_name", InvalidTableOperation, *parameters, returns=returns)


def _counter(*parameters: tuple[str, Type], returns: Type | None = None) -> Function:
    return _of("counter_name", InvalidCounterOperation, *parameters, returns=returns)


def _meter(*parameters: tuple[str, Type], returns: Type | None = None) -> Function:
    return _of("meter_array_name", InvalidMeterOperation, *parameters, returns=returns)


def _register(*parameters: tuple[str, Type], returns: Type | None = None) -> Function:
    return _of("register_array_name", InvalidRegisterOperation, *parameters, returns=returns)


def _value_set(*parameters: tuple[str, Type], returns: Type | None = None) -> Function:
    return _of("parse_vset_name", InvalidParseVSetOperation, *parameters, returns=returns)


class Client(ClientBase):
    """Calls a switch's service `standard`."""

    FUNCTIONS = {  # noqa: RUF012 - the base class declares it
        "bm_mt_get_num_entries": _table(returns=I64),
        "bm_mt_clear_entries": _table(("reset_default_entry", BOOL)),
        "bm_mt_add_entry": _table(_KEY, *_ACTION, _OPTIONS, returns=I32),
        "bm_mt_set_default_action": _table(*_ACTION),
        "bm_mt_reset_default_entry": _table(),
        "bm_mt_delete_entry": _table(_ENTRY),
        "bm_mt_modify_entry": _table(_ENTRY, *_ACTION),
        "bm_mt_set_entry_ttl": _table(_ENTRY, ("timeout_ms", I32)),
        "bm_mt_act_prof_add_member": _profile(*_ACTION, returns=I32),
        "bm_mt_act_prof_delete_member": _profile(_MEMBER),
        "bm_mt_act_prof_modify_member": _profile(_MEMBER, *_ACTION),
        "bm_mt_act_prof_create_group": _profile(returns=I32),
        "bm_mt_act_prof_delete_group": _profile(_GROUP),
        "bm_mt_act_prof_add_member_to_group": _profile(_MEMBER, _GROUP),
        "bm_mt_act_prof_remove_member_from_group": _profile(_MEMBER, _GROUP),
        "bm_mt_act_prof_get_members": _profile(returns=list_of(struct_of(BmMtActProfMember))),
        "bm_mt_act_prof_get_member": _profile(_MEMBER, returns=struct_of(BmMtActProfMember)),
        "bm_mt_act_prof_get_groups": _profile(returns=list_of(struct_of(BmMtActProfGroup))),
        "bm_mt_act_prof_get_group": _profile(_GROUP, returns=struct_of(BmMtActProfGroup)),
        "bm_mt_indirect_add_entry": _table(_KEY, _MEMBER, _OPTIONS, returns=I32),
        "bm_mt_indirect_modify_entry": _table(_ENTRY, _MEMBER),
        "bm_mt_indirect_delete_entry": _table(_ENTRY),
        "bm_mt_indirect_set_entry_ttl": _table(_ENTRY, ("timeout_ms", I32)),
        "bm_mt_indirect_set_default_member": _table(_MEMBER),
        "bm_mt_indirect_reset_default_entry": _table(),
        "bm_mt_indirect_ws_add_entry": _table(_KEY, _GROUP, _OPTIONS, returns=I32),
        "bm_mt_indirect_ws_modify_entry": _table(_ENTRY, _GROUP),
        "bm_mt_indirect_ws_set_default_group": _table(_GROUP),
        "bm_mt_read_counter": _table(_ENTRY, returns=struct_of(BmCounterValue)),
        "bm_mt_reset_counters": _table(),
        "bm_mt_write_counter": _table(_ENTRY, ("value", struct_of(BmCounterValue))),
        "bm_mt_set_meter_rates": _table(_ENTRY, _RATES),
        "bm_mt_get_meter_rates": _table(_ENTRY, returns=list_of(struct_of(BmMeterRateConfig))),
        "bm_mt_get_entries": _table(returns=list_of(struct_of(BmMtEntry))),
        "bm_mt_get_entry": _table(_ENTRY, returns=struct_of(BmMtEntry)),
        "bm_mt_get_default_entry": _table(returns=struct_of(BmActionEntry)),
        "bm_mt_get_entry_from_key": _table(_KEY, _OPTIONS, returns=struct_of(BmMtEntry)),
        "bm_counter_read": _counter(("index", I32), returns=struct_of(BmCounterValue)),
        "bm_counter_reset_all": _counter(),
        "bm_counter_write": _counter(("index", I32), ("value", struct_of(BmCounterValue))),
        "bm_learning_ack": (
            (_CONTEXT, _LIST, ("buffer_id", I64), ("sample_ids", list_of(I32))),
            None,
            InvalidLearnOperation,
        ),
        "bm_learning_ack_buffer": (
            (_CONTEXT, _LIST, ("buffer_id", I64)),
            None,
            InvalidLearnOperation,
        ),
        "bm_learning_set_timeout": (
            (_CONTEXT, _LIST, ("timeout_ms", I32)),
            None,
            InvalidLearnOperation,
        ),
        "bm_learning_set_buffer_size": (
            (_CONTEXT, _LIST, ("nb_samples", I32)),
            None,
            InvalidLearnOperation,
        ),
        "bm_load_new_config": ((("config_str", TEXT),), None, InvalidSwapOperation),
        "bm_swap_configs": ((), None, InvalidSwapOperation),
        "bm_meter_array_set_rates": _meter(_RATES),
        "bm_meter_set_rates": _meter(("index", I32), _RATES),
        "bm_meter_get_rates": _meter(("index", I32), returns=list_of(struct_of(BmMeterRateConfig))),
        "bm_register_read": _register(("idx", I32), returns=I64),
        "bm_register_read_all": _register(returns=list_of(I64)),
        "bm_register_write": _register(("index", I32), ("value", I64)),
        "bm_register_write_range": _register(
            ("start_index", I32), ("end_index", I32), ("value", I64)
        ),
        "bm_register_reset": _register(),
        "bm_parse_vset_add": _value_set(("value", BINARY)),
        "bm_parse_vset_remove": _value_set(("value", BINARY)),
        "bm_parse_vset_get": _value_set(returns=list_of(BINARY)),
        "bm_parse_vset_clear": _value_set(),
        "bm_dev_mgr_add_port": (
            (("iface_name", TEXT), ("port_num", I32), ("pcap_path", TEXT)),
            None,
            InvalidDevMgrOperation,
        ),
        "bm_dev_mgr_remove_port": ((("port_num", I32),), None, InvalidDevMgrOperation),
        "bm_dev_mgr_show_ports": ((), list_of(struct_of(DevMgrPortInfo)), InvalidDevMgrOperation),
        "bm_mgmt_get_info": ((), struct_of(BmConfig), None),
        "bm_set_crc16_custom_parameters": _of(
            "calc_name", InvalidCrcOperation, ("crc16_config", struct_of(BmCrc16Config))
        ),
        "bm_set_crc32_custom_parameters": _of(
            "calc_name", InvalidCrcOperation, ("crc32_config", struct_of(BmCrc32Config))
        ),
        "bm_set_toeplitz_hash_key": _of("calc_name", InvalidToeplitzHashOperation, ("key", BINARY)),
        "bm_reset_state": ((), None, None),
        "bm_get_config": ((), TEXT, None),
        "bm_get_config_md5": ((), BINARY, None),
        "bm_get_id_from_name": (
            (_CONTEXT, ("resource_type", I32), ("resource_name", TEXT)),
            I32,
            InvalidIdLookup,
        ),
        "bm_serialize_state": ((), TEXT, None),
    }
