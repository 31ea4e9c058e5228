"""Ping: the command line, and each answer with its time on the recording's clock."""

from __future__ import annotations

import re
from collections.abc import Callable

from labs.measure.ping import Echo, Pings

# With -D each answer begins with its time: [1700000000.123456] 64 bytes from 10.0.2.1: icmp_seq=1
# ttl=63 time=0.871 ms. An answer that came twice ends in (DUP!) and counts once.
_ANSWER = re.compile(r"^\[(\d+\.\d+)\] .* icmp_seq=(\d+) .*time=([\d.]+) ms$", re.MULTILINE)
_SENT = re.compile(r"^(\d+) packets transmitted", re.MULTILINE)


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
