"""Ports of a device that come and go while it runs, through `vitrine.v1.Router`.

    ports = Ports(session)
    ports.add(4, "s1-eth4", PortSettings(rate_bps=10_000_000))
    ports.remove(4)

Ports added here come back with the session after a restart of the device, which itself knows only
those of its command line.
"""

from __future__ import annotations

from vitrine.v1 import router_pb2

from controller import queue_messages
from controller.connection import REQUEST_DEADLINE_S
from controller.queueing import PortSettings
from controller.router_service import RouterStub, refusals
from controller.session import Session
from controller.stream import halves


class Ports:
    """The client of the calls about ports, on a session's connection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stub = RouterStub(session.channel)
        # By number, as they were added here.
        self._added: dict[int, tuple[str, PortSettings]] = {}
        # Queues are set on ports that are there.
        session.on_restored(self._restore, first=True)

    def devices(self) -> dict[int, str]:
        """The ports with the network devices behind them; the controller's port has none: ""."""

        def ask() -> router_pb2.DescribeResponse:
            with refusals("the device does not describe its ports"):
                request = router_pb2.DescribeRequest(device_id=self._session.device_id)
                return self._stub.describe(request, timeout=REQUEST_DEADLINE_S)

        return {port.port: port.device for port in self._session.patiently(ask).ports}

    def add(self, port: int, device: str, settings: PortSettings | None = None) -> None:
        """Puts a port in front of a network device; settings left out are as for the others."""
        wanted = settings or PortSettings()
        self._session.patiently(lambda: self._add(port, device, wanted))
        self._added[port] = (device, wanted)

    def remove(self, port: int) -> None:
        """Takes a port away; what waits in its queues is dropped and counted."""
        self._session.patiently(lambda: self._remove(port))
        self._added.pop(port, None)

    def _remove(self, port: int) -> None:
        request = router_pb2.RemovePortRequest(
            device_id=self._session.device_id,
            election_id=router_pb2.ElectionId(**halves(self._session.election_id)),
            port=port,
        )
        with refusals(f"the device does not remove port {port}"):
            self._stub.remove_port(request, timeout=REQUEST_DEADLINE_S)

    def _add(self, port: int, device: str, settings: PortSettings) -> None:
        # How many queues a port that is still to come has, only its settings can say.
        classes = range(settings.queue_count or 0)
        request = router_pb2.AddPortRequest(
            device_id=self._session.device_id,
            election_id=router_pb2.ElectionId(**halves(self._session.election_id)),
            port=port,
            device=device,
            config=queue_messages.port_message(settings, classes),
        )
        with refusals(f"the device does not add port {port}"):
            self._stub.add_port(request, timeout=REQUEST_DEADLINE_S)

    def _restore(self) -> None:
        # A restoration that was cut short may have added some of them already.
        present = self.devices()
        for port, (device, settings) in self._added.items():
            if port not in present:
                self._add(port, device, settings)
