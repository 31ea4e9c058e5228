"""NewReno's window (RFC 5681, RFC 6582): one packet more a round trip, half after a loss."""

from __future__ import annotations

from insides import CongestionControl, Path, Window


class Reno(CongestionControl):
    """Keeps nothing beyond the window."""

    def grow(self, window: Window, path: Path, acked: int) -> None:
        """RFC 5681, section 3.1: doubles a round trip below the threshold, then adds one."""
        if not path.cwnd_limited:
            return
        left = window.slow_start(acked) if window.in_slow_start else acked
        if left:
            window.additive_increase(window.cwnd, left)

    def lost(self, window: Window, path: Path) -> int:
        """RFC 5681, equation (4), in packets of the window as Linux does."""
        return max(window.cwnd // 2, 2)
