"""Precision and recall against overhead: a panel for each workload and either number."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.figure

from labs import palette
from labs.definition import Figure
from labs.report import drawing
from labs.score.board import Row

_MARKS = "osD^v<>phX*P"
_PANEL_IN = 2.6


def svg(rows: Sequence[Row]) -> bytes:
    """The figure of the scoreboard."""
    figure = Figure("score", "", lambda canvas: _draw(canvas, rows), height=2 * _PANEL_IN + 0.8)
    with drawing.drawn(figure) as canvas:
        return drawing.svg(canvas)


def _draw(canvas: matplotlib.figure.Figure, rows: Sequence[Row]) -> None:
    workloads = list(dict.fromkeys(row.workload for row in rows))
    systems = list(dict.fromkeys(row.system for row in rows))
    panels = canvas.subplots(2, len(workloads), sharex=True, sharey=True, squeeze=False)
    for column, workload in enumerate(workloads):
        for axes, number in zip(panels[:, column], ("flow_precision", "flow_recall"), strict=True):
            for row in rows:
                if row.workload == workload:
                    _point(axes, row, number, systems.index(row.system))
            axes.set_xscale("symlog", linthresh=0.1)
            axes.set_xlim(-0.05, 1000)
            axes.set_xticks([0, 1, 100], ["0", "1", "100"])
            axes.set_ylim(-0.05, 1.05)
        panels[0, column].set_title(workload, loc="left")
        panels[1, column].set_xlabel("bytes/packet")
    panels[0, 0].set_ylabel("flow precision")
    panels[1, 0].set_ylabel("flow recall")
    marks = {
        label: mark
        for axes in panels.flat
        for mark, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    named = [name for name in systems if name in marks]
    canvas.legend([marks[name] for name in named], named, loc="outside upper center", ncols=6)


def _point(axes: drawing.Axes, row: Row, number: str, index: int) -> None:
    mean, cost = row.means[number], row.means["bytes_per_packet"]
    if mean is None or cost is None:
        return
    axes.errorbar(
        [cost.value],
        [mean.value],
        yerr=[mean.half],
        fmt=_MARKS[index % len(_MARKS)],
        color=palette.FLOWS[index % len(palette.FLOWS)],
        label=row.system,
        # Hollow, as systems that are equally good lie on each other.
        markerfacecolor="none",
        markersize=6,
        linewidth=1,
    )
