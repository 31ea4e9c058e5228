"""The fullest queue, since it last held no more than half of a burst."""

from collections import Counter

BURST_BYTES = 20_000
LOW_BYTES = BURST_BYTES // 2


def find(reports):
    """Place, instant and flow of the burst; None without one."""
    queues = {}
    for report in reports:
        queues.setdefault((report["router"], report["egress_port"]), []).append(report)
    place = max(queues, key=lambda each: held_most(queues[each]), default=None)
    if place is None or held_most(queues[place]) < BURST_BYTES:
        return None
    rows = sorted(queues[place], key=lambda report: report["time_s"])
    top = max(range(len(rows)), key=lambda index: rows[index]["occupancy_bytes"])
    start = top
    while start > 0 and rows[start - 1]["occupancy_bytes"] > LOW_BYTES:
        start -= 1
    since, until = came_at(rows[start]), rows[top]["time_s"]
    came = Counter(report["flow"] for report in rows if since <= came_at(report) <= until)
    return *place, since, came.most_common(1)[0][0]


def held_most(rows):
    return max(report["occupancy_bytes"] for report in rows)


def came_at(report):
    return report["time_s"] - report["latency_us"] / 1e6
