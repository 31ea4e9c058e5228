"""Every step of every packet of a switch read by a thread until an instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from vitrine.v1 import router_pb2

from controller.connection import in_force
from controller.packets import PacketStep, packet_step
from controller.router_service import RouterStub
from controller.session import Session
from labs.errors import MeasurementError
from labs.score.flow import HEAD_BYTES
from labs.worlds.virtual.told import Watch

# A run of the scoreboard has some 30,000. A program may send each packet round 4096 times.
STEPS_MAX = 1_000_000


class Steps(Watch[router_pb2.WatchResponse]):
    """A Watch of all packets, for the length of a `with` block."""

    silence: ClassVar = "the switch reports no packets any more."

    def __init__(self, session: Session, end: Callable[[], None], *, interval_ms: int = 0) -> None:
        """`end` ends the run: it is called if there are too many steps. A live router's stream has
        a sample at each interval, behind everything that happened before it."""
        request = router_pb2.WatchRequest(
            packets=True,
            head_bytes=HEAD_BYTES,
            device_id=session.device_id,
            interval_ms=interval_ms,
        )
        super().__init__(in_force(RouterStub(session.channel).watch(request)))
        self._end = end
        self.found: list[PacketStep] = []

    def _take(self, message: router_pb2.WatchResponse) -> None:
        if message.lost_events:
            raise MeasurementError(f"{message.lost_events} steps of packets are missing.")
        self.found += [packet_step(event.time_ps, event.packet) for event in message.events]
        if len(self.found) > STEPS_MAX:
            self._end()
            raise MeasurementError(f"the switch made more than {STEPS_MAX} steps with packets.")

    def _until_ps(self, message: router_pb2.WatchResponse) -> int:
        return message.complete_until_ps or message.sample.time_ps

    def check(self) -> None:
        """Raises what reading has met with."""
        if self._error is not None:
            raise self._error
