"""The report of a run that ended early: why, and what its instruments had seen until then.

Tables and bands of a lab compare its runs, so they need them all. What there is of each run can be
shown without: its queues, its flows, its pings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.figure

from labs.archive import Kept
from labs.definition import Figure, Lab
from labs.machine import Machine
from labs.recording import Recording
from labs.report import drawing, html, network
from labs.report.pictures import pictures_in

# Over which time a port's rate is taken, and how high a panel is.
_WINDOW_S, _PANEL_IN = 0.2, 1.9


def write(lab: Lab, kept: Kept, recordings: Mapping[str, Recording], machine: Machine) -> None:
    """Writes the page and its figures; `recordings` by the names of their folders in data/."""
    figures = kept.folder / "figures"
    shown = [_figure(name, recording) for name, recording in recordings.items()]
    drawn = (network.figure(lab.place), *(each for each in shown if each is not None))
    pictures = pictures_in(figures, drawn)
    files = [*(kept.folder / "data").rglob("*.*"), *figures.glob("*.csv")]
    names = sorted(path.relative_to(kept.folder) for path in files)
    notice = _notice(lab, kept, recordings)
    page = html.early_page(lab, notice, machine, pictures, names)
    (kept.folder / "report.html").write_text(page)


def _notice(lab: Lab, kept: Kept, recordings: Mapping[str, Recording]) -> str:
    whole = [run.name for run in lab.runs() if run.name in recordings]
    parts = [name for name in recordings if name not in whole]
    there = [f"{len(whole)} of its {len(lab.runs())} runs came to their end"]
    if parts:
        there.append(f"of others there is a part: {', '.join(parts)}")
    return (
        f"This run {kept.verdict.rstrip('.')}. {'; '.join(there)}. There is no table and no "
        "verdict, because they need all runs."
    )


def _figure(name: str, recording: Recording) -> Figure | None:
    """All that can be drawn over time; None where there is nothing of the kind."""
    ports = {port: series for port, series in recording.ports.items() if series.time_s}
    flows = {flow: each.samples for flow, each in recording.flows.items() if each.samples}
    # Of flows that had not ended only the hosts' own view of their connections is there.
    if not flows:
        flows = {host: seen for host, seen in recording.sockets.items() if seen}
    pings = {ping: each.echoes for ping, each in recording.pings.items() if each.echoes}
    count = 2 * len(ports) + bool(flows) + bool(pings)
    if count == 0:
        return None

    def draw(figure: matplotlib.figure.Figure) -> None:
        panels = drawing.stack(figure, [1] * count, title=name)
        drawing.moments(panels, recording.moments)
        rest = iter(panels)
        for port, series in ports.items():
            drawing.queue_depth(
                next(rest), series, limit_packets=None, name=f"packets that wait in {port}"
            )
            drawing.throughput(
                next(rest),
                {f"sent by {port}": drawing.port_rate(series, _WINDOW_S)},
                line_rate_bps=None,
            )
        if flows:
            drawing.congestion_window(next(rest), flows)
        if pings:
            drawing.round_trips(next(rest), pings)

    caption = f"{name}: {_words(ports, recording)}."
    return Figure(f"run-{name}", caption, draw, height=max(3.0, _PANEL_IN * count))


def _words(ports: Mapping[str, object], recording: Recording) -> str:
    spans = [series.time_s[-1] for series in recording.ports.values() if series.time_s]
    dropped = sum(series.dropped_packets for series in recording.ports.values())
    words: Sequence[str] = [
        f"{max(spans, default=0):.1f} s of {', '.join(ports)}" if ports else "what the hosts saw",
        f"{dropped} packets dropped" if ports else "",
    ]
    return ", ".join(filter(None, words))


def readable(folder: Path) -> list[Path]:
    """The folders of runs that can be read back; a full disk leaves some that cannot."""
    return sorted(path.parent for path in (folder / "data").glob("*/recording.json"))
