"""p4src/programs/int_router.p4 does to packets what INT-MD says, hop by hop, byte by byte.

Each test writes a packet test (STF) from the model's answer and runs it on the program. Only values
that do not depend on time are asked for here; tests/live holds the others against the router's own
events.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from controller.telemetry.layers import IntMd, IntShim

from .int_model import (
    NODE_ID,
    PORTS,
    Node,
    inserted,
    passed,
    removed,
    reported,
    routed,
    with_instructions,
)

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "build/p4/int_router.json"
SIM = ROOT / "build/bin/vitrine-sim"
COMPILER = ROOT / "build/bin/vitrine-p4c"

EDGE, INSIDE = 1, 0
BITMAP, HOP_WORDS, HOPS = NODE_ID | PORTS, 2, 4


ETHERNET = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
V4 = IP(src="10.0.0.1", dst="10.0.0.2", tos=0xB9, ttl=20)
V6 = IPv6(src="fd00::1", dst="fd00::2", tc=0xB9, hlim=20)
HOST_PACKETS = {
    "tcp": V4 / TCP(sport=5001, dport=80, seq=7) / Raw(b"from the source host"),
    "tcp with options": V4 / TCP(options=[("MSS", 1460), ("WScale", 7)]) / Raw(b"odd"),
    "tcp without payload": V4 / TCP(flags="A"),
    "udp": V4 / UDP(sport=4, dport=5) / Raw(b"from the source host"),
    "udp without checksum": V4 / UDP(sport=4, dport=5, chksum=0) / Raw(b"from the source host"),
    "tcp over ipv6": V6 / TCP(sport=5001, dport=80) / Raw(b"from the source host"),
    "udp over ipv6": V6 / UDP(sport=4, dport=5) / Raw(b"!"),
}
FRAMES = {name: bytes(ETHERNET / packet) for name, packet in HOST_PACKETS.items()}


START_MD = (
    f"start_int(int_type:1, bitmap:{BITMAP:#x}, hop_words:{HOP_WORDS}, "
    f"remaining_hops:{HOPS}, domain_id:0)"
)
START_MX = f"start_int(int_type:3, bitmap:{BITMAP:#x}, hop_words:0, remaining_hops:0, domain_id:0)"
POSTCARDS = f"send_postcards(bitmap:{BITMAP:#x}, domain_id:0)"


def configuration(node, egress_kind, watch=None):
    """The commands that make a router of the domain of a switch with nothing in it."""
    flows = "ingress.int_watchlist.int_flows_{}"
    return [
        "add ingress.routing.ipv4_routes hdr.ipv4.dst_addr:0x0a000000/8 "
        "ingress.routing.set_next_hop(port:2, src_addr:0x0a0000000001, dst_addr:0x0a0000000002)",
        "add ingress.routing.ipv6_routes hdr.ipv6.dst_addr:0xfd000000000000000000000000000000/8 "
        "ingress.routing.set_next_hop(port:2, src_addr:0x0a0000000001, dst_addr:0x0a0000000002)",
        f"setdefault egress.int_telemetry.int_node "
        f"egress.int_telemetry.set_node(node_id:{node.node_id}, report_session:9)",
        f"add egress.int_telemetry.int_hop.int_egress_ports standard_metadata.egress_port:2 "
        f"egress.int_telemetry.int_hop.set_port(is_edge:{egress_kind}, mtu:{node.mtu})",
        "setdefault egress.int_telemetry.int_report.int_collector "
        "egress.int_telemetry.int_report.set_collector(src_mac:1, dst_mac:2, src_addr:3, "
        "dst_addr:4, udp_port:32766, packet_bytes:256)",
        "mirroring_add 9 3",
    ] + [
        f"setdefault {flows.format(version)} ingress.int_watchlist.{watch}"
        for version in ("ipv4", "ipv6")
        if watch
    ]


def run(
    tmp_path,
    commands,
    frames,
    reporter=None,
    bitmap=BITMAP,
    as_reported=routed,
    program=PROGRAM,
):
    """Sends each frame into port 1 and expects the frame that must leave at port 2.

    A reporter also sends a report on each of them to port 3.
    """
    lines = list(commands)
    for sequence, (sent, expected) in enumerate(frames):
        lines += [f"packet 1 {sent.hex()}", f"expect 2 {expected.hex()}$"]
        if reporter:
            report = reported(as_reported(sent), reporter, bitmap, sequence)
            lines.append(f"expect 3 {report.hex()}$")
    test = tmp_path / "test.stf"
    test.write_text("\n".join(lines) + "\n")
    ran = subprocess.run([SIM, "stf", program, test], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_source_puts_headers_and_its_own_metadata_in(tmp_path):
    node = Node(1)
    frames = [
        (frame, inserted(routed(frame), node, BITMAP, HOP_WORDS, HOPS)) for frame in FRAMES.values()
    ]
    run(tmp_path, configuration(node, INSIDE, START_MD), frames)


def test_a_hop_in_the_middle_puts_its_metadata_in_front(tmp_path):
    node = Node(2)
    at_source = [inserted(f, Node(1), BITMAP, HOP_WORDS, HOPS) for f in FRAMES.values()]
    frames = [(frame, passed(routed(frame), node)) for frame in at_source]
    run(tmp_path, configuration(node, INSIDE), frames)


@pytest.mark.parametrize("hops_before", range(5))
def test_after_the_sink_the_packet_is_what_the_host_sent(tmp_path, hops_before):
    # Stacks of 0 to 8 words: all lengths of the parts that the program keeps a stack in.
    frames = []
    for frame in FRAMES.values():
        on_the_way = inserted(frame, Node(1), BITMAP, HOP_WORDS, HOPS)
        for node_id in range(2, 1 + hops_before):
            on_the_way = passed(on_the_way, Node(node_id))
        assert removed(on_the_way) == frame
        frames.append((on_the_way, routed(frame)))
    run(tmp_path, configuration(Node(9), EDGE), frames, reporter=Node(9))


@pytest.mark.parametrize("name", FRAMES)
def test_a_packet_that_fits_its_host_s_link_without_int_gets_there(tmp_path, name):
    frame = FRAMES[name]
    on_the_way = inserted(frame, Node(1), BITMAP, HOP_WORDS, HOPS)
    # The link takes exactly the packet that the host sent: its frame without 14 bytes of Ethernet.
    narrow = [
        command.replace("set_next_hop(", f"set_next_hop_within(mtu:{len(frame) - 14}, ")
        for command in configuration(Node(9), EDGE)
    ]
    run(tmp_path, narrow, [(on_the_way, routed(frame))], reporter=Node(9))


def test_a_stack_of_every_length_is_taken_out(tmp_path):
    frames = []
    for words in range(64):
        shim = IntShim() / IntMd(hop_words=1, bitmap=NODE_ID, stack=list(range(words)))
        plain = ETHERNET / V4 / TCP(dport=80) / Raw(b"from the source host")
        marked = ETHERNET / V4 / TCP(dport=80) / shim / Raw(b"from the source host")
        marked[IP].tos = 0x17 << 2
        plain[IP].tos = 0
        frames.append((bytes(marked), routed(bytes(plain))))
    run(tmp_path, configuration(Node(9), EDGE), frames, Node(9), NODE_ID)


def test_no_hops_left_adds_nothing_and_says_so(tmp_path):
    node = Node(3)
    frame = FRAMES["tcp"]
    used_up = inserted(frame, Node(1), BITMAP, HOP_WORDS, 1)
    expected = passed(routed(used_up), node)
    assert len(expected) == len(used_up)
    run(tmp_path, configuration(node, INSIDE), [(used_up, expected)])


def test_what_does_not_fit_the_mtu_is_left_out_and_said(tmp_path):
    # IPv4 and TCP take 40 bytes, the text 20, INT's fixed headers 16, a hop 8.
    frame = FRAMES["tcp"]
    only_headers = Node(1, mtu=40 + 20 + 16)
    run(
        tmp_path,
        configuration(only_headers, INSIDE, START_MD),
        [(frame, inserted(routed(frame), only_headers, BITMAP, HOP_WORDS, HOPS))],
    )
    nothing = Node(1, mtu=40 + 20 + 15)
    run(tmp_path, configuration(nothing, INSIDE, START_MD), [(frame, routed(frame))])
    exactly = Node(2, mtu=40 + 20 + 16 + 8 + 8)
    at_source = inserted(frame, Node(1), BITMAP, HOP_WORDS, HOPS)
    for node in (exactly, Node(2, mtu=exactly.mtu - 1)):
        expected = passed(routed(at_source), node)
        run(tmp_path, configuration(node, INSIDE), [(at_source, expected)])


@pytest.mark.parametrize(
    ("bitmap", "hop_words"),
    # A reserved bit; a domain's own word; fewer words than the bits take.
    [(NODE_ID | 0x0040, 2), (NODE_ID, 2), (NODE_ID | PORTS, 1)],
)
def test_instructions_a_node_cannot_follow_whole_add_nothing(tmp_path, bitmap, hop_words):
    packet = ETHERNET / V4 / TCP() / IntShim() / IntMd(hop_words=hop_words, bitmap=bitmap)
    packet[IP].tos = 0x17 << 2
    frame = bytes(packet)
    run(tmp_path, configuration(Node(2), INSIDE), [(frame, routed(frame))])


def test_a_packet_whose_checksum_is_wrong_stays_as_wrong(tmp_path):
    wrong = ETHERNET / V4 / TCP(chksum=0x1234) / Raw(b"from the source host")
    frame = bytes(wrong)
    right = Ether(frame)
    del right[TCP].chksum
    right_sum = Ether(bytes(right))[TCP].chksum
    expected = Ether(inserted(routed(bytes(right)), Node(1), BITMAP, HOP_WORDS, HOPS))
    # In ones' complement the error is the same difference before and after.
    error = (0x1234 - right_sum) % 0xFFFF
    expected[TCP].chksum = (expected[TCP].chksum + error) % 0xFFFF
    run(tmp_path, configuration(Node(1), INSIDE, START_MD), [(frame, bytes(expected))])


def test_a_tcp_checksum_of_zero_leaves_the_domain_as_0x0000(tmp_path):
    """Linux writes 0xffff, which means the same: behind the source nothing tells them apart."""
    packet = ETHERNET / V4 / TCP(sport=5001, dport=80, window=0) / Raw(b"from the source host")
    packet[TCP].window = Ether(bytes(packet))[TCP].chksum
    as_0 = Ether(bytes(packet))
    assert as_0[TCP].chksum == 0
    as_ffff = Ether(bytes(packet))
    as_ffff[TCP].chksum = 0xFFFF
    inside = inserted(routed(bytes(as_0)), Node(1), BITMAP, HOP_WORDS, HOPS)
    frames = [(bytes(as_0), inside), (bytes(as_ffff), inside)]
    run(tmp_path, configuration(Node(1), INSIDE, START_MD), frames)
    behind = routed(routed(bytes(as_0)))
    run(tmp_path, configuration(Node(5), EDGE), [(inside, behind)], reporter=Node(5))


def test_what_is_marked_but_is_not_int_is_payload(tmp_path):
    # Another version, another type, cut inside the headers, a stack longer than the packet.
    headers = ["10030000 10000000", "20030000 20000000", "1003", "10ff0000 20000206 c0000000 0000"]
    frames = []
    for text in headers:
        packet = ETHERNET / V4 / TCP() / Raw(bytes.fromhex(text) + bytes(4))
        packet[IP].tos = 0x17 << 2
        frames.append((bytes(packet), routed(bytes(packet))))
    run(tmp_path, configuration(Node(2), INSIDE), frames)


def test_a_flow_that_enters_and_leaves_at_one_node_is_only_reported(tmp_path):
    frames = [(frame, routed(frame)) for frame in FRAMES.values()]
    run(tmp_path, configuration(Node(5), EDGE, START_MD), frames, reporter=Node(5))


def test_with_postcards_every_node_reports_and_no_packet_changes(tmp_path):
    frames = [(frame, routed(frame)) for frame in FRAMES.values()]
    run(tmp_path, configuration(Node(6), INSIDE, POSTCARDS), frames, reporter=Node(6))


def test_with_instructions_alone_every_node_reports_and_the_sink_takes_them_out(tmp_path):
    source, middle, sink = Node(1), Node(2), Node(3)
    plain = list(FRAMES.values())
    at_source = [with_instructions(routed(frame), BITMAP) for frame in plain]
    run(
        tmp_path,
        configuration(source, INSIDE, START_MX),
        list(zip(plain, at_source, strict=True)),
        reporter=source,
        as_reported=lambda frame: with_instructions(routed(frame), BITMAP),
    )
    in_the_middle = [(frame, routed(frame)) for frame in at_source]
    run(tmp_path, configuration(middle, INSIDE), in_the_middle, reporter=middle)
    leaving = [
        (frame, routed(routed(host_frame)))
        for frame, host_frame in zip(at_source, plain, strict=True)
    ]
    run(tmp_path, configuration(sink, EDGE), leaving, reporter=sink)


def test_a_long_packet_is_reported_with_its_first_bytes(tmp_path):
    frame = bytes(ETHERNET / V4 / TCP() / Raw(bytes(1000)))
    run(tmp_path, configuration(Node(6), INSIDE, POSTCARDS), [(frame, routed(frame))], Node(6))


# ---- other markers -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def marked_by(tmp_path_factory):
    """Compiles the program with another marker."""

    def compile_with(definition):
        made = tmp_path_factory.mktemp("marker") / "int_router.json"
        source = ROOT / "p4src/programs/int_router.p4"
        include = ROOT / "p4src/include"
        command = [COMPILER, "-I", include, "-D", definition, "-o", made, source]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return made

    return compile_with


def with_stack(packet, shim):
    """A packet after the source, node 1: one hop's metadata in front of its payload."""
    header = IntMd(hop_words=HOP_WORDS, remaining_hops=HOPS - 1, bitmap=BITMAP)
    header.stack = Node(1).words(BITMAP)
    transport = packet[UDP] if UDP in packet else packet[TCP]
    payload = bytes(transport.payload)
    transport.remove_payload()
    del transport.chksum
    if UDP in packet:
        del packet[UDP].len
    if IP in packet:
        del packet[IP].len, packet[IP].chksum
    else:
        del packet[IPv6].plen
    return bytes(packet / (shim / header) / Raw(payload))


def test_another_dscp_can_be_the_marker(tmp_path, marked_by):
    program = marked_by("INT_MARKER_DSCP=0x2a")
    frame = FRAMES["tcp"]
    packet = Ether(routed(frame))
    # The original DSCP is 0x2e, expedited forwarding, in bits 7 to 2 of the shim's last byte.
    packet[IP].tos = 0x2A << 2 | 1
    marked = with_stack(packet, IntShim(original=0x2E << 2))
    source, sink = Node(1), Node(9)
    run(tmp_path, configuration(source, INSIDE, START_MD), [(frame, marked)], program=program)
    plain = [(marked, routed(routed(frame)))]
    run(tmp_path, configuration(sink, EDGE), plain, reporter=sink, program=program)


def test_a_udp_port_can_be_the_marker_and_tcp_goes_on_without_int(tmp_path, marked_by):
    program = marked_by("INT_MARKER_UDP_PORT=32000")
    source, sink = Node(1), Node(9)
    at_source, at_sink = [], []
    for name in ("udp", "udp over ipv6"):
        frame = FRAMES[name]
        packet = Ether(routed(frame))
        shim = IntShim(npt=1, original=packet[UDP].dport)
        packet[UDP].dport = 32000
        marked = with_stack(packet, shim)
        at_source.append((frame, marked))
        at_sink.append((marked, routed(routed(frame))))
    at_source += [(FRAMES[name], routed(FRAMES[name])) for name in ("tcp", "tcp over ipv6")]
    run(tmp_path, configuration(source, INSIDE, START_MD), at_source, program=program)
    run(tmp_path, configuration(sink, EDGE), at_sink, reporter=sink, program=program)
