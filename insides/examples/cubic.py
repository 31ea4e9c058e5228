"""CUBIC (RFC 9438) as Linux computes it, with HyStart's two ways out of slow start.

    W(t) = C (t - K)^3 + Wmax       K = cbrt(Wmax (1 - beta) / C)      C = 0.4, beta = 0.7

Time is counted in 1024ths of a second, beta in 1024ths (717) and C in 1024ths (410).
"""

from __future__ import annotations

from insides import CongestionControl, Path, Window

BETA, C = 717, 410
# Linux's clock for the curve ticks 250 times a second.
TICKS_PER_S, TICK_US = 250, 4000


class Cubic(CongestionControl):
    """The window grows along a curve that is flat where packets were lost last."""

    def __init__(self, flow: int, seed: int) -> None:
        super().__init__(flow, seed)
        self.forget()

    def forget(self) -> None:
        """As at the beginning."""
        # The window before the last reduction; 0 for none.
        self.last_max = 0
        self.curve: Curve | None = None
        # Packets acknowledged for one packet more; the window and the tick it was computed for.
        self.cost, self.computed_for = 0, (0, 0)
        self.delay_min_us = 0
        self.hystart = HyStart()

    def begun(self, window: Window, path: Path) -> None:
        """The first round."""
        self.hystart.new_round(path)

    def measured(self, window: Window, path: Path, rtt_us: int) -> None:
        """Leaves slow start where HyStart says so."""
        # Right after a reduction the queue is still that of before.
        if self.curve and ticks(path) < self.curve.start + TICKS_PER_S:
            return
        rtt_us = max(rtt_us, 1)
        self.delay_min_us = min(self.delay_min_us or rtt_us, rtt_us)
        watches = not self.hystart.found and window.in_slow_start and window.cwnd >= 16
        if watches and self.hystart.finds_the_end(path, rtt_us, self.delay_min_us):
            self.hystart.found = True
            window.ssthresh = window.cwnd

    def grow(self, window: Window, path: Path, acked: int) -> None:
        """Slow start, then the curve."""
        if not path.cwnd_limited:
            return
        left = window.slow_start(acked) if window.in_slow_start else acked
        if left:
            window.additive_increase(self.cost_of_one(window.cwnd, left, ticks(path)), left)

    def cost_of_one(self, cwnd: int, acked: int, tick: int) -> int:
        """How many acknowledged packets the next packet of window costs."""
        for_cwnd, at_tick = self.computed_for
        if self.curve:
            self.curve.friendly_acked += acked
        # The curve moves slowly: 32 looks a second are enough while the window stands still,
        if for_cwnd == cwnd and tick <= at_tick + TICKS_PER_S // 32 and at_tick:
            return self.cost
        # and one look a tick while it does not.
        if self.curve is None or tick != at_tick:
            self.computed_for = (cwnd, tick)
            self.curve = self.curve or Curve(tick, cwnd, self.last_max, acked)
            # Acknowledgments come a round trip late.
            then = tick - self.curve.start - (-self.delay_min_us // TICK_US)
            target = self.curve.target(then * 1024 // TICKS_PER_S)
            self.cost = cwnd // (target - cwnd) if target > cwnd else cwnd * 100
            # Before the first loss there is no curve yet, and 5 % a round trip are safe.
            if not self.last_max:
                self.cost = min(self.cost, 20)
        ahead = self.curve.friendly_cwnd_now(cwnd) - cwnd
        if ahead > 0:
            self.cost = min(self.cost, cwnd // ahead)
        self.cost = max(self.cost, 2)
        return self.cost

    def lost(self, window: Window, path: Path) -> int:
        """RFC 9438, section 4.6, with the fast convergence of 4.7."""
        self.curve = None
        fell_short = window.cwnd < self.last_max
        self.last_max = window.cwnd * (1024 + BETA) // 2048 if fell_short else window.cwnd
        return max(window.cwnd * BETA // 1024, 2)

    def timed_out(self, window: Window, path: Path) -> None:
        """All that was learned is old."""
        self.forget()
        self.hystart.new_round(path)

    def resumed(self, window: Window, path: Path) -> None:
        """An idle time is no time in which the curve went up (RFC 9438, section 5.8)."""
        if self.curve:
            last, now = self.computed_for[1], ticks(path)
            self.curve.start = min(self.curve.start + now - max(last, self.curve.start), now)


class Curve:
    """One stretch of growth between two reductions."""

    def __init__(self, tick: int, cwnd: int, last_max: int, acked: int) -> None:
        self.start = tick
        # K^3 = what is missing / C, in 1024ths of a second.
        self.k = cube_root(max(last_max - cwnd, 0) * (1 << 40) // C)
        self.origin = max(cwnd, last_max)
        # The window of a Reno-like flow by now, and the acknowledgments not yet credited to it.
        self.friendly_cwnd, self.friendly_acked = cwnd, acked

    def target(self, t: int) -> int:
        """W(t)."""
        delta = C * abs(t - self.k) ** 3 >> 40
        return max(self.origin - delta, 0) if t < self.k else self.origin + delta

    def friendly_cwnd_now(self, cwnd: int) -> int:
        """The window of Reno with the same reduction by now (RFC 9438, section 4.3)."""
        # (1 + beta) / (1 - beta) x 8 / 3 = 15.1 eighths of the window for one packet.
        cost = max(cwnd * 15 >> 3, 1)
        while self.friendly_acked > cost:
            self.friendly_acked -= cost
            self.friendly_cwnd += 1
        return self.friendly_cwnd


class HyStart:
    """Leaves slow start before it overflows the queue (Ha and Rhee 2011; Linux)."""

    def __init__(self) -> None:
        self.found = False
        self.round_start = self.last_ack = self.round_end = self.round_rtt_us = self.samples = 0

    def new_round(self, path: Path) -> None:
        """Data sent from now on belongs to the next round."""
        self.round_start = self.last_ack = path.now
        self.round_end, self.round_rtt_us, self.samples = path.nxt, 2**32, 0

    def finds_the_end(self, path: Path, rtt_us: int, delay_min_us: int) -> bool:
        """Acknowledgments come back to back for half a round trip, or delay rises by an eighth."""
        if path.una > self.round_end:
            self.new_round(path)
        found = False
        if (path.now - self.last_ack) // 10**6 <= 2000:
            self.last_ack = path.now
            full = delay_min_us + min(65536 * 4 * 10**6 // max(path.pacing_rate, 1), 1000)
            # Pacing spreads a window over half a round trip by itself.
            threshold = full if path.paced else full // 2
            found = (path.now - self.round_start) // 10**6 > threshold
        self.round_rtt_us = min(self.round_rtt_us, rtt_us)
        if self.samples < 8:
            self.samples += 1
        elif self.round_rtt_us > delay_min_us + min(max(delay_min_us // 8, 4000), 16000):
            found = True
        return found


def ticks(path: Path) -> int:
    """Linux's clock."""
    return path.now // 10**6 // TICK_US


def cube_root(value: int) -> int:
    """The whole part, bit by bit."""
    root = 0
    for bit in reversed(range(22)):
        if (root | 1 << bit) ** 3 <= value:
            root |= 1 << bit
    return root
