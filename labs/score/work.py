"""Work per packet: the steps of the P4 program in the switch's trace of one packet in 61."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from vitrine.v1 import router_pb2

from controller.connection import in_force
from controller.packets import Queue
from controller.router_service import RouterStub
from controller.session import Session
from labs.errors import MeasurementError
from labs.worlds.virtual.told import Watch

# A trace of every packet would be most of a run's messages. A prime, so that this is no multiple
# of what a system samples.
ONE_IN = 61


class Work(Watch[router_pb2.TraceResponse]):
    """The steps of packets of a queue and of their copies, for the length of a `with` block."""

    silence: ClassVar = "the switch traces no packets any more."

    def __init__(self, session: Session, queue: Queue) -> None:
        request = router_pb2.TraceRequest(device_id=session.device_id)
        request.filters.add(one_in=ONE_IN)
        super().__init__(in_force(RouterStub(session.channel).trace(request)))
        self._queue = queue
        # By packet; a copy's steps are its original's.
        self._steps: Counter[int] = Counter()
        self._originals: dict[int, int] = {}
        self._queued: set[int] = set()

    @property
    def steps_per_packet(self) -> float | None:
        """Program steps as TraceStep has them; None: no packet of the queue was traced."""
        if not self._queued:
            return None
        return sum(self._steps[packet] for packet in self._queued) / len(self._queued)

    def _take(self, message: router_pb2.TraceResponse) -> None:
        if message.lost_steps:
            raise MeasurementError(f"{message.lost_steps} steps of packets are missing.")
        for step in message.steps:
            packet = self._originals.get(step.packet, step.packet)
            match step.WhichOneof("kind"):
                case "program":
                    self._steps[packet] += 1
                case "copied":
                    number = getattr(step.copied, "from")
                    self._originals[step.packet] = self._originals.get(number, number)
                case "queued" if packet == step.packet and _queue(step.queued) == self._queue:
                    self._queued.add(packet)


def _queue(queue: router_pb2.QueueRef) -> Queue:
    return queue.port, getattr(queue, "class")
