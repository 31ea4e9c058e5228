"""What polls of a queue see of its build-ups, by the definitions of docs/telemetry-score.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import matplotlib.figure

from labs import palette
from labs.declared.figures import Shown
from labs.declared.measures import Measures
from labs.report import drawing
from labs.score.claim import Reading, from_readings
from labs.score.flow import Flow
from labs.score.scoring import Score, score
from labs.score.truth import BuildUp

THRESHOLD_PACKETS = 20
PS_PER_S = 10**12
US_PER_MS, MS_PER_S = 1000, 1000
# The intervals of the figure's panels, and the part of the run that it shows.
INTERVALS_MS = (1000, 100, 10)
SHOWN_S = 1.0


def buildups(run: Measures) -> float:
    """How often the queue reached the threshold."""
    return len(_buildups(run))


def deep_ms(run: Measures) -> float:
    """How long it stayed there, on average."""
    times, depths = run.series.time_s, run.series.packets
    deep = sum(depth >= THRESHOLD_PACKETS for depth in depths) / max(1, len(depths))
    count = len(_buildups(run))
    return deep * (times[-1] - times[0]) * MS_PER_S / count if count else math.nan


def seen_share(run: Measures, interval_ms: float) -> float:
    """The part of the build-ups that polls at this interval see."""
    return _score(run, interval_ms).buildups.recall or 0.0


def delay_ms(run: Measures, interval_ms: float) -> float:
    """The median time from the crossing of the threshold to the poll that sees it."""
    delay_us = _score(run, interval_ms).delay_us
    return math.nan if delay_us is None else delay_us / US_PER_MS


def polls(canvas: matplotlib.figure.Figure, runs: Mapping[str, Shown]) -> None:
    """The queue in the middle of the run, with the polls of each interval."""
    run = next(iter(runs.values())).measures
    middle_s = run.series.time_s[len(run.series.time_s) // 2]
    rows = run.series.rows(middle_s, middle_s + SHOWN_S)
    panels = canvas.subplots(len(INTERVALS_MS), 1, sharex=True, sharey=True)
    for axes, interval_ms in zip(panels, INTERVALS_MS, strict=True):
        axes.plot(run.series.time_s[rows], run.series.packets[rows], color="#999999", linewidth=1)
        seen = [
            (time_s, packets)
            for time_s, packets in _readings(run, interval_ms)
            if middle_s <= time_s <= middle_s + SHOWN_S
        ]
        axes.plot(*zip(*seen, strict=True), "o", color=palette.BLUE, markersize=4)
        axes.axhline(THRESHOLD_PACKETS, color=palette.ORANGE, linewidth=1, linestyle=":")
        axes.set_ylabel(f"packets,\neach {interval_ms} ms")
        drawing.grid(axes)
    panels[-1].set_xlabel("time (s)")


MEASURES = {
    "buildups": buildups,
    "deep_ms": deep_ms,
    "seen_share": seen_share,
    "delay_ms": delay_ms,
}
FIGURES = {"polls": polls}


# ---- the score -----------------------------------------------------------------------------------


def _score(run: Measures, interval_ms: float) -> Score:
    readings = [Reading(_ps(time_s), packets) for time_s, packets in _readings(run, interval_ms)]
    return score(from_readings(readings, THRESHOLD_PACKETS), _buildups(run))


def _readings(run: Measures, interval_ms: float) -> Iterator[tuple[float, int]]:
    """The first sample of each interval."""
    due_s = run.series.time_s[0]
    for time_s, packets in zip(run.series.time_s, run.series.packets, strict=True):
        if time_s >= due_s:
            yield time_s, packets
            due_s += interval_ms / MS_PER_S * (1 + (time_s - due_s) * MS_PER_S // interval_ms)


def _buildups(run: Measures) -> Sequence[BuildUp]:
    """From the samples, in packets; who was in the queue is not known."""
    found = []
    begin_s, crossed_s, peak_s, peak = run.series.time_s[0], -1.0, 0.0, 0
    for time_s, packets in zip(run.series.time_s, run.series.packets, strict=True):
        if crossed_s < 0 and packets >= THRESHOLD_PACKETS:
            crossed_s = time_s
        if crossed_s >= 0 and packets > peak:
            peak_s, peak = time_s, packets
        if packets <= THRESHOLD_PACKETS // 2:
            if crossed_s >= 0:
                found.append(_buildup(begin_s, crossed_s, peak_s, time_s, peak))
            begin_s, crossed_s, peak = time_s, -1.0, 0
    if crossed_s >= 0:
        found.append(_buildup(begin_s, crossed_s, peak_s, run.series.time_s[-1], peak))
    return found


def _buildup(begin_s: float, crossed_s: float, peak_s: float, end_s: float, peak: int) -> BuildUp:
    begin_ps, crossed_ps, peak_ps, end_ps = map(_ps, (begin_s, crossed_s, peak_s, end_s))
    nobody: Counter[Flow] = Counter()
    return BuildUp(begin_ps, crossed_ps, peak_ps, end_ps, peak, nobody, nobody, nobody, nobody)


def _ps(time_s: float) -> int:
    return round(time_s * PS_PER_S)
