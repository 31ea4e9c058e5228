"""Multicast groups and clone sessions over Thrift."""

import json

import pytest

from tests.thrift.switch import Door, bmpy_utils, ours_alone  # first: it finds the modules below

from bm_runtime.simple_pre import SimplePre  # isort: skip
from bm_runtime.simple_pre_lag.ttypes import InvalidMcOperation, McOperationErrorCode  # isort: skip
from sswitch_runtime.ttypes import (  # isort: skip
    InvalidMirroringOperation,
    MirroringOperationErrorCode,
    MirroringSessionConfig,
)


def test_a_group_has_the_nodes_that_are_put_into_it(switch: Door) -> None:
    multicast = switch.multicast
    assert multicast.bm_mc_mgrp_create(0, 5) == 5
    # Ports 1 and 3; aggregation group 0.
    assert multicast.bm_mc_node_create(0, 10, "1010", "1") == 0
    assert multicast.bm_mc_node_create(0, 11, "100", "") == 1
    multicast.bm_mc_node_associate(0, 5, 0)
    multicast.bm_mc_node_associate(0, 5, 1)
    multicast.bm_mc_set_lag_membership(0, 0, "110000")
    found = json.loads(multicast.bm_mc_get_entries(0))
    assert found["mgrps"] == [{"id": 5, "l1_handles": [0, 1]}]
    assert {"handle": 0, "l2_handle": 0, "rid": 10} in found["l1_handles"]
    assert {"handle": 0, "lags": [0], "ports": [1, 3]} in found["l2_handles"]
    assert found["lags"] == [{"id": 0, "ports": [4, 5]}]

    multicast.bm_mc_node_update(0, 1, "1", "")
    multicast.bm_mc_node_dissociate(0, 5, 0)
    multicast.bm_mc_node_destroy(0, 0)
    found = json.loads(multicast.bm_mc_get_entries(0))
    assert found["mgrps"] == [{"id": 5, "l1_handles": [1]}]
    assert found["l2_handles"] == [{"handle": 1, "lags": [], "ports": [0]}]
    multicast.bm_mc_mgrp_destroy(0, 5)
    found = json.loads(multicast.bm_mc_get_entries(0))
    assert found["mgrps"] == [] and len(found["l1_handles"]) == 1


def test_there_are_so_many_nodes_and_no_more(switch: Door) -> None:
    multicast = switch.multicast
    for number in range(4096):
        assert multicast.bm_mc_node_create(0, number, "1", "") == number
    with pytest.raises(InvalidMcOperation) as raised:
        multicast.bm_mc_node_create(0, 4096, "1", "")
    assert raised.value.code == McOperationErrorCode.ERROR
    multicast.bm_mc_node_destroy(0, 7)
    assert multicast.bm_mc_node_create(0, 4096, "1", "") == 7


def test_what_is_wrong_with_a_group_has_its_code(switch: Door) -> None:
    multicast = switch.multicast

    def code_of(call: object, *arguments: object) -> int:
        with pytest.raises(InvalidMcOperation) as refused:
            call(0, *arguments)
        return refused.value.code

    multicast.bm_mc_mgrp_destroy(0, 5)
    multicast.bm_mc_mgrp_create(0, 5)
    invalid_node = McOperationErrorCode.INVALID_L1_HANDLE
    assert code_of(multicast.bm_mc_node_associate, 5, 0) == invalid_node
    assert code_of(multicast.bm_mc_node_destroy, 0) == invalid_node
    node = multicast.bm_mc_node_create(0, 10, "1010", "")
    invalid_group = McOperationErrorCode.INVALID_MGRP_HANDLE
    assert code_of(multicast.bm_mc_node_associate, 6, node) == invalid_group
    multicast.bm_mc_node_associate(0, 5, node)
    # It is in a group already.
    assert code_of(multicast.bm_mc_node_associate, 5, node) == McOperationErrorCode.ERROR


@ours_alone
def test_groups_have_16_bits(switch: Door) -> None:
    with pytest.raises(InvalidMcOperation) as refused:
        switch.multicast.bm_mc_mgrp_create(0, 1 << 16)
    assert refused.value.code == McOperationErrorCode.INVALID_MGID


@ours_alone
def test_the_engine_without_aggregation_groups_makes_the_same_groups(switch: Door) -> None:
    (plain,) = bmpy_utils.thrift_connect(
        "127.0.0.1", switch.port, [("simple_pre", SimplePre.Client)]
    )
    plain.bm_mc_mgrp_create(0, 5)
    node = plain.bm_mc_node_create(0, 10, "1010")
    plain.bm_mc_node_associate(0, 5, node)
    plain.bm_mc_node_update(0, node, "100")
    found = json.loads(switch.multicast.bm_mc_get_entries(0))
    assert found["l2_handles"] == [{"handle": node, "lags": [], "ports": [2]}]
    assert json.loads(plain.bm_mc_get_entries(0))["mgrps"] == found["mgrps"]
    plain.bm_mc_node_dissociate(0, 5, node)
    plain.bm_mc_node_destroy(0, node)
    plain.bm_mc_mgrp_destroy(0, 5)
    assert json.loads(switch.multicast.bm_mc_get_entries(0))["mgrps"] == []


def test_a_clone_session_goes_to_a_port_or_a_group(switch: Door) -> None:
    sessions = switch.switch
    sessions.mirroring_session_add(100, MirroringSessionConfig(port=3))
    assert sessions.mirroring_session_get(100) == MirroringSessionConfig(port=3)
    sessions.mirroring_session_add(100, MirroringSessionConfig(mgid=5))
    assert sessions.mirroring_session_get(100) == MirroringSessionConfig(mgid=5)
    sessions.mirroring_session_delete(100)
    for call in (sessions.mirroring_session_delete, sessions.mirroring_session_get):
        with pytest.raises(InvalidMirroringOperation) as refused:
            call(100)
        assert refused.value.code == MirroringOperationErrorCode.SESSION_NOT_FOUND
    assert sessions.mirroring_mapping_add(7, 2) == 1
    assert sessions.mirroring_mapping_get_egress_port(7) == 2
    assert sessions.mirroring_mapping_delete(7) == 1
    assert sessions.mirroring_mapping_delete(7) == 0
    assert sessions.mirroring_mapping_get_egress_port(7) == -1


def test_the_commands_of_the_prompt(switch: Door) -> None:
    said = switch.cli(
        "mc_mgrp_create 1",
        "mc_node_create 0 1 2 3",
        "mc_node_associate 1 0",
        "mc_node_create 7 4 | 0",
        "mc_set_lag_membership 0 5 6",
        "mc_dump",
        "mc_node_associate 2 0",
        "mirroring_add 100 3",
        "mirroring_get 100",
        "mirroring_delete 100",
        "mirroring_delete 100",
    )
    assert "Creating multicast group 1" in said
    assert "node was created with handle 0" in said
    assert "mgrp(1)\n  -> (L1h=0, rid=0) -> (ports=[1, 2, 3], lags=[])" in said
    assert "lag(0) -> ports=[5, 6]" in said
    assert "Invalid PRE operation (INVALID_MGRP_HANDLE)" in said
    assert "MirroringSessionConfig(port=3, mgid=None)" in said
    assert "Invalid mirroring operation (SESSION_NOT_FOUND)" in said
