"""The figures as bars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import matplotlib.patches

# Pictures go to files; no display is needed.
matplotlib.use("Agg")

import matplotlib.pyplot as plt

from labs import palette

# Colours that stay apart for colour-blind readers and in grey print.
_COLOURS = {"with offloads": palette.BLUE, "without offloads": palette.RED}
Bar = tuple[str, str, float]


def draw(title: str, groups: Sequence[tuple[str, str, Sequence[Bar]]], path: Path) -> None:
    """One panel a group: its title, its unit, and (name, series, value) from top to bottom."""
    groups = [group for group in groups if group[2]]
    heights = [len({name for name, _, _ in bars}) + 1 for _, _, bars in groups]
    figure, panels = plt.subplots(
        len(groups),
        1,
        figsize=(9, 1.2 + 0.42 * sum(heights)),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    figure.suptitle(title)
    for axes, (heading, unit, bars) in zip(panels[:, 0], groups, strict=True):
        _panel(axes, heading, unit, bars)
    # One key for all, where it hides no bar.
    key = [matplotlib.patches.Patch(color=colour) for colour in _COLOURS.values()]
    figure.legend(key, list(_COLOURS), loc="outside lower center", ncols=2, fontsize=8)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _panel(axes: plt.Axes, heading: str, unit: str, bars: Sequence[Bar]) -> None:
    names = list(dict.fromkeys(name for name, _, _ in bars))
    series = list(dict.fromkeys(each for _, each, _ in bars))
    thickness = 0.8 / len(series)
    for index, each in enumerate(series):
        own = [(names.index(name), value) for name, found, value in bars if found == each]
        places = [place + (index - (len(series) - 1) / 2) * thickness for place, _ in own]
        drawn = axes.barh(
            places,
            [value for _, value in own],
            height=thickness,
            color=_COLOURS.get(each, "#009e73"),
            label=each,
        )
        labels = [f"{value:.0f}" if value >= 100 else f"{value:.3g}" for _, value in own]
        axes.bar_label(drawn, labels=labels, padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_title(f"{heading} [{unit}]", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.12)
