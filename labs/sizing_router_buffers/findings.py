"""A run's results: the original's four numbers, the cost of each loss, when the line was full."""

from __future__ import annotations

import bisect
import itertools
import math

from labs.frames import FRAME_BYTES, PAYLOAD_BYTES
from labs.measure.router import PortSeries
from labs.recording import Recording

PORT = "s1-eth2"
RTT_S = 0.020
# The original measures from second 2 to second 12.
SETTLED_S = 2.0


class Findings:
    """The original's four numbers, from the router and from the sender, and what the queue did."""

    def __init__(self, recording: Recording, window_s: float, rate_bps: float) -> None:
        series, flow = recording.ports[PORT], recording.flows["flow"]
        start_s = flow.samples[0].time_s + SETTLED_S
        end_s = start_s + window_s
        self.throughput_bps = series.rate_bps(start_s, end_s)
        # Payload that arrived for the first time, with the headers of its frames.
        self.goodput_bps = flow.throughput_bps(start_s, end_s) * FRAME_BYTES / PAYLOAD_BYTES
        dropped = series.dropped_between(start_s, end_s)
        sent = self.throughput_bps * window_s / 8 / FRAME_BYTES
        self.loss = dropped / (sent + dropped) if sent else 1.0
        settled = [sample for sample in flow.samples if start_s <= sample.time_s < end_s]
        self.rtt_ms = sum(sample.rtt_ms for sample in settled) / len(settled)
        self.window_bytes = max(sample.receiver_window_bytes for sample in settled)
        times = [drop.time_s for drop in series.drops if start_s <= drop.time_s < end_s]
        # Losses within two round trips are answered by halving the window once.
        self.loss_count = len(times) and 1 + sum(
            later - earlier > 2 * self.rtt_ms / 1000 for earlier, later in itertools.pairwise(times)
        )
        self.drops_each = dropped / self.loss_count if self.loss_count else 0.0
        self.full_after_s = full_after_s(series, rate_bps)
        depths = series.packets[series.rows(start_s, end_s)]
        self.empty_share = depths.count(0) / len(depths)
        self.highest_packets = max(depths)
        self.dropped_packets = dropped

    def numbers(self, name: str) -> dict[str, float]:
        """For results.json."""
        numbers = {
            f"{name}_throughput_bps": self.throughput_bps,
            f"{name}_goodput_bps": self.goodput_bps,
            f"{name}_loss_share": self.loss,
            f"{name}_rtt_ms": self.rtt_ms,
            f"{name}_offered_window_bytes": self.window_bytes,
            f"{name}_empty_share": self.empty_share,
            f"{name}_highest_packets": self.highest_packets,
            f"{name}_dropped_packets": self.dropped_packets,
            f"{name}_loss_count": self.loss_count,
            f"{name}_line_full_after_s": self.full_after_s,
        }
        # A line that was never full has no such instant.
        return {key: number for key, number in numbers.items() if not math.isnan(number)}


def full_after_s(series: PortSeries, rate_bps: float) -> float:
    """From the first full frame until, for a whole round trip, the line carried what it can.

    Not a number if it never did.
    """
    times, departed = series.time_s, series.departed_bytes
    # A frame that is on the line at both edges of the round trip is counted at neither.
    full_bytes = rate_bps * RTT_S / 8 - FRAME_BYTES
    first_s = None
    for end, time_s in enumerate(times):
        if first_s is None and end and departed[end] - departed[end - 1] >= FRAME_BYTES:
            first_s = time_s
        begin = bisect.bisect_left(times, time_s - RTT_S)
        if first_s is not None and departed[end] - departed[begin] >= full_bytes:
            return time_s - first_s
    return math.nan
