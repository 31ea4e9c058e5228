"""A drop monitor after NetSeer: the flows whose packets the queue drops."""

from __future__ import annotations

from labs.score.claim import Claim, from_estimates
from labs.score.system import Question, Report, System


class Drops(System):
    """It sees a build-up only when it overflows, and by its victims."""

    name = "drops"
    summary = "the flows whose packets are dropped"
    after = "Zhou et al., NetSeer, SIGCOMM 2020"
    wants_drops = True

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._reports: list[Report] = []

    def take(self, report: Report) -> None:
        """A flow, and its drops in this window."""
        self._reports.append(report)

    def claims(self) -> list[Claim]:
        """Drops that follow each other within the time that the line takes for the threshold."""
        sightings = [report.sighting() for report in self._reports]
        return from_estimates(sightings, 2 * self.question.lull_ps, has_depth=False)
