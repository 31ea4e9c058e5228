"""`vitrine score`: prints the scoreboard while it grows, and writes it to a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.errors import SettingError
from labs.hint import meant
from labs.score import board, picture, table
from labs.score.systems import named, systems
from labs.score.workloads import WORKLOADS

SEEDS = 10
NAME = "telemetry-scoreboard"


def score(
    chosen: Sequence[str], workload: str | None, seeds: str | None, lost: str | None, out: Path
) -> None:
    """Scores these systems, or all, under a workload, or all."""
    names = [named(each).name for each in chosen] or list(systems())
    workloads = [_workload(workload)] if workload else list(WORKLOADS)
    count, share = _count(seeds), _share(lost)
    lines = [
        "# Scoreboard of telemetry systems",
        "",
        f"Means of {count} seeds with 95 % confidence intervals; "
        f"{share:.0%} of the telemetry is lost.",
        "[telemetry-score.md](telemetry-score.md) defines the numbers and the workloads.",
        "",
        f"![Precision and recall by flow against overhead]({NAME}.svg)",
    ]
    print("\n".join(lines), flush=True)
    rows: list[board.Row] = []
    for row in board.rows(names, workloads, count, lost=share):
        fresh = [table.line(row)]
        if not rows or rows[-1].workload != row.workload:
            fresh = ["", *table.heading(row.workload), *fresh]
        print("\n".join(fresh), flush=True)
        lines += fresh
        rows.append(row)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{NAME}.md").write_text("\n".join(lines) + "\n")
    (out / f"{NAME}.csv").write_text(table.as_csv(rows))
    (out / f"{NAME}.svg").write_bytes(picture.svg(rows))
    print(f"\nwritten to {out / NAME}.md, .csv and .svg")


def _workload(name: str) -> str:
    if name not in WORKLOADS:
        raise SettingError(f"there is no workload {name!r}: {meant(name, sorted(WORKLOADS))}")
    return name


def _count(seeds: str | None) -> int:
    if seeds is None:
        return SEEDS
    if not seeds.isdecimal() or not 1 <= int(seeds) <= 1000:
        raise SettingError(f"--seeds {seeds}: a number from 1 to 1000 is needed.")
    return int(seeds)


def _share(lost: str | None) -> float:
    number = (lost or "0 %").removesuffix("%").strip()
    try:
        percent = float(number)
    except ValueError:
        percent = -1.0
    if not 0 <= percent < 100:
        raise SettingError(f"--lost {lost}: a share such as '10 %' is needed.")
    return percent / 100
