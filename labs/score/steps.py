"""Every step of every packet of a switch in virtual time, read by a thread until an instant."""

from __future__ import annotations

from typing import ClassVar

from vitrine.v1 import router_pb2

from controller.connection import in_force
from controller.packets import PacketStep, packet_step
from controller.router_service import RouterStub
from controller.session import Session
from labs.errors import MeasurementError
from labs.score.flow import HEAD_BYTES
from labs.worlds.virtual.told import Watch


class Steps(Watch[router_pb2.WatchResponse]):
    """A Watch of all packets, for the length of a `with` block."""

    silence: ClassVar = "the switch reports no packets any more."

    def __init__(self, session: Session) -> None:
        request = router_pb2.WatchRequest(
            packets=True, head_bytes=HEAD_BYTES, device_id=session.device_id
        )
        super().__init__(in_force(RouterStub(session.channel).watch(request)))
        self.found: list[PacketStep] = []

    def _take(self, message: router_pb2.WatchResponse) -> None:
        if message.lost_events:
            raise MeasurementError(f"{message.lost_events} steps of packets are missing.")
        self.found += [packet_step(event.time_ps, event.packet) for event in message.events]
