"""One page: the table of cells, and each cell's windows over time beside each other."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt

from tests.conformance.tcp.archive import Curve, Measured
from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.judge import Verdict

_ACROSS = 6


@dataclass(frozen=True)
class Compared:
    """A cell in both worlds."""

    cell: Cell
    live: Measured
    virtual: Sequence[Curve]
    verdict: Verdict


def table(compared: Sequence[Compared]) -> str:
    """Markdown: a row for each cell, live / virtual, and why a cell is not met."""
    lines = [
        "| cell | utilisation, % | queue, packets | drops | smallest, largest share | met |",
        "|---|---|---|---|---|---|",
    ]
    for each in compared:
        numbers = {it.what: f"{it.live:.4g} / {it.virtual:.4g}" for it in each.verdict.findings}
        shares = ", ".join(
            numbers[what] for what in ("smallest share", "largest share") if what in numbers
        )
        lines.append(
            f"| {each.cell.name} | {numbers['utilisation, %']} | {numbers['queue, packets']} "
            f"| {numbers['drops']} | {shares} | {each.verdict} |"
        )
    return "\n".join([*lines, ""])


def pictures(compared: Sequence[Compared], path: Path) -> None:
    """Small multiples: the window of the first flow, live above, virtual below."""
    down = -(-len(compared) // _ACROSS)
    figure, axes = plt.subplots(
        down * 2, _ACROSS, figsize=(3.2 * _ACROSS, 2.6 * down), squeeze=False, sharex=True
    )
    for axis in axes.flat:
        axis.set_visible(False)
    for place, each in enumerate(compared):
        row, column = divmod(place, _ACROSS)
        top = 1 + max(max(curve.cwnd, default=1) for curve in (*each.live.curves, *each.virtual))
        worlds = (("live", each.live.curves, "tab:blue"), ("virtual", each.virtual, "tab:orange"))
        for below, (world, curves, colour) in enumerate(worlds):
            axis = axes[2 * row + below][column]
            axis.set_visible(True)
            for curve in curves[:1]:
                axis.plot(curve.time_s, curve.cwnd, color=colour, linewidth=0.8)
            axis.set_ylim(0, top)
            axis.tick_params(labelsize=6)
            axis.set_ylabel(world, fontsize=7)
            if below == 0:
                axis.set_title(each.cell.name, fontsize=7)
    figure.supxlabel(
        "seconds; above: cwnd in packets with Linux's TCP, below: with ours", fontsize=9
    )
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def page(compared: Sequence[Compared], picture: str) -> str:
    """The same as a page."""
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(word.strip())}</td>" for word in line.split("|")[1:-1])
        for line in table(compared).splitlines()[2:]
    )
    met = sum(each.verdict.is_met for each in compared)
    strictly = sum(each.verdict.is_met_strictly for each in compared)
    heads = ("cell", "utilisation, %", "queue, packets", "drops", "shares", "met")
    return (
        "<!doctype html><meta charset=utf-8><title>TCP, live and virtual</title>"
        "<style>body{font:14px sans-serif}td,th{padding:2px 8px;text-align:left}</style>"
        f"<h1>TCP, live and virtual: {met} of {len(compared)} cells met</h1>"
        f"<p>{strictly} of them within the spread of the live runs alone.</p>"
        f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}{rows}</table>"
        f"<img src={html.escape(picture)} alt='windows over time'>"
    )
