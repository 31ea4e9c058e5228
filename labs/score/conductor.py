"""Lets time pass, calls a system's `poll`, and hands it the reports of the switch."""

from __future__ import annotations

import random
from collections.abc import Iterable

from controller.packets import PacketTransmitted
from controller.session import Packet, Session
from controller.world import World
from labs.errors import MeasurementError, SettingError
from labs.score.device import SessionDevice
from labs.score.flow import Flow
from labs.score.line import Line
from labs.score.steps import Steps
from labs.score.system import PS_PER_NS, Report, System
from labs.score.workloads import SPAN_MS

CPU_PORT = 510
# The queue is empty this long after the last packet was sent.
REST_MS = 10
_PS_PER_MS = 10**9


class Conductor:
    """One run."""

    def __init__(
        self,
        world: World | None,
        session: Session,
        steps: Steps,
        system: System,
        device: SessionDevice,
        lost: float,
        seed: int,
        line: Line,
    ) -> None:
        self._world, self._session, self._steps = world, session, steps
        self._system, self._device = system, device
        self._lost, self._rng = lost, random.Random(f"loss of telemetry {seed}")
        self._line = line
        # Steps that have been looked at for reports, and when each report reached the controller.
        self._seen = 0
        self._arrivals_ps: list[int] = []

    def run(self) -> int:
        """The instant of the end."""
        assert self._world is not None, "a live run has its own way through time"
        end_ps = self._line.span((SPAN_MS + REST_MS) * _PS_PER_MS)
        every_ps = self._system.every_ps or end_ps
        now_ps = 0
        while now_ps < end_ps:
            now_ps = self._world.advance(min(every_ps, end_ps - now_ps)).time_ps
            self._steps.wait_for(now_ps)
            self._hand_over()
            if self._system.every_ps and now_ps % every_ps == 0:
                self._poll(now_ps)
        return now_ps

    def _poll(self, now_ps: int) -> None:
        if not self._is_lost():
            self._system.poll(self._device, now_ps)

    def _hand_over(self) -> None:
        for step in self._steps.found[self._seen :]:
            if isinstance(step, PacketTransmitted) and step.port == CPU_PORT:
                self._arrivals_ps.append(step.time_ps)
        self._seen = len(self._steps.found)
        self._session.settle()
        arrivals, self._arrivals_ps = self._arrivals_ps, []
        for known_ps in arrivals:
            packet = self._session.receive(0.0)
            if packet is None:
                raise MeasurementError("a report did not come to the controller.")
            report = self._report(packet, known_ps)
            self.take([] if report is None else [report])

    def _report(self, packet: Packet, known_ps: int) -> Report | None:
        if not packet.metadata:
            return self._system.report_of(packet.payload, known_ps)
        return _report(packet, known_ps)

    def take(self, reports: Iterable[Report]) -> None:
        """Hands the system those reports that are not lost."""
        for report in reports:
            if not self._is_lost():
                self._system.take(report)

    def _is_lost(self) -> bool:
        return self._lost > 0 and self._rng.random() < self._lost


def _report(packet: Packet, known_ps: int) -> Report:
    fields = {name: int(str(value)) for name, value in packet.metadata.items()}
    return Report(
        known_ps,
        fields["time_ns"] * PS_PER_NS,
        fields["depth_bytes"],
        fields["wait_ns"] * PS_PER_NS,
        fields["packets"],
        fields["reason"],
        Flow(
            *(fields["src_addr"], fields["dst_addr"], fields["protocol"]),
            *(fields["src_port"], fields["dst_port"]),
        ),
    )


def share_of(lost: str | None) -> float:
    """A share of telemetry that is lost, as `--lost` has it."""
    number = (lost or "0 %").removesuffix("%").strip()
    try:
        percent = float(number)
    except ValueError:
        percent = -1.0
    if not 0 <= percent < 100:
        raise SettingError(f"--lost {lost}: a share below 100 % is needed, such as '10 %'.")
    return percent / 100
