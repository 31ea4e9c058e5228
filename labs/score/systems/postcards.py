"""Postcards with a threshold: each packet that leaves a deep queue behind is reported."""

from __future__ import annotations

from labs.score.claim import Claim, Sighting, from_sightings
from labs.score.system import Device, Question, Report, System


class Postcards(System):
    """INT-XD of one hop, with the depth as the trigger."""

    name = "postcards"
    summary = "each packet that leaves a deep queue behind"
    after = "P4.org, INT 2.1, mode XD"

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._sightings: list[Sighting] = []

    def install(self, device: Device) -> None:
        """The threshold."""
        device.write("threshold_bytes", self.question.threshold_bytes)

    def take(self, report: Report) -> None:
        """A packet that left."""
        self._sightings.append(report.sighting())

    def claims(self) -> list[Claim]:
        """Deep packets that leave one after the other are one build-up."""
        question = self.question
        return from_sightings(self._sightings, question.threshold_bytes, question.lull_ps)
