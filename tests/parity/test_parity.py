"""The parity run's own parts; the run itself needs the P4 project's tools: `make parity`."""

import pytest

from controller.entities import CloneSession
from controller.entries import Call, Entry, Exact, Lpm, Range, Ternary
from tests import program
from tests.parity import __main__ as parity
from tests.parity import pcap, stf
from tests.parity.reference import Observed, rests
from topo import wait
from topo.process import Process


@pytest.fixture
def script(tmp_path):
    def read(text):
        path = tmp_path / "case.stf"
        path.write_text(text)
        return stf.Script.read(path)

    return read


def test_every_case_of_the_packet_tests_is_understood():
    names = [case.name for case in parity.cases()]
    assert {"packets/clones", "packets/table_range", "router/ipv4"} <= set(names)
    for case in parity.cases():
        assert stf.Script.read(case.script).packets, case.name
    special = (parity.NOT_FOR_P4C, parity.P4C_DIFFERS, parity.NOT_FOR_SIMPLE_SWITCH)
    assert set().union(*special) <= set(names)


def test_every_program_of_the_kit_has_a_case():
    programs = {source.stem for source in (parity.SOURCES / "programs").glob("*.p4")}
    assert programs - parity.FOR_PSA == {case.source.stem for case in parity.cases()} & programs


def test_packets_and_expectations_are_read_and_checks_are_left_out(script):
    found = script("packet 0 01 0A # why\nexpect 3 0a** $\nwait\ncheck_counter x(0) packets == 1\n")
    assert found.packets == (stf.Packet(0, "010a"),)
    assert found.expected == (stf.Packet(3, "0a**$"),)
    assert found.ports == [0, 3]


def test_a_statement_that_would_be_compared_by_halves_is_refused(script):
    with pytest.raises(stf.StfError, match=r"line 2: the statement 'mc_mgrp_create'"):
        script("packet 0 01\nmc_mgrp_create 3\n")
    with pytest.raises(stf.StfError, match="line 2: add behind a packet"):
        script("packet 0 01\nadd t x:1 a()\n")


def test_entries_become_p4runtimes(script):
    found = script(
        "add ingress.routing.ipv4_routes hdr.ipv4.dst_addr:0x0a0002** "
        "ingress.routing.set_next_hop(port:2, src_addr:0x0a, dst_addr:0x0b)\n"
        "add ingress.classify.rules 30 port:0x1 proto:0b0000**** dst_port:5->9 "
        "ingress.classify.drop()\n"
        "mirroring_add 7 4\n"
        "setdefault ingress.routing.ipv4_routes ingress.routing.drop()\n"
    )
    inserted, modified = stf.items(found, program.INFO)
    assert inserted == [
        Entry(
            "ingress.routing.ipv4_routes",
            {"hdr.ipv4.dst_addr": Lpm(0x0A000200, 24)},
            Call("ingress.routing.set_next_hop", port=2, src_addr=0xA, dst_addr=0xB),
        ),
        Entry(
            "ingress.classify.rules",
            {"port": Exact(1), "proto": Ternary(0, 0xF0), "dst_port": Range(5, 9)},
            Call("ingress.classify.drop"),
            31,
        ),
        CloneSession(7, (4,)),
    ]
    assert modified == [
        Entry("ingress.routing.ipv4_routes", None, Call("ingress.routing.drop")),
    ]
    assert found.ports == [4]


def test_names_may_stand_in_quotes(script):
    found = script(
        'add "ingress.classify.rules" 30 "port":0x1 "dst_port":5->9 "ingress.classify.drop"()\n'
        'setdefault "ingress.routing.ipv4_routes" "ingress.routing.drop"() # why\n'
    )
    (entry,), (default,) = stf.items(found, program.INFO)
    matches = {"port": Exact(1), "dst_port": Range(5, 9)}
    drop = Call("ingress.classify.drop")
    assert entry == Entry("ingress.classify.rules", matches, drop, 31)
    assert default == Entry("ingress.routing.ipv4_routes", None, Call("ingress.routing.drop"))
    assert found.entry_count("ingress.classify.rules") == 1
    assert found.entry_count("ingress.routing.ipv4_routes") == 0
    assert script('setdefault "t#1" "in.a"() # "why"?').settings == ('setdefault "t#1" "in.a"()',)


def test_a_capture_file_gives_back_what_was_written_and_no_half_packet(tmp_path):
    file = tmp_path / "p0_in.pcap"
    pcap.write(file, [(0, b"first"), (1_500_000, b"second")])
    assert list(pcap.read(file)) == [b"first", b"second"]
    file.write_bytes(file.read_bytes()[:-1])
    assert list(pcap.read(file)) == [b"first"]
    assert list(pcap.read(tmp_path / "none")) == []


def test_what_simple_switch_did_becomes_a_script_for_our_switch(script):
    case = script("mirroring_add 5 3\npacket 0 0102\nexpect 1 0102 $\n")
    observed = Observed(
        {1: [b"\x01\x02"], 3: [b"\x01"]},
        {("egress.traffic", 0): (2, 120)},
        {("ingress.memory", 3): 42},
    )
    assert parity.replayed(case, observed).splitlines() == [
        "mirroring_add 5 3",
        "packet 0 0102",
        "expect 1 0102 $",
        "expect 3 01 $",
        "wait",
        "check_counter egress.traffic(0) packets == 2",
        "check_counter egress.traffic(0) bytes == 120",
        "check_register ingress.memory(3) 42",
    ]


@pytest.mark.parametrize(
    ("expected", "found", "agrees"),
    [
        ("0a0b$", "0a0b", True),
        ("0a**$", "0aff", True),
        ("0a", "0aff", True),
        ("0a$", "0aff", False),
        ("0a0b$", "0a", False),
        ("0a0c$", "0a0b", False),
    ],
)
def test_an_expectation_holds_or_not(expected, found, agrees):
    assert parity._agrees(expected, found) is agrees


def test_without_the_tools_it_is_skipped_and_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert parity.main([]) == 0
    assert "parity: skipped, p4c-bm2-ss or p4c and simple_switch_grpc" in capsys.readouterr().out


def test_frames_are_put_into_the_order_of_the_case_and_others_stay_behind(script):
    case = script("packet 0 01\nexpect 2 0a**\nexpect 1 ff\nexpect 2 0b$\n")
    frames = [b"\x0b", b"\x77", b"\x0a\x01"]
    assert parity.in_order(case, 2, frames) == [b"\x0a\x01", b"\x0b", b"\x77"]


def test_a_switch_that_waits_for_a_processor_does_not_rest(tmp_path):
    # It waits for lines that never come.
    asleep = Process(["tail", "-f", "/dev/null"], tmp_path / "asleep.log")
    at_work = Process(["sh", "-c", "while :; do :; done"], tmp_path / "at-work.log")
    try:
        # It sleeps once it has been loaded.
        wait.until(lambda: rests(asleep), "tail asleep", 60.0)
        assert not rests(at_work)
    finally:
        for process in (asleep, at_work):
            process.end()
