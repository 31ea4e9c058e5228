"""Structures, exceptions and enumerations of the service `standard`."""

from __future__ import annotations

from thrift_interface import (
    BINARY,
    BOOL,
    DOUBLE,
    I16,
    I32,
    I64,
    TEXT,
    Enumeration,
    Failure,
    Structure,
    list_of,
    map_of,
    own,
    struct_of,
)


class BmMatchParamType(Enumeration):
    """How a part of a key is matched."""

    EXACT = 0
    LPM = 1
    TERNARY = 2
    VALID = 3
    RANGE = 4


class BmMatchParamExact(Structure):
    """A value."""

    FIELDS = ((1, "key", BINARY),)


class BmMatchParamLPM(Structure):
    """A prefix."""

    FIELDS = ((1, "key", BINARY), (2, "prefix_length", I32))


class BmMatchParamTernary(Structure):
    """A value in the bits of a mask."""

    FIELDS = ((1, "key", BINARY), (2, "mask", BINARY))


class BmMatchParamValid(Structure):
    """Whether a header is there."""

    FIELDS = ((1, "key", BOOL),)


class BmMatchParamRange(Structure):
    """Values from the first to the last."""

    FIELDS = ((1, "start", BINARY), (2, "end_", BINARY))


class BmMatchParam(Structure):
    """A part of a key: its type, and the field of that type."""

    FIELDS = (
        (1, "type", I32),
        (2, "exact", struct_of(BmMatchParamExact)),
        (3, "lpm", struct_of(BmMatchParamLPM)),
        (4, "ternary", struct_of(BmMatchParamTernary)),
        (5, "valid", struct_of(BmMatchParamValid)),
        (6, "range", struct_of(BmMatchParamRange)),
    )


class BmAddEntryOptions(Structure):
    """Of entries with priorities the one with the lowest number wins."""

    FIELDS = ((1, "priority", I32),)


class BmCounterValue(Structure):
    """The counts."""

    FIELDS = ((1, "bytes", I64), (2, "packets", I64))


class BmMeterRateConfig(Structure):
    """One rate of a meter, in packets or bytes a microsecond."""

    FIELDS = ((1, "units_per_micros", DOUBLE), (2, "burst_size", I32))


class TableOperationErrorCode(Enumeration):
    """An error of a table or an action profile."""

    TABLE_FULL = 1
    INVALID_HANDLE = 2
    EXPIRED_HANDLE = 3
    COUNTERS_DISABLED = 4
    METERS_DISABLED = 5
    AGEING_DISABLED = 6
    INVALID_TABLE_NAME = 7
    INVALID_ACTION_NAME = 8
    WRONG_TABLE_TYPE = 9
    INVALID_MBR_HANDLE = 10
    MBR_STILL_USED = 11
    MBR_ALREADY_IN_GRP = 12
    MBR_NOT_IN_GRP = 13
    INVALID_GRP_HANDLE = 14
    GRP_STILL_USED = 15
    EMPTY_GRP = 16
    DUPLICATE_ENTRY = 17
    BAD_MATCH_KEY = 18
    INVALID_METER_OPERATION = 19
    DEFAULT_ACTION_IS_CONST = 20
    DEFAULT_ENTRY_IS_CONST = 21
    NO_DEFAULT_ENTRY = 22
    INVALID_ACTION_PROFILE_NAME = 23
    NO_ACTION_PROFILE_SELECTION = 24
    IMMUTABLE_TABLE_ENTRIES = 25
    BAD_ACTION_DATA = 26
    NO_TABLE_KEY = 27
    ERROR = 100


class InvalidTableOperation(Failure):
    """A table refuses."""

    FIELDS = ((1, "code", I32),)


class CounterOperationErrorCode(Enumeration):
    """An error of a counter."""

    INVALID_COUNTER_NAME = 1
    INVALID_INDEX = 2
    ERROR = 3


class InvalidCounterOperation(Failure):
    """A counter refuses."""

    FIELDS = ((1, "code", I32),)


class SwapOperationErrorCode(Enumeration):
    """An error of a new program."""

    CONFIG_SWAP_DISABLED = 1
    ONGOING_SWAP = 2
    NO_ONGOING_SWAP = 3


class InvalidSwapOperation(Failure):
    """A program is not replaced."""

    FIELDS = ((1, "code", I32),)


class MeterOperationErrorCode(Enumeration):
    """An error of a meter."""

    INVALID_METER_NAME = 1
    INVALID_INDEX = 2
    BAD_RATES_LIST = 3
    INVALID_INFO_RATE_VALUE = 4
    INVALID_BURST_SIZE_VALUE = 5
    ERROR = 6


class InvalidMeterOperation(Failure):
    """A meter refuses."""

    FIELDS = ((1, "code", I32),)


class RegisterOperationErrorCode(Enumeration):
    """An error of a register."""

    INVALID_REGISTER_NAME = 1
    INVALID_INDEX = 2
    ERROR = 3


class InvalidRegisterOperation(Failure):
    """A register refuses."""

    FIELDS = ((1, "code", I32),)


class ParseVSetOperationErrorCode(Enumeration):
    """An error of a parser value set."""

    INVALID_PARSE_VSET_NAME = 1
    ERROR = 2


class InvalidParseVSetOperation(Failure):
    """A parser value set refuses."""

    FIELDS = ((1, "code", I32),)


class LearnOperationErrorCode(Enumeration):
    """An error of a digest."""

    INVALID_LIST_ID = 1
    INVALID_LIST_NAME = 2
    ERROR = 3


class InvalidLearnOperation(Failure):
    """A digest refuses."""

    FIELDS = ((1, "code", I32),)


class DevMgrErrorCode(Enumeration):
    """An error of a port."""

    ERROR = 1


class InvalidDevMgrOperation(Failure):
    """A port is not added or removed."""

    FIELDS = ((1, "code", I32),)


class DevMgrPortInfo(Structure):
    """A port."""

    FIELDS = (
        (1, "port_num", I32),
        (2, "iface_name", TEXT),
        (3, "is_up", BOOL),
        (4, "extra", map_of(TEXT, TEXT)),
    )


class BmCrc16Config(Structure):
    """The parameters of a CRC of 16 bits."""

    FIELDS = (
        (1, "polynomial", I16),
        (2, "initial_remainder", I16),
        (3, "final_xor_value", I16),
        (4, "data_reflected", BOOL),
        (5, "remainder_reflected", BOOL),
    )


class BmCrc32Config(Structure):
    """The parameters of a CRC of 32 bits."""

    FIELDS = (
        (1, "polynomial", I32),
        (2, "initial_remainder", I32),
        (3, "final_xor_value", I32),
        (4, "data_reflected", BOOL),
        (5, "remainder_reflected", BOOL),
    )


class CrcErrorCode(Enumeration):
    """An error of a CRC."""

    INVALID_CALCULATION_NAME = 1
    WRONG_TYPE_CALCULATION = 2
    INVALID_CONFIG = 3


class InvalidCrcOperation(Failure):
    """A CRC refuses."""

    FIELDS = ((1, "code", I32),)


class ToeplitzHashErrorCode(Enumeration):
    """An error of a Toeplitz hash."""

    INVALID_CALCULATION_NAME = 1
    WRONG_TYPE_CALCULATION = 2
    INVALID_KEY = 3


class InvalidToeplitzHashOperation(Failure):
    """A Toeplitz hash refuses."""

    FIELDS = ((1, "code", I32),)


class BmActionEntryType(Enumeration):
    """The kind of an entry's action."""

    NONE = 0
    ACTION_DATA = 1
    MBR_HANDLE = 2
    GRP_HANDLE = 3


class BmActionEntry(Structure):
    """An entry's action: the fields of its type."""

    FIELDS = (
        (1, "action_type", I32),
        (2, "action_name", TEXT),
        (3, "action_data", list_of(BINARY)),
        (4, "mbr_handle", I32),
        (5, "grp_handle", I32),
    )


class BmMtEntryLife(Structure):
    """How long an entry may be idle, and how long it has been."""

    FIELDS = ((1, "timeout_ms", I32), (2, "time_since_hit_ms", I32))


class BmMtEntry(Structure):
    """An entry of a table."""

    FIELDS = (
        (1, "match_key", list_of(struct_of(BmMatchParam))),
        (2, "options", struct_of(BmAddEntryOptions)),
        (3, "entry_handle", I32),
        (4, "action_entry", struct_of(BmActionEntry)),
        (5, "life", struct_of(BmMtEntryLife)),
    )


class BmMtActProfMember(Structure):
    """A member of an action profile."""

    FIELDS = ((1, "mbr_handle", I32), (2, "action_name", TEXT), (3, "action_data", list_of(BINARY)))


class BmMtActProfGroup(Structure):
    """A group of an action profile."""

    FIELDS = ((1, "grp_handle", I32), (2, "mbr_handles", list_of(I32)))


class BmConfig(Structure):
    """A switch's own facts."""

    FIELDS = (
        (1, "device_id", I64),
        (2, "thrift_port", I32),
        (3, "notifications_socket", TEXT),
        (4, "elogger_socket", TEXT),
        (5, "debugger_socket", TEXT),
    )


class BmResourceType(Enumeration):
    """Kinds of objects that have numbers."""

    MATCH_TABLE = 0
    ACTION_PROFILE = 1
    COUNTER = 2
    METER = 3
    REGISTER = 4
    LEARNING_LIST = 5


class IdLookupErrorCode(Enumeration):
    """An error of a name."""

    INVALID_RESOURCE_TYPE = 0
    INVALID_RESOURCE_NAME = 1


class InvalidIdLookup(Failure):
    """There is nothing of that name."""

    FIELDS = ((1, "code", I32),)


__all__ = own(globals())
