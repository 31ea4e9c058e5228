"""Every step of every packet of a switch in virtual time, read by a thread until an instant."""

from __future__ import annotations

import threading

from vitrine.v1 import router_pb2

from controller.connection import in_force
from controller.packets import PacketStep, packet_step
from controller.router_service import RouterStub
from controller.session import Session
from labs.errors import MeasurementError
from labs.score.flow import HEAD_BYTES

_READ_DEADLINE_S = 60.0


class Steps:
    """A Watch of all packets, for the length of a `with` block."""

    def __init__(self, session: Session) -> None:
        request = router_pb2.WatchRequest(
            packets=True, head_bytes=HEAD_BYTES, device_id=session.device_id
        )
        self._watch = in_force(RouterStub(session.channel).watch(request))
        self._news = threading.Condition()
        self._complete_until_ps = -1
        self._error: Exception | None = None
        self.found: list[PacketStep] = []

    def __enter__(self) -> Steps:
        self._call = self._watch.__enter__()
        self._thread = threading.Thread(target=self._read, name="steps")
        self._thread.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._call.cancel()
        self._thread.join()
        self._watch.__exit__(None, None, None)

    def wait_for(self, time_ps: int) -> None:
        """Returns once every step until that instant has been read."""
        with self._news:
            read = self._news.wait_for(
                lambda: self._error is not None or self._complete_until_ps >= time_ps,
                _READ_DEADLINE_S,
            )
        if self._error is not None:
            raise self._error
        if not read:
            raise MeasurementError("the switch reports no packets any more.")

    def _read(self) -> None:
        try:
            for message in self._call:
                if message.lost_events:
                    raise MeasurementError(f"{message.lost_events} steps of packets are missing.")
                for event in message.events:
                    self.found.append(packet_step(event.time_ps, event.packet))
                if message.complete_until_ps:
                    self._until(message.complete_until_ps)
        except Exception as error:  # noqa: BLE001 (`wait_for` raises it)
            with self._news:
                self._error = error
                self._news.notify_all()

    def _until(self, time_ps: int) -> None:
        with self._news:
            self._complete_until_ps = time_ps
            self._news.notify_all()
