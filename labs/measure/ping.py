"""ping's results: each answer with its time on the recording's clock."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Echo:
    """One answer."""

    # When the request was sent.
    time_s: float
    rtt_ms: float


@dataclass(frozen=True)
class Pings:
    """The results of one ping."""

    sent: int
    echoes: tuple[Echo, ...]

    @property
    def lost(self) -> int:
        """Requests without an answer."""
        return self.sent - len(self.echoes)

    @property
    def mean_ms(self) -> float:
        """The mean of all answers; not a number if there was none."""
        if not self.echoes:
            return math.nan
        return sum(echo.rtt_ms for echo in self.echoes) / len(self.echoes)

    def followed_by(self, later: Pings) -> Pings:
        """This ping and another one of the same path that began after it."""
        return Pings(self.sent + later.sent, self.echoes + later.echoes)

    def between(self, start_s: float, end_s: float) -> Pings:
        """The requests that were sent within a span of time and answered."""
        chosen = tuple(echo for echo in self.echoes if start_s <= echo.time_s < end_s)
        return Pings(len(chosen), chosen)
