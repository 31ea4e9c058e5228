"""Entries that the kit writes into users' programs, and replacing a program on request."""

import pytest

from apps import reload
from apps.programming import Router, entries_for, source_of
from controller import compiling
from controller.compiling import CompileError
from controller.entities import CloneSession
from controller.entries import Call, Entry, Exact, Lpm
from controller.errors import ControllerError
from controller.session import Session
from controller.toolchain import Toolchain
from controller.values import Mac
from tests.controller import real_switch
from tests.controller.real_switch import RealSwitch
from tests.topo.examples import DIAMOND, loaded
from topo import record, wait

pytestmark = real_switch.needed

# The kit's router without IPv6, without an action of its own, and without the controller.
OWN = """\
#include <core.p4>
#include <v1model.p4>
#include <lib/parsers.p4>
#include <lib/checksums.p4>

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action drop() { mark_to_drop(standard_metadata); }
    action set_next_hop(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }
    table ipv4_routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { set_next_hop; drop; }
        default_action = drop();
    }
    apply { if (hdr.ipv4.isValid()) { ipv4_routes.apply(); } }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) { apply { } }

V1Switch(parse_packet(), verify_checksums(), ingress(), egress(), update_checksums(),
         deparse_packet()) main;
"""


@pytest.fixture
def diamond(tmp_path):
    return loaded(DIAMOND, tmp_path)


@pytest.fixture
def own(tmp_path):
    source = tmp_path / "own.p4"
    source.write_text(OWN)
    return source


def test_everything_is_written_into_the_kit_s_own_router(diamond):
    program, _ = Toolchain.VITRINE.compiled("router")
    written = entries_for(program, diamond, diamond.switch("s1"))
    assert written.remarks == ()
    assert len(written.modify) == 2


def test_a_program_that_balances_gets_its_paths_and_its_edges(diamond):
    program, _ = Toolchain.VITRINE.compiled("balancing_router")
    written = entries_for(program, diamond, diamond.switch("s1"))
    assert written.remarks == ()
    paths = [entry for entry in written.insert if getattr(entry, "table", "") == "paths"]
    assert [(entry.call.args["port"], entry.call.args["next_port"]) for entry in paths] == [
        (2, 3),
        (3, 2),
    ]
    assert [
        entry.match for entry in written.insert if getattr(entry, "table", "") == "to_hosts"
    ] == [{"standard_metadata.egress_spec": Exact(1)}]
    # The ways back for feedback are those to other routers.
    assert [each.ports for each in written.insert if isinstance(each, CloneSession)] == [(2,), (3,)]


def test_what_a_program_has_no_table_or_action_for_is_said_once_each(diamond, own):
    program, _ = Toolchain.VITRINE.compiled(own)
    written = entries_for(program, diamond, diamond.switch("s2"))
    assert {entry.table for entry in written.insert} == {"ipv4_routes"}
    assert written.modify == []
    assert [remark for remark in written.remarks if "ipv6_routes" in remark] == [
        "s2: 1 entry not written: no table is named 'ipv6_routes'; "
        "did you mean 'ingress.ipv4_routes'?"
    ]
    assert any("ipv4_routes: no action is named 'no_route'" in each for each in written.remarks)


def test_the_user_s_choice_is_before_the_topology_s_and_that_before_the_kit_s(tmp_path, own):
    text = DIAMOND.replace("s1: {ports", "s1: {program: own.p4, ports")
    text = text.replace("s2: {ports", "s2: {program: int_router, ports")
    topology = loaded(text, tmp_path)
    s1, s2, s3 = (topology.switch(name) for name in ("s1", "s2", "s3"))
    assert source_of(s1, None, None) == own
    assert source_of(s2, None, None) == compiling.PROGRAMS / "int_router.p4"
    assert source_of(s3, None, None) == compiling.PROGRAMS / "router.p4"
    assert source_of(s1, "router", None) == compiling.PROGRAMS / "router.p4"


@pytest.fixture
def router(tmp_path, diamond, own):
    switch = RealSwitch(tmp_path)
    with Session.connect(switch.address) as session:
        made = Router(session, diamond, diamond.switch("s2"), own)
        made.start()
        made.session = session
        made.switch = switch
        yield made
    switch.end()


def test_a_program_is_reloaded_as_it_is_now(router, own):
    before = len(list(router.session.read("ipv4_routes")))
    own.write_text(OWN.replace("ipv4_routes", "my_routes"))
    remarks = router.reload()
    assert any("no table is named 'ipv4_routes'" in each for each in remarks)
    assert list(router.session.read("my_routes")) == []
    own.write_text(OWN)
    router.reload()
    assert len(list(router.session.read("ipv4_routes"))) == before


def test_a_reloaded_program_is_back_after_a_restart(router, own):
    own.write_text(
        OWN.replace("action drop()", "action discard()")
        .replace("drop;", "discard;")
        .replace("= drop()", "= discard()")
    )
    router.reload()
    count = len(list(router.session.read("ipv4_routes")))
    router.switch.end()
    wait.until(lambda: not router.session.is_ready, "the end of the stream", 60)
    router.switch.start()
    assert len(list(router.session.read("ipv4_routes"))) == count
    assert "discard" in [
        action.name.rpartition(".")[2] for action in router.session.program.actions
    ]


def test_what_does_not_compile_changes_nothing(router, own):
    own.write_text("nonsense")
    with pytest.raises(CompileError, match="does not compile"):
        router.reload()
    assert list(router.session.read("ipv4_routes")) != []


def test_a_swap_that_the_switch_refuses_changes_nothing(router):
    route = Entry(
        "ipv4_routes",
        {"hdr.ipv4.dst_addr": Lpm(0x0A090900, 24)},
        Call("set_next_hop", port=1, src_addr=Mac(1), dst_addr=Mac(2)),
    )
    before = [entry.match for entry in router.session.read("ipv4_routes")]
    program, config = Toolchain.VITRINE.compiled("router")
    with pytest.raises(ControllerError, match="refused 1 of 2"):
        router.session.swap(program, config, [route, route])
    assert [entry.match for entry in router.session.read("ipv4_routes")] == before


def test_make_reload_speaks_with_the_network_that_is_up(router, own, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    with pytest.raises(ControllerError, match="no network is up on this machine"):
        reload.reload(None, None)
    with reload.serving([router]):
        own.write_text(OWN.replace("ipv4_routes", "my_routes"))
        assert reload.reload(None, None) == 0
        said = capsys.readouterr().out
        assert f"s2 runs {own}" in said
        assert "no table is named 'ipv4_routes'" in said
        own.write_text("nonsense")
        assert reload.reload(None, None) == 1
        assert "s2 is unchanged:" in capsys.readouterr().err
        assert reload.reload("s9", None) == 1
        assert "no router 's9'; there are: s2" in capsys.readouterr().err
        assert reload.reload(None, "router") == 0
        assert len(list(router.session.read("ipv6_routes"))) > 0
    assert not (record.folder() / "reload.sock").exists()
