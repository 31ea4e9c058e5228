"""P4Runtime and Thrift at one switch: what is written through one door is there for the other."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from controller.entities import CloneSession
from controller.entries import Call, Entry, Exact, Lpm, Ternary
from controller.p4info import P4Info
from controller.session import Session
from tests.control.conftest import compile_program
from tests.process.switch import ROOT, free_port, running
from tests.thrift.switch import SERVICES, Door, bmpy_utils
from tests.thrift.test_tables import MAC, add, exact

from bm_runtime.standard.ttypes import (  # isort: skip
    BmAddEntryOptions,
    BmMatchParam,
    BmMatchParamLPM,
    BmMatchParamRange,
    BmMatchParamTernary,
    BmMatchParamType,
)
from sswitch_runtime.ttypes import MirroringSessionConfig  # isort: skip


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[tuple[Door, Session]]:
    made = compile_program(ROOT / "tests/thrift/guest.p4", tmp_path)
    port, grpc_port = free_port(), free_port()
    flags = ("--no-p4", "--thrift-port", str(port), "--grpc", f"127.0.0.1:{grpc_port}")
    with (
        running(*flags, port=port, log=tmp_path / "log"),
        Session.connect(f"127.0.0.1:{grpc_port}") as session,
    ):
        session.load(P4Info.load(made.p4info), made.json.read_bytes())
        clients = bmpy_utils.thrift_connect("127.0.0.1", port, SERVICES)
        yield Door(port, grpc_port, *clients), session


def test_an_entry_of_one_is_an_entry_of_the_other(doors: tuple[Door, Session]) -> None:
    switch, session = doors
    add(switch, port=2)
    (found,) = session.read("by_address")
    assert found.match == {"hdr.ethernet.dst_addr": Exact(int.from_bytes(MAC, "big"))}
    assert found.call == Call("ingress.send", port=2)

    mine = Entry("by_address", {"hdr.ethernet.dst_addr": Exact(7)}, Call("drop"))
    session.insert([mine])
    entries = switch.standard.bm_mt_get_entries(0, "ingress.by_address")
    assert [it.action_entry.action_name for it in entries] == ["ingress.send", "ingress.drop"]
    switch.standard.bm_mt_delete_entry(0, "ingress.by_address", entries[1].entry_handle)
    assert len(list(session.read("by_address"))) == 1


def test_both_write_at_the_same_time_and_nothing_is_lost(doors: tuple[Door, Session]) -> None:
    switch, session = doors
    rounds = range(200)

    def through_thrift() -> None:
        for number in rounds:
            prefix = BmMatchParamLPM((2 * number).to_bytes(4, "big"), 32)
            key = [BmMatchParam(BmMatchParamType.LPM, lpm=prefix), exact(b"\x01")]
            switch.standard.bm_mt_add_entry(
                0, "ingress.by_prefix", key, "ingress.send", [b"\x00\x02"], BmAddEntryOptions()
            )

    def through_p4runtime() -> None:
        for number in rounds:
            key = {"hdr.tag.address": Lpm(2 * number + 1, 32), "hdr.tag.$valid$": Exact(1)}
            session.insert([Entry("by_prefix", key, Call("ingress.send", port=3))])

    with ThreadPoolExecutor(2) as writers:
        for written in [writers.submit(through_thrift), writers.submit(through_p4runtime)]:
            written.result()
    found = {entry.match["hdr.tag.address"]: entry.call for entry in session.read("by_prefix")}
    assert found == {
        Lpm(number, 32): Call("ingress.send", port=2 + number % 2) for number in range(400)
    }
    handles = {it.entry_handle for it in switch.standard.bm_mt_get_entries(0, "ingress.by_prefix")}
    assert len(handles) == 400


def test_the_lower_priority_of_one_is_the_higher_of_the_other(
    doors: tuple[Door, Session],
) -> None:
    switch, session = doors
    key = [
        BmMatchParam(BmMatchParamType.TERNARY, ternary=BmMatchParamTernary(MAC, MAC)),
        BmMatchParam(BmMatchParamType.RANGE, range=BmMatchParamRange(b"\0\1", b"\0\2")),
    ]
    options = BmAddEntryOptions(priority=5)
    call = (0, "ingress.by_rule", key, "NoAction", [], options)
    switch.standard.bm_mt_add_entry(*call)
    (found,) = session.read("by_rule")
    # 2^31 - 1 less 5.
    assert found.priority == 2147483642
    assert isinstance(found.match["hdr.ethernet.src_addr"], Ternary)


def test_a_clone_session_of_one_is_seen_by_the_other(doors: tuple[Door, Session]) -> None:
    switch, session = doors
    switch.switch.mirroring_session_add(9, MirroringSessionConfig(port=3))
    (found,) = session.clone_sessions()
    assert (found.id, found.ports) == (9, (3,))
    session.insert([CloneSession(10, (4,))])
    assert switch.switch.mirroring_session_get(10).port == 4
    switch.switch.mirroring_session_delete(10)
    assert [it.id for it in session.clone_sessions()] == [9]


def test_a_state_that_is_reset_is_reset_for_both(doors: tuple[Door, Session]) -> None:
    switch, session = doors
    add(switch)
    switch.standard.bm_reset_state()
    assert list(session.read("by_address")) == []
    # The program is the same, and the controller goes on writing to it.
    session.insert([Entry("by_address", {"hdr.ethernet.dst_addr": Exact(7)}, Call("drop"))])
    key = [exact((7).to_bytes(6, "big"))]
    options = BmAddEntryOptions(priority=0)
    found = switch.standard.bm_mt_get_entry_from_key(0, "ingress.by_address", key, options)
    assert found.action_entry.action_name == "ingress.drop"
