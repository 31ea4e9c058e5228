"""Polling: the queue's depth, read at regular intervals as over SNMP or gNMI."""

from __future__ import annotations

from labs.score.claim import Claim, Reading, from_readings
from labs.score.system import Device, Question, System

PS_PER_MS = 1_000_000_000


class Polling(System):
    """The baseline: it knows depths and no flows."""

    program = "router"
    reports = False

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._readings: list[Reading] = []

    def poll(self, device: Device, now_ps: int) -> None:
        """One reading."""
        self._readings.append(Reading(now_ps, device.depth_bytes()))

    def claims(self) -> list[Claim]:
        """Deep readings one after the other are one build-up."""
        return from_readings(self._readings, self.question.threshold_bytes)


class EverySecond(Polling):
    """As most networks do it."""

    name = "polling-1s"
    summary = "the depth, read once a second"
    every_ps = 1000 * PS_PER_MS


class Every100Ms(Polling):
    """As streaming telemetry does it."""

    name = "polling-100ms"
    summary = "the depth, read every 100 ms"
    every_ps = 100 * PS_PER_MS


class EveryMs(Polling):
    """As often as a switch's control plane can."""

    name = "polling-1ms"
    summary = "the depth, read every millisecond"
    every_ps = PS_PER_MS
