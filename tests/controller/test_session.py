"""A session against a device double that speaks P4Runtime over a real connection."""

import socket
import traceback
from dataclasses import replace
from ipaddress import IPv4Address

import grpc
import pytest
from p4.v1 import p4runtime_pb2

from controller.connection import status_of
from controller.entries import Call, Entry, Lpm
from controller.errors import (
    ConnectError,
    ControllerError,
    NotPrimaryError,
    RequestError,
    WriteError,
)
from controller.session import Session
from tests.controller.device_double import DeviceDouble, serving
from tests.program import INFO

DROP_ALL = Entry("ipv4_routes", None, Call("routing.drop"))


def drop(address: str) -> Entry:
    match = {"hdr.ipv4.dst_addr": Lpm(IPv4Address(address), 32)}
    return Entry("ipv4_routes", match, Call("routing.drop"))


@pytest.fixture
def device():
    return DeviceDouble()


@pytest.fixture
def session(device):
    with serving(device) as address, Session.connect(address, device_id=3) as session:
        yield session


def test_a_program_is_loaded_and_entries_are_written_and_read_back(session, device):
    session.load(INFO, b"{}")
    session.insert([drop("10.0.2.1"), drop("10.0.2.2")])
    session.modify([DROP_ALL])
    assert device.config.p4info == INFO.message
    insert, modify = p4runtime_pb2.Update.INSERT, p4runtime_pb2.Update.MODIFY
    assert device.kinds == [insert, insert, modify]
    first = next(session.read("ipv4_routes"))
    assert first.match == {"hdr.ipv4.dst_addr": Lpm(int(IPv4Address("10.0.2.1")), 32)}
    assert first.call.action == "ingress.routing.drop"


def test_what_is_replaced_by_itself_is_left_alone(session, device):
    session.load(INFO, b"{}")
    kept, gone, old, new = drop("10.0.2.1"), drop("10.0.2.2"), drop("10.0.2.3"), drop("10.0.2.4")
    session.insert([kept, gone, old])
    device.entries.clear()
    device.kinds.clear()

    changed = replace(old, call=Call("set_next_hop", port=1, src_addr=2, dst_addr=3))
    session.replace([kept, gone, old], [changed, kept, new])
    delete, modify, insert = (
        p4runtime_pb2.Update.Type.Value(name) for name in ("DELETE", "MODIFY", "INSERT")
    )
    assert device.kinds == [delete, modify, insert]
    found = [next(iter(entry.match.values())).value for entry in session.read("ipv4_routes")]
    assert [IPv4Address(each) for each in found] == [
        IPv4Address(f"10.0.2.{last}") for last in (2, 3, 4)
    ]

    device.kinds.clear()
    session.replace([kept, changed], [kept, changed])
    assert device.kinds == []


def test_a_cell_of_a_counter_is_read_by_name_and_index(session):
    session.load(INFO, b"{}")
    assert session.counter("port_counter", 7) == (7, 700)


def test_a_second_session_takes_over_the_program_that_runs(device):
    with serving(device) as address:
        with Session.connect(address) as first:
            first.load(INFO, b"{}")
        with Session.connect(address) as second:
            second.use()
            second.insert([drop("10.0.2.1")])
    assert len(device.entries) == 1


def test_a_refused_update_is_named_with_the_reason_of_the_device(session, device):
    session.load(INFO, b"{}")
    device.refuse_table = INFO.tables["ipv4_routes"].id
    with pytest.raises(WriteError, match="refused 1 of 1 updates: ipv4_routes.* table is full"):
        session.insert([drop("10.0.2.1")])


def test_who_does_not_catch_a_refusal_reads_its_sentence_alone(session, device):
    session.load(INFO, b"{}")
    device.refuse_table = INFO.tables["ipv4_routes"].id
    with pytest.raises(WriteError) as caught:
        session.insert([drop("10.0.2.1")])
    assert "RpcError" not in "".join(traceback.format_exception(caught.value))
    # A caller that reads the error sees the status nevertheless.
    assert status_of(caught.value) is grpc.StatusCode.UNKNOWN


def test_a_refused_program_carries_the_words_of_the_device(session):
    with pytest.raises(RequestError, match="refused the program: program.json:1: not JSON"):
        session.load(INFO, b"broken")


def test_entries_need_a_program_first(session):
    with pytest.raises(ControllerError, match="call `load` or `use` first"):
        session.insert([drop("10.0.2.1")])


def test_a_lower_election_id_is_refused_with_the_one_that_holds_the_device(device):
    with (
        serving(device) as address,
        Session.connect(address, election_id=7),
        pytest.raises(NotPrimaryError, match="election id 7 holds the device"),
    ):
        Session.connect(address, election_id=6)


def test_an_address_where_nothing_answers_is_named_within_the_deadline():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ConnectError, match=f"nothing answers at {address} within 0.3 s"):
            Session.connect(address, deadline_s=0.3)
