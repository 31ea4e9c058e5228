"""The pictures of the lab: who was dropped where and when, and both books side by side."""

from __future__ import annotations

from collections import Counter

import matplotlib.figure

from labs import palette
from labs.report import drawing
from labs.where_was_it_dropped.findings import Findings, Place

COLOUR_OF = {host: palette.of_name(host) for host in ("h1", "h3", "h4")}
# How a monitoring system would show the counters.
WINDOW_S = 1.0


def timeline(canvas: matplotlib.figure.Figure, findings: Findings) -> None:
    """Above, drops a second by the counters; below, each dropped packet by its report."""
    counters, packets = drawing.stack(canvas, [1, 1.4], title="The same drops, seen in two ways")
    drops = [drop for series in findings.recording.ports.values() for drop in series.drops]
    seconds: Counter[int] = Counter()
    for drop in drops:
        seconds[int(drop.time_s / WINDOW_S)] += drop.packets
    counters.bar(
        [(second + 0.5) * WINDOW_S for second in seconds],
        list(seconds.values()),
        width=0.9 * WINDOW_S,
        color=palette.GREY,
        label="all routers' counters, each second",
    )
    counters.set_ylabel("dropped (packets)")
    drawing.legend(counters)
    # The first router stands on top, as in the other picture.
    places = findings.places[::-1]
    for sender, colour in COLOUR_OF.items():
        own = [report for report in findings.reports if findings.sender(report) == sender]
        packets.plot(
            [report.time_s for report in own],
            [places.index((*report.place, report.drop_reason or "")) for report in own],
            linestyle="",
            marker="|",
            markersize=14,
            color=colour,
            label=f"a packet of {sender}",
        )
    packets.set_yticks(range(len(places)), [words(place) for place in places])
    packets.set_ylim(-0.6, len(places) - 0.4)
    drawing.legend(packets)


def books(canvas: matplotlib.figure.Figure, findings: Findings) -> None:
    """For each place the counter's number, and the reports' with the owners of the packets."""
    axes = canvas.subplots()
    canvas.suptitle("What was dropped where: counters and reports", fontsize=11)
    counted, reported, places = findings.counted, findings.reported, findings.places
    height = 0.36
    rows = [len(places) - 1 - index for index in range(len(places))]
    axes.barh(
        [row + height / 2 for row in rows],
        [counted[place] for place in places],
        height=height,
        color="#bbbbbb",
        label="counter",
    )
    left = [0] * len(places)
    for sender, colour in COLOUR_OF.items():
        parts = [reported.get(place, Counter())[sender] for place in places]
        axes.barh(
            [row - height / 2 for row in rows],
            parts,
            left=left,
            height=height,
            color=colour,
            label=f"reports: {sender}",
        )
        left = [a + b for a, b in zip(left, parts, strict=True)]
    for row, place, total in zip(rows, places, left, strict=True):
        for value, offset in ((counted[place], height / 2), (total, -height / 2)):
            axes.annotate(
                str(value),
                (value, row + offset),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
            )
    axes.set_yticks(rows, [words(place) for place in places])
    axes.set_xlabel("dropped (packets)")
    axes.set_xlim(0, max([1, *left, *counted.values()]) * 1.15)
    axes.grid(visible=True, axis="x", color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    drawing.legend(axes)


def words(place: Place) -> str:
    """`s1 port 2, queue 0: queue limit` in two lines."""
    router, port, queue, reason = place
    return f"{router} port {port}, queue {queue}\n{drawing.words(reason)}"
