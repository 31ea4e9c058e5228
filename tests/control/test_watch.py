"""Watching a real switch from Python: queues packet by packet, drops, samples, the wall clock."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from types import SimpleNamespace

import grpc
import pytest
from google.protobuf import text_format
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller.errors import RequestError
from controller.trace import Bytes, Follow, trace
from controller.watch import Crossed, Drop, QueueChange, Sample, Threshold, watch
from tests.control.conftest import DEVICE_ID, Compiled

CPU_PORT = 510
NOWHERE = 7


class Sender:
    """The primary controller of a switch that runs everything.p4; sends frames out of ports."""

    def __init__(self, channel: grpc.Channel, compiled: Compiled) -> None:
        self.session = SimpleNamespace(channel=channel, device_id=DEVICE_ID)
        self._requests: queue.Queue = queue.Queue()
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        # The stream ends with the last reference to its answers.
        self._answers = stub.StreamChannel(iter(self._requests.get, None))
        hello = p4runtime_pb2.StreamMessageRequest()
        hello.arbitration.device_id = DEVICE_ID
        hello.arbitration.election_id.low = 1
        self._requests.put(hello)
        assert next(self._answers).arbitration.status.code == 0
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest(
            device_id=DEVICE_ID,
            election_id=p4runtime_pb2.Uint128(low=1),
            action=p4runtime_pb2.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
        )
        request.config.p4info.CopyFrom(
            text_format.Parse(compiled.p4info.read_text(), p4info_pb2.P4Info())
        )
        request.config.p4_device_config = compiled.json.read_bytes()
        stub.SetForwardingPipelineConfig(request)

    def send(self, port: int, payload: bytes) -> None:
        message = p4runtime_pb2.StreamMessageRequest()
        message.packet.payload = payload
        # The fields of the program's packet_out header: the port, then padding.
        message.packet.metadata.add(metadata_id=1, value=port.to_bytes(2, "big"))
        message.packet.metadata.add(metadata_id=2, value=b"\x00")
        self._requests.put(message)

    def close(self) -> None:
        self._requests.put(None)


@pytest.fixture
def sender(switch_address: str, compiled: Compiled) -> Iterator[Sender]:
    with grpc.insecure_channel(switch_address) as channel:
        made = Sender(channel, compiled)
        yield made
        made.close()


def test_a_queue_is_told_packet_by_packet_with_its_drops_and_its_thresholds(sender: Sender):
    threshold = Threshold(CPU_PORT, 0, packets=1)
    with watch(
        sender.session,
        queues=[(CPU_PORT, 0)],
        thresholds=[threshold],
        drops=["UNKNOWN_PORT"],
        head_bytes=2,
    ) as told:
        assert told.start.held == {(CPU_PORT, 0): (0, 0)}
        # The clock of the router and that of the machine tell the same time.
        assert abs(told.epoch_s(told.start.time_ps) - time.time()) < 5
        sender.send(CPU_PORT, b"\x01" * 60)
        sender.send(NOWHERE, b"\x02" * 60)
        events = iter(told)
        # Each packet is reported before the threshold that it crosses.
        entered, above, left, below, dropped = (next(events) for _ in range(5))
    assert isinstance(entered, QueueChange) and isinstance(left, QueueChange)
    assert (entered.change, entered.packets) == ("ENQUEUED", 1)
    assert (left.change, left.packets) == ("DEPARTED", 0)
    assert above == Crossed(entered.time_ps, threshold, True, 1, entered.bytes)
    assert below == Crossed(left.time_ps, threshold, False, 0, 0)
    assert isinstance(dropped, Drop)
    assert (dropped.reason, dropped.queue) == ("UNKNOWN_PORT", (NOWHERE, 0))
    assert len(dropped.head) == 2


def test_samples_lie_on_the_multiples_of_their_interval(sender: Sender):
    with watch(sender.session, interval_ms=2, ports=[CPU_PORT]) as told:
        samples = iter(told)
        before = told.start.time_ps
        for sample in (next(samples) for _ in range(20)):
            assert isinstance(sample, Sample)
            assert list(sample.ports) == [CPU_PORT]
            interval_ps = 2 * 10**9
            due = (before // interval_ps + 1 + sample.missed) * interval_ps
            assert sample.time_ps == due
            before = due


def test_a_watch_that_cannot_be_says_why(sender: Sender):
    with (
        pytest.raises(RequestError, match="no queue 0 at port 99"),
        watch(sender.session, queues=[(99, 0)]),
    ):
        pytest.fail("there is no such queue")


def test_a_packet_is_followed_from_the_controller_to_its_end(sender: Sender):
    follow = Follow(port=CPU_PORT, patterns=[Bytes(2, b"\x07")], packets_max=1)
    with trace(sender.session, [follow]) as steps:
        sender.send(NOWHERE, b"\x01" * 60)
        sender.send(NOWHERE, b"\x07" * 60)
        life = []
        for step in steps:
            life.append(step)
            if step.is_last:
                break
    # The first frame, which was not followed, has a number, too.
    assert {step.packet for step in life} == {2}
    assert life[0].kind == "received"
    assert str(life[-1]).endswith("packet 2: dropped: UNKNOWN_PORT")
    texts = [str(step) for step in life]
    assert any("parser_state" in text for text in texts), texts
