"""Sampled mirroring: one packet in sixteen, with the depth that it left behind."""

from __future__ import annotations

from labs.score.claim import Claim, Sighting, from_sightings
from labs.score.system import Device, Question, Report, System

ONE_IN = 16


class Mirror(System):
    """sFlow's sampling; the depth is more than sFlow has."""

    name = "mirror"
    summary = f"one packet in {ONE_IN}, with the depth"
    after = "RFC 3176 (sFlow)"

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._sightings: list[Sighting] = []

    def install(self, device: Device) -> None:
        """The sampling rate."""
        device.write("one_in", ONE_IN)

    def take(self, report: Report) -> None:
        """A sample."""
        self._sightings.append(report.sighting())

    def claims(self) -> list[Claim]:
        """Samples are sixteen packets apart, so the gap is longer."""
        question = self.question
        gap_ps = question.lull_ps + ONE_IN * question.frame_ps
        return from_sightings(self._sightings, question.threshold_bytes, gap_ps)
