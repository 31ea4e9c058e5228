"""Whether to request single packets of a router, or depths alone because packets are too many.

The page's rule is glass/js/model/patience.js, which gives the reasons; on the cases of
tests/glass/patience.json both must agree.
"""

from __future__ import annotations

import math

_LOST_TWICE_MS = 10_000
_AGAIN_MS, _AGAIN_MS_MAX = 10_000, 160_000
_BEHIND_MS = 2000
_PACKETS_BPS_MAX = 2e9


class Patience:
    """All but `begins` say whether the watch is to begin anew."""

    def __init__(self, *, is_live: bool = False) -> None:
        self.without_packets = False
        self._is_live = is_live
        self._patience_ms = _AGAIN_MS
        self._lost_at_ms = self._again_at_ms = -math.inf
        self.begins()

    def begins(self) -> None:
        """A watch begins."""
        self._least_ms = math.inf

    def told(self, now_ms: float, until_ms: float, *, has_lost: bool) -> bool:
        """Handles a report of single packets up to an instant of the router, or of missing ones."""
        if self.without_packets or not (has_lost or self._is_behind(now_ms, until_ms)):
            return False
        if now_ms - self._lost_at_ms < _LOST_TWICE_MS:
            self._give_up(now_ms)
        self._lost_at_ms = now_ms
        return True

    def refused(self, now_ms: float) -> bool:
        """The router holds more packets than it tells one by one."""
        self._give_up(now_ms)
        return True

    def sends(self, now_ms: float, bps: float) -> bool:
        """So many bits a second have just left the router."""
        is_fast = self._is_live and bps > _PACKETS_BPS_MAX
        if not self.without_packets:
            if is_fast:
                self._give_up(now_ms)
            return is_fast
        if is_fast or now_ms < self._again_at_ms:
            return False
        self.without_packets = False
        self._lost_at_ms = now_ms
        return True

    def _is_behind(self, now_ms: float, until_ms: float) -> bool:
        late_ms = now_ms - until_ms
        self._least_ms = min(self._least_ms, late_ms)
        return self._is_live and late_ms - self._least_ms > _BEHIND_MS

    def _give_up(self, now_ms: float) -> None:
        if now_ms - self._again_at_ms > _AGAIN_MS_MAX:
            self._patience_ms = _AGAIN_MS
        self.without_packets = True
        self._again_at_ms = now_ms + self._patience_ms
        self._patience_ms = min(2 * self._patience_ms, _AGAIN_MS_MAX)
