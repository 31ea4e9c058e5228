"""ConQuest: sketches of recent departures, from which a packet learns its flow's share."""

from __future__ import annotations

from labs.score.claim import Claim, from_estimates
from labs.score.system import Device, Question, Report, System

# 131 us at 1 Gb/s.
WINDOW_BITS = 17


class ConQuest(System):
    """The flows with 5 % of a deep queue or more, each once a window of 131 us."""

    name = "conquest"
    summary = "sketches of short windows, read back over a packet's wait"
    after = "Chen et al., ConQuest, CoNEXT 2019"

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._reports: list[Report] = []

    def install(self, device: Device) -> None:
        """The threshold."""
        device.write("threshold_bytes", self.question.threshold_bytes)

    def take(self, report: Report) -> None:
        """A flow with a large share, and its packets."""
        self._reports.append(report)

    def claims(self) -> list[Claim]:
        """Reports that follow each other within two windows are one build-up."""
        sightings = [report.sighting() for report in self._reports]
        window_ps = self.question.line.window_ps(WINDOW_BITS)
        return from_estimates(sightings, 2 * window_ps, window_ps=window_ps)
