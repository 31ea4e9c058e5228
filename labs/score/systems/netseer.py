"""Flow events after NetSeer: flows whose packets wait too long or are dropped."""

from __future__ import annotations

from labs.score.claim import Claim, from_estimates
from labs.score.system import PS_PER_NS, Device, Question, Report, System


class NetSeer(System):
    """It names the flows that suffer, which are not always those that fill the queue."""

    name = "netseer"
    summary = "the flows whose packets wait too long or are dropped"
    after = "Zhou et al., NetSeer, SIGCOMM 2020"
    wants_drops = True

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._reports: list[Report] = []

    def install(self, device: Device) -> None:
        """The wait of a packet that found a deep queue."""
        device.write("threshold_ns", self.question.threshold_ps // PS_PER_NS)

    def take(self, report: Report) -> None:
        """A flow, and its packets with this event in this window."""
        self._reports.append(report)

    def claims(self) -> list[Claim]:
        """Events that follow each other within the time that the line takes for the threshold."""
        sightings = [report.sighting() for report in self._reports]
        return from_estimates(sightings, 2 * self.question.lull_ps)
