"""Controlled delay (Nichols and Jacobson 2012; RFC 8289)."""

from __future__ import annotations

from math import isqrt

from insides import DROP, MARK, PASS, Aqm, Packet

MS = 10**9
TARGET = 5 * MS
INTERVAL = 100 * MS
MTU = 1514


class CoDel(Aqm):
    """Drops at the head, the n-th time interval / sqrt(n) later, while packets wait too long."""

    def __init__(self, rate: int, seed: int) -> None:
        super().__init__(rate, seed)
        # When the wait will have been above the target for an interval; None while it is below.
        self.bad_from: int | None = None
        self.dropping = False
        self.next = self.count = self.count_at_start = 0
        # The last packet was dropped: the next one decides whether the schedule goes on.
        self.just_dropped = False

    def departure(self, packet: Packet, waited: int, now: int) -> int:
        """RFC 8289, section 5.5, one packet at a time."""
        bad, dropped_before = self._is_bad(packet, waited, now), self.just_dropped
        self.just_dropped = False
        if not bad:
            self.dropping = False
            return PASS
        if not self.dropping:
            self._begin(now)
        else:
            if dropped_before:
                self.next = self._following(self.next)
            if now < self.next:
                return PASS
            self.count += 1
        # The first drop has set the time of the second already.
        if self.count > self.count_at_start:
            if packet.ecn:
                self.next = self._following(self.next)
            else:
                self.just_dropped = True
        return MARK if packet.ecn else DROP

    def _is_bad(self, packet: Packet, waited: int, now: int) -> bool:
        if waited < TARGET or packet.queue_bytes <= MTU:
            self.bad_from = None
            return False
        if self.bad_from is None:
            self.bad_from = now + INTERVAL
        return now >= self.bad_from

    def _begin(self, now: int) -> None:
        """If dropping ended only a short while ago, it resumes near the rate it had then."""
        self.dropping = True
        gained = self.count - self.count_at_start
        self.count = gained if now - self.next < 16 * INTERVAL and gained > 1 else 1
        self.count_at_start = self.count
        self.next = self._following(now)

    def _following(self, time: int) -> int:
        return time + isqrt(INTERVAL * INTERVAL // max(1, self.count))
