"""The functions of the service `simple_switch`."""

from __future__ import annotations

from thrift_interface import I32, I64, ClientBase, struct_of

from .ttypes import *  # noqa: F403 - users of this module find the types in it
from .ttypes import InvalidMirroringOperation, MirroringSessionConfig

_PORT = ("port_num", I32)
_PRIORITY = ("priority", I32)
_DEPTH = ("depth_pkts", I32)
_RATE = ("rate_pps", I64)
_MIRROR = ("mirror_id", I32)
_CONFIG = struct_of(MirroringSessionConfig)


class Client(ClientBase):
    """Calls a switch's service `simple_switch`."""

    FUNCTIONS = {  # noqa: RUF012 - the base class declares it
        "mirroring_mapping_add": ((_MIRROR, ("egress_port", I32)), I32, None),
        "mirroring_mapping_delete": ((_MIRROR,), I32, None),
        "mirroring_mapping_get_egress_port": ((_MIRROR,), I32, None),
        "mirroring_session_add": (
            (_MIRROR, ("config", _CONFIG)),
            None,
            InvalidMirroringOperation,
        ),
        "mirroring_session_delete": ((_MIRROR,), None, InvalidMirroringOperation),
        "mirroring_session_get": ((_MIRROR,), _CONFIG, InvalidMirroringOperation),
        "set_egress_priority_queue_depth": ((_PORT, _PRIORITY, _DEPTH), I32, None),
        "set_egress_queue_depth": ((_PORT, _DEPTH), I32, None),
        "set_all_egress_queue_depths": ((_DEPTH,), I32, None),
        "set_egress_priority_queue_rate": ((_PORT, _PRIORITY, _RATE), I32, None),
        "set_egress_queue_rate": ((_PORT, _RATE), I32, None),
        "set_all_egress_queue_rates": ((_RATE,), I32, None),
        "get_time_elapsed_us": ((), I64, None),
        "get_time_since_epoch_us": ((), I64, None),
    }
