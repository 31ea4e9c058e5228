"""A count-min sketch of windows of 8.4 ms: who sends the most while the queue is deep."""

from __future__ import annotations

from labs.score.claim import Claim, from_estimates
from labs.score.systems.conquest import ConQuest


class CountMin(ConQuest):
    """The flows with 5 % of a window's packets or more, each once a window."""

    name = "countmin"
    summary = "a sketch of windows of 8.4 ms, read when the queue is deep"
    after = "Cormode and Muthukrishnan, J. Algorithms 2005"

    def claims(self) -> list[Claim]:
        """Reports of one build-up, as close as the queue's departures."""
        return from_estimates(
            [report.sighting() for report in self._reports], self.question.lull_ps
        )
