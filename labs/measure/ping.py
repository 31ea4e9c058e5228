"""Ping: the command line, and each answer with its time on the recording's clock."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

# With -D each answer begins with its time: [1700000000.123456] 64 bytes from 10.0.2.1: icmp_seq=1
# ttl=63 time=0.871 ms. An answer that came twice ends in (DUP!) and counts once.
_ANSWER = re.compile(r"^\[(\d+\.\d+)\] .* icmp_seq=(\d+) .*time=([\d.]+) ms$", re.MULTILINE)
_SENT = re.compile(r"^(\d+) packets transmitted", re.MULTILINE)


@dataclass(frozen=True)
class Echo:
    """One answer."""

    # When the request was sent.
    time_s: float
    rtt_ms: float


@dataclass(frozen=True)
class Pings:
    """What one ping saw."""

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


def command(address: str, *, interval_s: float, seconds: float) -> list[str]:
    """Pings for `seconds`, one request every `interval_s`; the last answers may take 3 s."""
    count = max(1, round(seconds / interval_s))
    timing = ["-i", f"{interval_s:g}", "-c", str(count), "-w", f"{seconds + 3:.0f}"]
    return ["ping", "-n", "-D", *timing, address]


def parse(output: str, of_wall: Callable[[float], float]) -> Pings:
    """All answers; `of_wall` translates ping's times."""
    echoes = tuple(
        Echo(of_wall(float(answered)) - float(rtt) / 1000, float(rtt))
        for answered, _, rtt in _ANSWER.findall(output)
    )
    sent = _SENT.search(output)
    return Pings(int(sent.group(1)) if sent else len(echoes), echoes)
