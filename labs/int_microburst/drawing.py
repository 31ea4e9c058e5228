"""The pictures of the lab: the same half minute by counters and by packets, one burst, one way."""

from __future__ import annotations

import itertools
from collections import Counter

import matplotlib.figure
from matplotlib.axes import Axes

from labs import palette
from labs.int_microburst import bursts
from labs.int_microburst.bursts import Burst
from labs.int_microburst.findings import Findings, latency_ms
from labs.measure.reports import HopReport
from labs.report import drawing

# The span that is drawn around a burst, in milliseconds from its start.
BEFORE_MS, BEHIND_MS = 3.0, 11.0
MS_PER_S = 1000.0
US_PER_MS = 1000.0
KILO = 1000.0
ROUTERS = ("s1", "s2", "s3")
COLOUR_OF_ROUTER = dict(zip(ROUTERS, (palette.SKY, palette.PURPLE, palette.OLIVE), strict=True))
COLOUR_OF_HOST = {host: palette.of_name(host) for host in ("h1", "h3", "h4")}


def overview(canvas: matplotlib.figure.Figure, findings: Findings) -> None:
    """Three views of one queue on one time axis."""
    series = findings.recording.ports["s2-eth2"]
    use, sampled, told = drawing.stack(
        canvas, [1, 1, 1.7], title="The line from s2 to s3, seen in three ways"
    )
    readings = list(zip(series.time_s, series.departed_bytes, strict=True))
    for (start_s, before), (end_s, after) in itertools.pairwise(readings):
        share = (after - before) * 8 / (end_s - start_s) / 1e6
        use.plot([start_s, end_s], [share, share], color=palette.BLUE, linewidth=2)
    drawing.level(use, 100, "line: 100 Mb/s")
    use.plot([], [], color=palette.BLUE, linewidth=2, label="counters, once a second")
    use.set_ylabel("sent (Mb/s)")
    use.set_ylim(0, 110)
    drawing.legend(use)

    sampled.plot(
        series.time_s,
        [each / KILO for each in series.bytes],
        linestyle="",
        marker="o",
        markersize=4,
        color=palette.BLUE,
        label="queue when the counters were read",
    )
    sampled.set_ylabel("queue (kB)")
    rows = bursts.by_place(findings.recording.reports).get(findings.place, [])
    drawing.stems(
        told,
        [row.time_s for row in rows],
        [0.0] * len(rows),
        [(row.occupancy_bytes or 0) / KILO for row in rows],
        color=palette.RED,
        linewidth=0.8,
        label="queue that each packet left behind, as the packet reports it",
    )
    top = max([1.0, *((row.occupancy_bytes or 0) / KILO for row in rows)])
    told.plot(
        findings.sent_s,
        [top * 1.06] * len(findings.sent_s),
        linestyle="",
        marker="v",
        markersize=5,
        color=palette.GREY,
        label="h4 sends a burst",
    )
    told.set_ylabel("queue (kB)")
    for axes in (sampled, told):
        axes.set_ylim(0, top * 1.15)
        drawing.legend(axes)


def one_burst(canvas: matplotlib.figure.Figure, findings: Findings, burst: Burst) -> None:
    """The queue packet by packet, and the arriving packets of each flow."""
    router, port, queue = burst.place
    depth, came = drawing.stack(
        canvas, [1.2, 1], title=f"One burst at {router} port {port}, queue {queue}"
    )
    rows = [
        row
        for row in bursts.by_place(findings.recording.reports)[burst.place]
        if -BEFORE_MS <= _ms(row.time_s, burst) <= BEHIND_MS
    ]
    depth.plot(
        [_ms(row.time_s, burst) for row in rows],
        [(row.occupancy_bytes or 0) / KILO for row in rows],
        color=palette.GREY,
        linewidth=0.6,
    )
    arrivals = sorted(rows, key=bursts.arrival_s)
    for host, colour in COLOUR_OF_HOST.items():
        own = [row for row in rows if findings.host_of(row.flow) == host]
        depth.plot(
            [_ms(row.time_s, burst) for row in own],
            [(row.occupancy_bytes or 0) / KILO for row in own],
            linestyle="",
            marker="o",
            markersize=3.5,
            color=colour,
            label=f"packets of {host}",
        )
        counted: Counter[str] = Counter()
        times, counts = [-BEFORE_MS], [0]
        for row in arrivals:
            if findings.host_of(row.flow) == host:
                counted[host] += 1
                times.append(_ms(bursts.arrival_s(row), burst))
                counts.append(counted[host])
        came.plot(
            [*times, BEHIND_MS],
            [*counts, counts[-1]],
            drawstyle="steps-post",
            color=colour,
            linewidth=1.4,
            label=f"{host}",
        )
    depth.set_ylabel("left behind (kB)")
    depth.set_ylim(bottom=0)
    drawing.legend(depth)
    came.set_ylabel("packets that came")
    came.set_ylim(bottom=0)
    came.set_xlabel("time from the start of the burst (ms)")
    came.set_xlim(-BEFORE_MS, BEHIND_MS)
    drawing.legend(came)


def latencies(canvas: matplotlib.figure.Figure, findings: Findings, burst: Burst) -> None:
    """Each router's delay of each packet of the background, around a burst and in two packets."""
    around, packets = canvas.subplots(1, 2, width_ratios=(1.7, 1))
    canvas.suptitle("What the routers cost the packets of h1", fontsize=11)
    router = burst.place[0]
    ways = [
        way
        for way in findings.background
        if len(way) == len(ROUTERS) and -BEFORE_MS <= _ms(way[router].time_s, burst) <= BEHIND_MS
    ]
    ways.sort(key=lambda way: bursts.arrival_s(way[router]))
    times = [_ms(bursts.arrival_s(way[router]), burst) for way in ways]
    floor = [0.0] * len(ways)
    for name in ROUTERS:
        height = [_cost_ms(way, name) for way in ways]
        top = [a + b for a, b in zip(floor, height, strict=True)]
        # A packet is a thin line, so that none is painted over its neighbour.
        own = COLOUR_OF_ROUTER[name]
        drawing.stems(around, times, floor, top, color=own, linewidth=1.2, label=f"in {name}")
        floor = top
    around.set_xlabel(f"arrival at {router}, from the start of the burst (ms)")
    around.set_ylabel("time in the routers (ms)")
    around.set_xlim(-BEFORE_MS, BEHIND_MS)
    drawing.legend(around)
    _two_packets(packets, findings, burst)
    for axes in (around, packets):
        axes.grid(visible=True, color="#e6e6e6", linewidth=0.6)
        axes.set_axisbelow(True)


def _two_packets(axes: Axes, findings: Findings, burst: Burst) -> None:
    """A packet in the middle of all and the one that met the burst, router by router."""
    whole = [way for way in findings.background if len(way) == len(ROUTERS)]
    ordinary = sorted(whole, key=latency_ms)[len(whole) // 2]
    worst = findings.worst_of(burst) or ordinary
    left = [0.0, 0.0]
    for name in ROUTERS:
        width = [_cost_ms(ordinary, name), _cost_ms(worst, name)]
        axes.barh([1, 0], width, left=left, height=0.5, color=COLOUR_OF_ROUTER[name])
        left = [a + b for a, b in zip(left, width, strict=True)]
    for place, way in ((1, ordinary), (0, worst)):
        words = ", ".join(f"{name} {_cost_ms(way, name):.2f}" for name in ROUTERS)
        axes.annotate(f"{words} ms", (0, place + 0.3), fontsize=8.5, color=palette.GREY)
    axes.set_yticks([1, 0], ["in the\nmiddle", "behind\nthe burst"])
    axes.set_ylim(-0.5, 1.7)
    axes.set_xlabel("time in the routers (ms)")


def _cost_ms(way: dict[str, HopReport], router: str) -> float:
    return (way[router].latency_us or 0.0) / US_PER_MS


def _ms(time_s: float, burst: Burst) -> float:
    return (time_s - burst.start_s) * MS_PER_S
