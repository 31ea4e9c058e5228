"""Steps of packets as they come in messages."""

from __future__ import annotations

import pytest
from vitrine.v1 import router_pb2

from controller.packets import (
    InputQueue,
    PacketCopied,
    PacketCrossing,
    PacketDropped,
    PacketReplicated,
    packet_step,
)

KINDS = [field.name for field in router_pb2.PacketEvent.DESCRIPTOR.oneofs_by_name["step"].fields]


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_of_the_proto_file_can_be_read(kind):
    event = router_pb2.PacketEvent(packet=7)
    if kind == "replicated_by":
        event.replicated_by = 3
    else:
        getattr(event, kind).SetInParent()
    step = packet_step(5, event)
    assert (step.time_ps, step.packet) == (5, 7)
    assert step.is_last == (kind in ("dropped", "replicated_by", "transmitted"))


def test_what_python_has_other_words_for():
    event = router_pb2.PacketEvent(packet=7)
    event.copied.CopyFrom(
        router_pb2.PacketCopied(**{"from": 6}, instance_type=5, length_bytes=60, head=b"abc")
    )
    assert packet_step(1, event) == PacketCopied(1, 7, 6, 5, 60, b"abc")
    voq = router_pb2.InputQueueRef(input=1, output=2, **{"class": 3})
    crossing = router_pb2.PacketCrossing(**{"from": voq}, until_ps=9)
    event.crossing.CopyFrom(crossing)
    assert packet_step(1, event) == PacketCrossing(1, 7, InputQueue(1, 2, 3), 9)
    event.dropped.reason = router_pb2.PACKET_MEMORY
    assert packet_step(1, event) == PacketDropped(1, 7, "PACKET_MEMORY", None)
    event.replicated_by = 4
    assert packet_step(1, event) == PacketReplicated(1, 7, 4)
