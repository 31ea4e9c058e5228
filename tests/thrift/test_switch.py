"""The switch itself over Thrift: its program, its state, its clock, its manners."""

import json
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from thrift.Thrift import TApplicationException

from tests.process.switch import SWITCH, free_port, refusal, running
from tests.thrift.switch import (  # before the modules below, which it finds
    SERVICES,
    Door,
    bmpy_utils,
    door,
    ours_alone,
)
from tests.thrift.test_tables import add

from bm_runtime.standard.ttypes import (  # isort: skip
    BmResourceType,
    IdLookupErrorCode,
    InvalidIdLookup,
    InvalidSwapOperation,
    SwapOperationErrorCode,
)
from sswitch_runtime.ttypes import MirroringSessionConfig  # isort: skip


def test_the_program_is_handed_out_as_it_was_loaded(switch: Door, program: Path) -> None:
    assert switch.standard.bm_get_config() == program.read_text()


def test_an_object_has_the_id_that_it_has_in_the_json(switch: Door, program: Path) -> None:
    tables = json.loads(program.read_text())["pipelines"][0]["tables"]
    of_table = {table["name"]: table["id"] for table in tables}
    table, register = BmResourceType.MATCH_TABLE, BmResourceType.REGISTER
    lookup = switch.standard.bm_get_id_from_name
    assert lookup(0, table, "ingress.fixed") == of_table["ingress.fixed"]
    with pytest.raises(InvalidIdLookup) as refused:
        lookup(0, register, "ingress.fixed")
    assert refused.value.code == IdLookupErrorCode.INVALID_RESOURCE_NAME


@ours_alone
def test_resetting_makes_everything_as_the_program_declares_it(switch: Door) -> None:
    standard = switch.standard
    add(switch)
    standard.bm_register_write(0, "ingress.cells", 0, 9)
    standard.bm_mt_set_default_action(0, "ingress.by_address", "NoAction", [])
    standard.bm_reset_state()
    assert standard.bm_mt_get_num_entries(0, "ingress.by_address") == 0
    assert standard.bm_register_read(0, "ingress.cells", 0) == 0
    assert standard.bm_mt_get_default_entry(0, "ingress.by_address").action_name == "ingress.drop"
    assert standard.bm_mt_get_num_entries(0, "ingress.fixed") == 1


def test_a_reset_leaves_alone_what_belongs_to_the_switch(switch: Door) -> None:
    standard, sessions = switch.standard, switch.switch
    sessions.mirroring_session_add(100, MirroringSessionConfig(port=3))
    standard.bm_parse_vset_add(0, "read.tagged", b"\x81\x00")
    switch.multicast.bm_mc_mgrp_create(0, 5)
    standard.bm_reset_state()
    assert sessions.mirroring_session_get(100) == MirroringSessionConfig(port=3)
    assert standard.bm_parse_vset_get(0, "read.tagged") == [b"\x81\x00"]
    # Multicast groups are gone.
    assert json.loads(switch.multicast.bm_mc_get_entries(0))["mgrps"] == []
    standard.bm_parse_vset_clear(0, "read.tagged")
    sessions.mirroring_session_delete(100)


def test_groups_and_sessions_stay_when_programs_are_swapped(program: Path, tmp_path: Path) -> None:
    with door(program, tmp_path) as switch:
        multicast, sessions = switch.multicast, switch.switch
        multicast.bm_mc_mgrp_create(0, 5)
        node = multicast.bm_mc_node_create(0, 10, "1010", "")
        multicast.bm_mc_node_associate(0, 5, node)
        multicast.bm_mc_set_lag_membership(0, 2, "100")
        sessions.mirroring_session_add(100, MirroringSessionConfig(port=3))
        before = json.loads(multicast.bm_mc_get_entries(0))
        add(switch)
        switch.standard.bm_load_new_config(program.read_text())
        switch.standard.bm_swap_configs()
        assert json.loads(multicast.bm_mc_get_entries(0)) == before
        assert sessions.mirroring_session_get(100) == MirroringSessionConfig(port=3)
        assert switch.standard.bm_mt_get_num_entries(0, "ingress.by_address") == 0
        multicast.bm_mc_node_dissociate(0, 5, node)


def test_another_program_is_loaded_written_to_and_swapped_in(program: Path, tmp_path: Path) -> None:
    with door(program, tmp_path) as switch:
        standard = switch.standard
        with pytest.raises(InvalidSwapOperation) as refused:
            standard.bm_swap_configs()
        assert refused.value.code == SwapOperationErrorCode.NO_ONGOING_SWAP
        add(switch)
        standard.bm_load_new_config(program.read_text())
        # Entries written now are for the new program, which has none yet.
        assert standard.bm_mt_get_num_entries(0, "ingress.by_address") == 0
        standard.bm_register_write(0, "ingress.cells", 0, 5)
        with pytest.raises(InvalidSwapOperation) as refused:
            standard.bm_load_new_config(program.read_text())
        assert refused.value.code == SwapOperationErrorCode.ONGOING_SWAP
        standard.bm_swap_configs()
        assert standard.bm_register_read(0, "ingress.cells", 0) == 5


@ours_alone
def test_a_text_that_is_no_program_is_refused_with_the_reason(switch: Door) -> None:
    with pytest.raises(TApplicationException, match="JSON"):
        switch.standard.bm_load_new_config("no program")


def test_the_clock_runs_in_microseconds(switch: Door) -> None:
    elapsed, since_epoch = switch.switch.get_time_elapsed_us, switch.switch.get_time_since_epoch_us
    first, second = elapsed(), elapsed()
    assert 0 < first <= second
    # Within a minute of this machine's clock: what is meant is the unit.
    assert abs(since_epoch() - time.time_ns() // 1000) < 60_000_000


@ours_alone
def test_a_function_that_there_is_not_says_so(switch: Door) -> None:
    with pytest.raises(TApplicationException) as refused:
        switch.standard.bm_serialize_state()
    assert refused.value.type == TApplicationException.UNKNOWN_METHOD
    assert "bm_serialize_state" in refused.value.message


def test_what_is_no_thrift_ends_its_own_connection_only(switch: Door) -> None:
    with socket.create_connection(("127.0.0.1", switch.port)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        stranger.settimeout(10)
        assert stranger.recv(100) == b""
    assert switch.standard.bm_mt_get_num_entries(0, "ingress.by_address") == 0


@ours_alone
def test_idle_connections_give_way(program: Path, tmp_path: Path) -> None:
    with door(program, tmp_path) as switch, ExitStack() as open_sockets:
        # 256 may be open; those that were idle longest are closed for the rest, the door's own too.
        idle = [socket.create_connection(("127.0.0.1", switch.port)) for _ in range(300)]
        for connection in idle:
            open_sockets.enter_context(connection)
        idle[0].settimeout(10)
        assert idle[0].recv(1) == b""
        (late,) = bmpy_utils.thrift_connect("127.0.0.1", switch.port, SERVICES[:1])
        assert late.bm_mt_get_num_entries(0, "ingress.by_address") == 0


@ours_alone
def test_a_message_has_its_bounds(switch: Door) -> None:
    # Five million characters are taken, and are no program.
    with pytest.raises(TApplicationException, match="JSON"):
        switch.standard.bm_load_new_config("x" * 5_000_000)
    # A name that is announced with 17 MiB, where a message may have 16.
    with socket.create_connection(("127.0.0.1", switch.port)) as stranger:
        stranger.sendall(b"\x80\x01\0\x01" + (17 << 20).to_bytes(4, "big"))
        stranger.settimeout(10)
        assert stranger.recv(100) == b""
    assert switch.standard.bm_mt_get_num_entries(0, "ingress.by_address") == 0


def test_a_message_may_come_in_pieces(switch: Door) -> None:
    # Version 1, a call; the name; sequence number 3; no arguments.
    name = b"standard:bm_mgmt_get_info"
    call = b"\x80\x01\0\x01" + len(name).to_bytes(4, "big") + name + b"\0\0\0\x03\0"
    with socket.create_connection(("127.0.0.1", switch.port)) as client:
        client.settimeout(10)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in call:
            client.sendall(bytes([byte]))
        answer = client.recv(1000)
    assert answer.startswith(b"\x80\x01\0\x02"), "a reply"


def test_the_door_is_closed_unless_it_is_asked_for(program: Path, tmp_path: Path) -> None:
    port = free_port()
    log = tmp_path / "switch.log"
    with running("--grpc", f"127.0.0.1:{port}", str(program), port=port, log=log):
        assert "Thrift" not in log.read_text()


def test_a_port_that_is_taken_is_named(program: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        flags = ("--grpc", "127.0.0.1:0", "--thrift-port", str(port))
        status, message = refusal(*flags, str(program))
    assert status == 1
    assert f"127.0.0.1:{port}" in message and "--thrift-port" in message


def test_under_the_name_simple_switch_it_is_asked_for_nothing_else(
    program: Path, tmp_path: Path
) -> None:
    name = tmp_path / "simple_switch"
    name.symlink_to(SWITCH.resolve())
    port, log = free_port(), tmp_path / "switch.log"
    with running("--thrift-port", str(port), str(program), port=port, log=log, program=name):
        (standard,) = bmpy_utils.thrift_connect("127.0.0.1", port, SERVICES[:1])
        assert standard.bm_mgmt_get_info().thrift_port == port
