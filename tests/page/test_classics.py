"""The classics do what their cards in the gallery say, seen on their cables."""

import contextlib
import io
import threading

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.utils import PcapNgReader
from vitrine.v1 import router_pb2, world_pb2

from labs.scenarios import script
from labs.scenarios.classics import classics
from labs.worlds.virtual import server
from tests.page.in_a_process import ADVANCE, ask, begun

CAPTURE = "/vitrine.v1.World/Capture"
SPAN_PS = 200 * 10**9
DEADLINE_S = 120
PROBE_PORT = 5005
# The field of IP that says whether marks are understood, and the mark.
ECT_0, CE = 2, 3
PROBE_BYTES = 64


@contextlib.contextmanager
def running(name, tmp_path):
    """The channel to a scenario that has settled, and the instant 200 ms later."""
    scenario = next(each for each in classics() if each.name == name)
    written = script.written(scenario, tmp_path / "writing.log")
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server.serving(tmp_path / "world.log"))
        channel = stack.enter_context(begun(address, written))
        yield channel, written["settled_ps"] + SPAN_PS


def frames(name, ends, tmp_path):
    """The frames on cables of a scenario in 200 ms, a list for each end."""
    with running(name, tmp_path) as (channel, until_ps):
        readers = [Reader(channel, end, until_ps) for end in ends]
        advance(channel, until_ps)
        return [reader.frames() for reader in readers]


def advance(channel, until_ps):
    """Lets time pass."""
    ask(channel, ADVANCE, world_pb2.AdvanceRequest(time_ps=until_ps).SerializeToString())


def counters(channel, port):
    """The first router's counters of a port."""
    request = router_pb2.DescribeRequest(device_id=1, ports=[port])
    told = ask(channel, "/vitrine.v1.Router/Describe", request.SerializeToString())
    (found,) = router_pb2.DescribeResponse.FromString(told).ports
    return found.counters


class Reader:
    """Reads a capture until an instant while another thread lets time pass."""

    def __init__(self, channel, end, until_ps):
        request = world_pb2.CaptureRequest(ports=[world_pb2.CableEnd(node=end[0], port=end[1])])
        self.stream = channel.unary_stream(CAPTURE)(request.SerializeToString())
        # From here on it tells everything.
        self.stream.initial_metadata()
        self.until_ps = until_ps
        self.pieces = []
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for message in map(world_pb2.CaptureResponse.FromString, self.stream):
            self.pieces.append(message.pcapng)
            if message.complete_until_ps >= self.until_ps:
                return

    def frames(self):
        self.thread.join(DEADLINE_S)
        self.stream.cancel()
        return list(PcapNgReader(io.BytesIO(b"".join(self.pieces))))


def test_a_tunnel_leads_one_host_along_the_other_way(tmp_path):
    short, long, behind = frames("tunnel", [("s1", 3), ("s1", 4), ("s5", 4)], tmp_path)
    sent = [frame[IP] for frame in long if frame[IP].dst == "10.0.4.254"]
    assert sent
    for packet in sent:
        # The packet of h1 is whole inside of another.
        inner = packet.payload[IP]
        assert (packet.proto, inner.src, inner.dst) == (4, "10.0.1.1", "10.0.3.1")
        assert packet.len == inner.len + 20
    # h2's goes the short way, as itself; h1's comes out of the tunnel as itself.
    assert {frame[IP].src for frame in short if frame[IP].dst == "10.0.3.1"} == {"10.0.2.1"}
    assert {frame[IP].src for frame in behind if frame[IP].dst == "10.0.3.1"} == {"10.0.1.1"}


def test_a_hash_spreads_flows_over_both_ways_and_keeps_each_on_its_own(tmp_path):
    ways = frames("load-balancing", [("s1", 3), ("s1", 4)], tmp_path)
    sent = [
        [frame for frame in way if TCP in frame and frame[IP].src in ("10.0.1.1", "10.0.2.1")]
        for way in ways
    ]
    flows = [{(each[IP].src, each[IP].dst, each[TCP].sport) for each in way} for way in sent]
    assert flows[0] and flows[1], "both ways are used"
    assert not flows[0] & flows[1], "no flow goes by both"
    assert {flow[:2] for flow in flows[0] | flows[1]} == {
        (f"10.0.{a}.1", f"10.0.{b}.1") for a in (1, 2) for b in (3, 4)
    }


def test_a_queue_that_marks_keeps_the_line_busy_stays_short_and_drops_nothing(tmp_path):
    with running("ecn", tmp_path) as (channel, until_ps):
        reader = Reader(channel, ("s1", 3), until_ps)
        looks = [counters(channel, 3)]
        for ms in range(10, 201, 10):
            advance(channel, until_ps - SPAN_PS + ms * 10**9)
            looks.append(counters(channel, 3))
        passed = [frame for frame in reader.frames() if frame[IP].dst == "10.0.3.1"]
    before, after = looks[0].counters, looks[-1].counters
    marked = after.marked.packets - before.marked.packets
    seen = [frame[IP].tos & 3 for frame in passed if len(frame[TCP].payload)]
    # The program writes the mark into IPv4, and only packets of those who can read it come.
    assert set(seen) == {ECT_0, CE}
    # They are marked when they come: those that wait, and those on the 2 ms of cable, are between.
    between = max(looks[0].held.packets, looks[-1].held.packets) + 4
    assert seen.count(CE) == pytest.approx(marked, abs=between)
    assert marked > 2 * between
    assert before.dropped == after.dropped
    # Both flows go on, and between them they fill the line.
    carried = 8 * sum(len(frame) for frame in passed) / (SPAN_PS / 1e12)
    assert 0.95 * 20e6 <= carried <= 20.1e6
    assert {frame[IP].src for frame in passed} == {"10.0.1.1", "10.0.2.1"}
    # Marked from eight packets on, where a hundred have room.
    assert max(look.held.packets for look in looks) < 25


@pytest.mark.parametrize(("name", "hop_bytes"), [("route-inspection", 12), ("link-monitor", 14)])
def test_a_probe_has_a_hop_of_each_router(name, hop_bytes, tmp_path):
    (arrived,) = frames(name, [("s3", 2)], tmp_path)
    probes = [frame[IP] for frame in arrived if UDP in frame and frame[UDP].dport == PROBE_PORT]
    assert len(probes) >= 15, "a hundred a second"
    for packet in probes:
        trail = bytes(packet[UDP].payload)
        count = int.from_bytes(trail[:2], "big")
        assert count == 3
        assert packet.len == 20 + packet[UDP].len
        assert packet[UDP].len == 8 + 2 + count * hop_bytes + PROBE_BYTES
        given = packet.chksum
        del packet.chksum
        assert IP(bytes(packet)).chksum == given
    hops = [
        [trail[2 + at * hop_bytes :][:hop_bytes] for at in range(3)]
        for trail in (bytes(packet[UDP].payload) for packet in probes)
    ]
    ports = [{each[at][:6] for each in hops} for at in range(3)]
    assert all(len(port) == 1 for port in ports), "the same way for all"
    assert len(set.union(*ports)) == 3
    numbers = [[int.from_bytes(hop[6:10], "big") for hop in each] for each in hops]
    if name == "route-inspection":
        # A queue forms before the slow line of s1; none where h4's line begins.
        assert max(each[2] for each in numbers) > 1000 > max(each[0] for each in numbers)
    else:
        spans = [[int.from_bytes(hop[10:14], "big") for hop in each] for each in hops]
        # The line of 10 Mb/s is full: bytes times eight by microseconds.
        rates = [8 * sent[2] / span[2] for sent, span in zip(numbers[1:], spans[1:], strict=True)]
        assert 9 < sum(rates) / len(rates) < 10.5
