"""The classics do what their cards in the gallery say, seen on their cables."""

import contextlib
import io
import threading

import pytest
from scapy.layers.inet import IP, UDP
from scapy.utils import PcapNgReader
from vitrine.v1 import world_pb2

from labs.scenarios import script
from labs.scenarios.classics import classics
from labs.worlds.virtual import server
from tests.page.in_a_process import ADVANCE, ask, begun

CAPTURE = "/vitrine.v1.World/Capture"
SPAN_PS = 200 * 10**9
DEADLINE_S = 120
PROBE_PORT = 5005
PROBE_BYTES = 64


def frames(name, ends, tmp_path):
    """What passes on cables of a scenario in 200 ms, a list for each end."""
    scenario = next(each for each in classics() if each.name == name)
    written = script.written(scenario, tmp_path / "writing.log")
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server.serving(tmp_path / "world.log"))
        channel = stack.enter_context(begun(address, written))
        until_ps = written["settled_ps"] + SPAN_PS
        readers = [Reader(channel, end, until_ps) for end in ends]
        advance = world_pb2.AdvanceRequest(time_ps=until_ps)
        ask(channel, ADVANCE, advance.SerializeToString())
        return [reader.frames() for reader in readers]


class Reader:
    """Reads a capture until an instant while somebody else lets time pass."""

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
        # A queue stands in front of the slow line of s1; none where h4's line begins.
        assert max(each[2] for each in numbers) > 1000 > max(each[0] for each in numbers)
    else:
        spans = [[int.from_bytes(hop[10:14], "big") for hop in each] for each in hops]
        # The line of 10 Mb/s is full: bytes times eight by microseconds.
        rates = [8 * sent[2] / span[2] for sent, span in zip(numbers[1:], spans[1:], strict=True)]
        assert 9 < sum(rates) / len(rates) < 10.5
