"""The ways of packets through a router, step by step.

    with watch(session, packets=True, head_bytes=40) as told:
        for step in told:
            match step:
                case PacketQueued(): waiting[step.queue].append(step.packet)
                case PacketDeparted() if step.marked: ...

A packet has one number from its first step to its last. A step takes it out of the queue that it is
in; PacketFiled and PacketQueued put it into one, behind all others, so whoever keeps lists of
numbers knows what waits where and in which order. PacketEvent in router.proto says more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitrine.v1 import router_pb2

from controller.reasons import reason_name

# (port, class) of an output queue.
Queue = tuple[int, int]


@dataclass(frozen=True, slots=True)
class InputQueue:
    """Where packets wait at an input: its only queue, or the one for this output and class."""

    input: int
    output: int
    class_: int


@dataclass(frozen=True, slots=True)
class PacketStep:
    """Something that happened to a packet."""

    time_ps: int
    packet: int

    @property
    def is_last(self) -> bool:
        """Whether nothing more follows for this packet."""
        return isinstance(self, PacketDropped | PacketReplicated | PacketTransmitted)


@dataclass(frozen=True, slots=True)
class PacketInside(PacketStep):
    """It was inside already when the watch began."""

    # Where it came in.
    input: int
    length_bytes: int
    head: bytes
    since_ps: int
    place: InputQueue | Queue


@dataclass(frozen=True, slots=True)
class PacketReceived(PacketStep):
    """It came in by a port, or from the controller by the CPU port."""

    port: int
    length_bytes: int
    head: bytes


@dataclass(frozen=True, slots=True)
class PacketCopied(PacketStep):
    """It came into being as a copy of packet `original`."""

    original: int
    # v1model's: 1 cloned in ingress, 2 cloned in egress, 5 replicated; and 7, a mirrored drop.
    instance_type: int
    length_bytes: int
    head: bytes


@dataclass(frozen=True, slots=True)
class PacketFiled(PacketStep):
    """It waits at its input."""

    queue: InputQueue


@dataclass(frozen=True, slots=True)
class PacketCrossing(PacketStep):
    """Its input was matched with its output; both are free again at `until_ps`."""

    queue: InputQueue
    until_ps: int


@dataclass(frozen=True, slots=True)
class PacketQueued(PacketStep):
    """It waits in an output queue."""

    queue: Queue


@dataclass(frozen=True, slots=True)
class PacketDeparted(PacketStep):
    """It left its output queue, marked by active queue management or not."""

    queue: Queue
    marked: bool


@dataclass(frozen=True, slots=True)
class PacketRecirculated(PacketStep):
    """It goes through ingress again, as it would have left."""

    length_bytes: int
    head: bytes


@dataclass(frozen=True, slots=True)
class PacketTransmitted(PacketStep):
    """It left by a port, whose line is free again at `until_ps`."""

    port: int
    length_bytes: int
    until_ps: int


@dataclass(frozen=True, slots=True)
class PacketDropped(PacketStep):
    """It ended in the switch."""

    reason: str
    # The queue it was for or came from; None if the program had not decided that.
    queue: Queue | None


@dataclass(frozen=True, slots=True)
class PacketReplicated(PacketStep):
    """Its copies go on instead of it."""

    group: int


def packet_step(time_ps: int, event: router_pb2.PacketEvent) -> PacketStep:
    """The step in a message."""
    kind = event.WhichOneof("step")
    class_, values = _STEPS[kind]
    return class_(time_ps, event.packet, *values(getattr(event, kind)))


def _queue(queue: router_pb2.QueueRef) -> Queue:
    return queue.port, getattr(queue, "class")


def _input_queue(queue: router_pb2.InputQueueRef) -> InputQueue:
    return InputQueue(queue.input, queue.output, getattr(queue, "class"))


def _place(inside: router_pb2.PacketInside) -> InputQueue | Queue:
    if inside.WhichOneof("place") == "filed":
        return _input_queue(inside.filed)
    return _queue(inside.queued)


# For each field of PacketEvent.step its class, and what that takes of the field's message.
_STEPS: Mapping[str, tuple[type[Any], Callable[[Any], tuple[object, ...]]]] = {
    "inside": (
        PacketInside,
        lambda it: (it.input, it.length_bytes, it.head, it.since_ps, _place(it)),
    ),
    "received": (PacketReceived, lambda it: (it.port, it.length_bytes, it.head)),
    "copied": (
        PacketCopied,
        lambda it: (getattr(it, "from"), it.instance_type, it.length_bytes, it.head),
    ),
    "filed": (PacketFiled, lambda it: (_input_queue(it),)),
    "crossing": (PacketCrossing, lambda it: (_input_queue(getattr(it, "from")), it.until_ps)),
    "queued": (PacketQueued, lambda it: (_queue(it),)),
    "departed": (PacketDeparted, lambda it: (_queue(it.queue), it.marked)),
    "recirculated": (PacketRecirculated, lambda it: (it.length_bytes, it.head)),
    "transmitted": (PacketTransmitted, lambda it: (it.port, it.length_bytes, it.until_ps)),
    "dropped": (
        PacketDropped,
        lambda it: (reason_name(it.reason), _queue(it.queue) if it.HasField("queue") else None),
    ),
    "replicated_by": (PacketReplicated, lambda group: (group,)),
}
