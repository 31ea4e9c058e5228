"""One run as a picture: the true depth of the queue, and below it what each system believed.

A bar is a claim, and the mark at it is the instant at which the controller knew. A claim that
overlaps no build-up is a false alarm; a build-up without a claim is a miss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.figure

from labs import palette
from labs.definition import Figure
from labs.glass.tape import Tape
from labs.report import drawing
from labs.score.claim import Claim
from labs.score.line import Line
from labs.score.run import THRESHOLD_BYTES, Bench, Run
from labs.score.scoring import place_of
from labs.score.system import System
from labs.score.truth import BuildUp
from labs.score.workloads import Workload

_PS_PER_MS = 1_000_000_000
_BYTES_PER_KB = 1000
# Inches of the depth, and of each system.
_DEPTH_IN, _ROW_IN = 2.4, 0.3
_HEIGHT = 0.6
_HIT, _FALSE, _MISS = "claim", "false alarm", "missed build-up"
_KNOWN = "the controller knows"


def runs(
    bench: Bench,
    systems: Sequence[type[System]],
    workload: Workload,
    seed: int,
    line: Line,
    tape: Tape | None = None,
) -> dict[str, Run]:
    """The same traffic once for each system, since its program may lengthen packets.

    `tape` records the first one's network.
    """
    found: dict[str, Run] = {}
    for each in systems:
        recorded = None if found else tape
        name = each.name or each.__name__
        found[name] = bench.run(each, workload, seed, line=line, tape=recorded)
    return found


def figure(found: Mapping[str, Run], workload: Workload) -> Figure:
    """The truth is that of the first system; each is compared with its own."""

    def draw(canvas: matplotlib.figure.Figure) -> None:
        heights = [_DEPTH_IN, _ROW_IN * len(found) + 0.3]
        above, below = canvas.subplots(2, sharex=True, height_ratios=heights)
        _draw_depth(above, next(iter(found.values())))
        for row, run in enumerate(found.values()):
            _draw_claims(below, row, run)
        below.set_yticks(range(len(found)), list(found))
        below.set_ylim(len(found) - 0.5, -0.5)
        below.set_xlabel("time (ms)")
        drawing.legend(below)

    caption = f"The queue under {workload.name}, and what each system believed about it."
    return Figure(f"beliefs-{workload.name}", caption, draw, _DEPTH_IN + _ROW_IN * len(found) + 1)


def svg(found: Mapping[str, Run], workload: Workload) -> bytes:
    """The picture as a file."""
    with drawing.drawn(figure(found, workload)) as canvas:
        return drawing.svg(canvas)


def _draw_depth(axes: drawing.Axes, run: Run) -> None:
    changes = run.truth.changes
    times = [0.0, *(change.time_ps / _PS_PER_MS for change in changes)]
    depths = [0.0, *(change.bytes / _BYTES_PER_KB for change in changes)]
    for buildup in run.buildups:
        axes.axvspan(*_span(buildup), color=drawing.PALE, label=f"{drawing.SPAN}build-up")
    axes.plot(times, depths, drawstyle="steps-post", color=palette.BLUE, linewidth=0.8)
    axes.axhline(THRESHOLD_BYTES / _BYTES_PER_KB, color=palette.GREY, linestyle=":", linewidth=1)
    axes.set_xlim(0, run.truth.end_ps / _PS_PER_MS)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("true depth (kB)")


def _draw_claims(axes: drawing.Axes, row: int, run: Run) -> None:
    places = [place_of(claim, run.buildups) for claim in run.claims]
    for claim, place in zip(run.claims, places, strict=True):
        colour = palette.RED if place is None else palette.GREEN
        label = _FALSE if place is None else _HIT
        _bar(axes, row, claim, color=colour, linewidth=0.6, label=label)
        known_ms = claim.detected_ps / _PS_PER_MS
        axes.plot([known_ms], [row], "|", color=drawing.INK, markersize=12, label=_KNOWN)
    for place, buildup in enumerate(run.buildups):
        if place not in places:
            edge = {"facecolor": "none", "edgecolor": palette.GREY, "linestyle": "--"}
            _bar(axes, row, buildup, label=_MISS, **edge)


def _bar(axes: drawing.Axes, row: int, of: Claim | BuildUp, **looks: Any) -> None:
    begin, end = _span(of)
    axes.barh(row, end - begin, left=begin, height=_HEIGHT, **looks)


def _span(of: Claim | BuildUp) -> tuple[float, float]:
    return of.begin_ps / _PS_PER_MS, of.end_ps / _PS_PER_MS
