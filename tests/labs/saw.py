"""Readings as a TCP flow makes them, computed by hand: a queue that fills, drops, halves, fills."""

from labs.sampling import Reading
from labs.view import Subject

SUBJECT = Subject("s1 port 2 toward h2", line_rate_bps=10_000_000, limit_packets=50)

# A line of 10 Mb/s that is always busy sends 1,250,000 bytes a second.
LINE_BYTES_PER_S = 1_250_000
TOOTH_S = 2.0


def saw(duration_s: float, interval_s: float = 0.02) -> list[Reading]:
    """Teeth of two seconds, each from 25 to 50 packets, one packet dropped at each tip."""
    readings = []
    for index in range(round(duration_s / interval_s) + 1):
        time_s = index * interval_s
        depth = int(25 + 25 * (time_s % TOOTH_S) / TOOTH_S)
        sent = round(time_s * LINE_BYTES_PER_S)
        readings.append(
            Reading(
                time_s=time_s,
                depth_packets=depth,
                depth_bytes=depth * 1514,
                departed_bytes=sent,
                departed_packets=sent // 1514,
                dropped_packets=int(time_s / TOOTH_S),
            )
        )
    return readings
