"""The functions of the service `simple_pre`. Ports are a text of 0 and 1, the lowest port last."""

from __future__ import annotations

from thrift_interface import I32, TEXT, ClientBase, Function, Type

from .ttypes import *  # noqa: F403 - users of this module find the types in it
from .ttypes import InvalidMcOperation

_GROUP = ("mgrp_handle", I32)
_NODE = ("l1_handle", I32)
_PORTS = ("port_map", TEXT)


def _mc(*parameters: tuple[str, Type], returns: Type | None = None) -> Function:
    return ((("cxt_id", I32), *parameters), returns, InvalidMcOperation)


class Client(ClientBase):
    """Calls a switch's service `simple_pre`."""

    FUNCTIONS = {  # noqa: RUF012 - the base class declares it
        "bm_mc_mgrp_create": _mc(("mgrp", I32), returns=I32),
        "bm_mc_mgrp_destroy": _mc(_GROUP),
        "bm_mc_node_create": _mc(("rid", I32), _PORTS, returns=I32),
        "bm_mc_node_associate": _mc(_GROUP, _NODE),
        "bm_mc_node_dissociate": _mc(_GROUP, _NODE),
        "bm_mc_node_destroy": _mc(_NODE),
        "bm_mc_node_update": _mc(_NODE, _PORTS),
        "bm_mc_get_entries": _mc(returns=TEXT),
    }
