"""A telemetry domain in a file becomes table entries that fit the program; mistakes get a line."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from google.protobuf import text_format
from p4.config.v1 import p4info_pb2

from apps import domain as domains
from apps import telemetry
from controller.entries import Exact, Ternary, to_message
from controller.p4info import P4Info
from controller.telemetry.semantics import load_semantics
from topo import load
from topo.errors import ModelError

HERE = Path(__file__).parent
P4INFO = HERE.parents[1] / "build/p4/int_router.p4info.txtpb"
TOPOLOGY = load.load(HERE / "three_routers.yaml")

DOMAIN = """
nodes: {s1: 1, s2: 2, s3: 3}
collector: h9
watch:
  - flow: {destination: 10.0.3.0/24, protocol: tcp, destination port: 5001}
    mode: md
    collect: [node id, queue, egress time]
    hops: 6
  - flow: {source: "fd00::/16"}
    mode: postcards
    collect: [node id, ports]
  - mode: drops-only
drops: {every: 10 ms, all flows: yes}
congestion: {above: 30 kB, reports: 100}
"""


@pytest.fixture
def read(tmp_path):
    """Reads a domain from a text."""

    def read_text(text):
        path = tmp_path / "domain.yaml"
        path.write_text(text)
        return domains.load(path)

    return read_text


def calls(entries, table):
    return [(entry.match, entry.call.action, entry.call.args) for entry in entries[table]]


def by_table(entries):
    tables = {}
    for entry in entries:
        tables.setdefault(entry.table, []).append(entry)
    return tables


def test_everything_fits_the_program(read):
    info = P4Info(text_format.Parse(P4INFO.read_text(), p4info_pb2.P4Info()))
    for switch in TOPOLOGY.switches:
        defaults, entries = telemetry.tables(read(DOMAIN), TOPOLOGY, switch)
        for entry in (*defaults, *entries):
            to_message(entry, info)


def test_a_node_knows_its_edges_its_id_and_the_way_to_the_collector(read):
    domain = read(DOMAIN)
    s2 = TOPOLOGY.switch("s2")
    defaults, entries = (by_table(part) for part in telemetry.tables(domain, TOPOLOGY, s2))

    ports = calls(entries, "int_egress_ports")
    # Ports 1 and 2 lead to routers, port 3 to a host.
    assert [
        (match["standard_metadata.egress_port"], args["is_edge"]) for match, _, args in ports
    ] == [
        (Exact(1), False),
        (Exact(2), False),
        (Exact(3), True),
    ]
    assert defaults["int_node"][0].call.args["node_id"] == 2
    collector = defaults["int_collector"][0].call.args
    assert collector["src_addr"] == IPv4Address("10.0.9.254")
    assert collector["dst_addr"] == IPv4Address("10.0.9.1")
    assert collector["dst_mac"] == TOPOLOGY.host("h9").mac
    assert telemetry.report_session(domain, TOPOLOGY, s2).ports == (3,)
    # From s1 reports go the way to s2.
    assert telemetry.report_session(domain, TOPOLOGY, TOPOLOGY.switch("s1")).ports == (2,)


def test_a_router_reports_from_an_address_that_hosts_take():
    """The port's own, or another of the router; a host refuses what comes from 0.0.0.0."""
    domain = domains.Domain({"s1": 1, "s2": 2, "s3": 3}, "h9", ())

    def source(topology):
        defaults, _ = telemetry.tables(domain, topology, topology.switch("s2"))
        return by_table(defaults)["int_collector"][0].call.args["src_addr"]

    def without(*numbers):
        s2 = TOPOLOGY.switch("s2")
        ports = tuple(
            replace(port, addresses=()) if port.number in numbers else port for port in s2.ports
        )
        changed = replace(s2, ports=ports)
        switches = tuple(changed if each == s2 else each for each in TOPOLOGY.switches)
        return replace(TOPOLOGY, switches=switches)

    assert source(TOPOLOGY) == IPv4Address("10.0.9.254")
    assert source(without(3)) == IPv4Address("10.0.12.2")
    assert source(without(1, 2, 3)) == IPv4Address("192.0.0.8")


def test_watches_become_entries_and_the_first_in_the_file_wins(read):
    _, entries = telemetry.tables(read(DOMAIN), TOPOLOGY, TOPOLOGY.switch("s1"))
    ipv4 = by_table(entries)["int_flows_ipv4"]
    ipv6 = by_table(entries)["int_flows_ipv6"]

    assert [entry.call.action for entry in ipv4] == ["NoAction", "start_int", "watch"]
    ipv4 = ipv4[1:]
    assert [entry.call.action for entry in ipv6] == ["send_postcards", "watch"]
    assert ipv4[0].priority > ipv4[1].priority
    assert ipv4[0].match == {
        "hdr.ipv4.dst_addr": Ternary(int(IPv4Address("10.0.3.0")), 0xFFFFFF00),
        "hdr.ipv4.protocol": Ternary(6, 0xFF),
        "meta.l4.dst": Ternary(5001, 0xFFFF),
    }
    # Node id and queue one word each, a time two.
    assert ipv4[0].call.args["hop_words"] == 4
    assert ipv4[0].call.args["bitmap"] == 0x8000 | 0x1000 | 0x0400
    # Reports have the node id in front.
    assert ipv6[0].call.args["bitmap"] == 0x4000


def test_reports_in_transit_are_not_watched_and_wait_in_their_own_queue(read):
    s2 = TOPOLOGY.switch("s2")
    _, plain = telemetry.tables(read(DOMAIN), TOPOLOGY, s2)
    (reports,) = [entry for entry in plain if entry.call.action == "NoAction"]
    assert reports.match == {
        "hdr.ipv4.dst_addr": Ternary(int(IPv4Address("10.0.9.1")), 0xFFFFFFFF),
        "hdr.ipv4.protocol": Ternary(17, 0xFF),
        "meta.l4.dst": Ternary(32766, 0xFFFF),
    }
    assert reports.priority > max(entry.priority for entry in plain if entry != reports)
    assert "ipv4_classes" not in by_table(plain)

    domain = read(DOMAIN + "report queue: 1\n")
    (rule,) = by_table(telemetry.tables(domain, TOPOLOGY, s2)[1])["ipv4_classes"]
    assert rule.call.args == {"class_num": 1}
    assert telemetry.report_session(domain, TOPOLOGY, s2).class_ == 1


def test_every_queue_has_a_slot_of_its_own(read):
    _, entries = telemetry.tables(read(DOMAIN), TOPOLOGY, TOPOLOGY.switch("s2"))
    slots = [args["slot_idx"] for _, _, args in calls(by_table(entries), "int_congested_queues")]
    assert len(slots) == len(set(slots)) == 3 * 8


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nodes: {s1: 1}", r"domain.yaml:1: the document lacks 'collector'"),
        ("nodes: {s1: 0}\ncollector: h9", r"domain.yaml:1: nodes.s1 must be from 1 to"),
        (
            "nodes: {s1: 1}\ncollector: h9\nwatch:\n  - {mode: md}",
            r"domain.yaml:4: watch\[0\] lacks 'collect'",
        ),
        (
            "nodes: {s1: 1}\ncollector: h9\nwatch:\n  - mode: md\n    collect: [weather]",
            r"domain.yaml:5: watch\[0\].collect\[0\] must be one of node id",
        ),
        (
            "nodes: {s1: 1}\ncollector: h9\nwatch:\n"
            "  - {mode: md, collect: [ingress time, egress time], hops: 16}",
            "is 16, and 4 words a hop leave room for 15",
        ),
        (
            "nodes: {s1: 1}\ncollector: h9\nwatch:\n"
            '  - {mode: drops-only, flow: {source: 10.0.0.0/8, destination: "fd00::/8"}}',
            "a source and a destination of different IP versions",
        ),
    ],
)
def test_mistakes_are_said_with_their_line(read, text, sentence):
    with pytest.raises(ModelError, match=sentence):
        read(text)


def test_a_router_that_is_no_node_and_a_collector_without_a_way_are_named(read):
    with pytest.raises(telemetry.DomainError, match="no node 's2'"):
        telemetry.tables(read("nodes: {s1: 1}\ncollector: h9"), TOPOLOGY, TOPOLOGY.switch("s2"))
    with pytest.raises(ModelError, match="h7"):
        telemetry.tables(read("nodes: {s1: 1}\ncollector: h7"), TOPOLOGY, TOPOLOGY.switch("s1"))


def test_the_reasons_of_drops_are_those_of_the_routers_service():
    router_pb2 = pytest.importorskip("vitrine.v1.router_pb2")
    named = {number: name for name, number in router_pb2.DropReason.items() if 0 < number <= 0xFF}
    reasons = load_semantics().drop_reasons
    assert reasons.items() <= named.items()
