"""`vitrine score`: prints the scoreboard while it grows, and writes it to a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.errors import SettingError
from labs.score import beliefs, board, picture, replay, table
from labs.score.conductor import share_of
from labs.score.line import Line, of_rate
from labs.score.run import Bench
from labs.score.systems import named, references, systems
from labs.score.workloads import WORKLOADS
from labs.score.workloads import named as workload_of
from topo.units import counted

SEEDS = 20
NAME = "telemetry-scoreboard"
BELIEFS = "telemetry-beliefs"
REPLAY = "telemetry-replay"
LIVE = "telemetry-live"
LIVE_WORKLOAD, LIVE_SEEDS = "microburst", 5
# A live network has one router, and its polls come late.
LIVE_SYSTEMS = ("postcards", "burstradar", "conquest", "netseer", "mirror")


def score(
    chosen: Sequence[str],
    workload: str | None,
    seeds: str | None,
    lost: str | None,
    out: Path,
    *,
    rate: str | None = None,
    believed: bool = False,
    replayed: bool = False,
    live: bool = False,
) -> None:
    """Scores these systems, or all, under a workload, or all; a system is a name or a file.

    `believed` also draws the claims of the first seed below the true queue; `replayed` also
    writes a page that replays the queue packet by packet. `live` compares runs on a live network
    with those in virtual time, and writes nothing else.
    """
    if live:
        _compare(chosen, workload, seeds, rate, out, refused=believed or replayed or bool(lost))
        return
    names = _references(chosen) or list(systems())
    workloads = [workload_of(workload).name] if workload else list(WORKLOADS)
    count, share, line = _count(seeds), share_of(lost), of_rate(rate)
    lines = [
        "# Scoreboard of telemetry systems",
        "",
        f"Means of {counted(count, 'seed')} with 95 % confidence intervals, on a line of "
        f"{line}; {100 * share:g} % of the telemetry is lost.",
        "[telemetry-score.md](telemetry-score.md) defines the numbers and the workloads.",
        "",
        f"![Precision and recall by flow against overhead]({NAME}.svg)",
    ]
    print("\n".join(lines), flush=True)
    rows: list[board.Row] = []
    for row in board.rows(names, workloads, count, lost=share, line=line):
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
    if believed or replayed:
        _show_beliefs(names, workloads, line, out, drawn=believed, replayed=replayed)


def _compare(
    chosen: Sequence[str],
    workload: str | None,
    seeds: str | None,
    rate: str | None,
    out: Path,
    *,
    refused: bool,
) -> None:
    """Live runs beside virtual ones of the usual seeds."""
    from labs.score import compared

    if refused:
        raise SettingError("--live goes with --workload, --seeds, --rate and --out only.")
    traffic, line = workload_of(workload or LIVE_WORKLOAD), of_rate(rate)
    if line.faster > 1:
        raise SettingError(f"--live --rate {rate}: 1 Gb/s or 100 Mb/s, which a machine can carry.")
    references = _references(chosen or LIVE_SYSTEMS)
    for reference in references:
        compared.check(reference)
    count = LIVE_SEEDS if seeds is None else _count(seeds)
    lines = compared.heading(traffic.name, line, count, SEEDS)
    print("\n".join(lines), flush=True)
    found = []
    for each in compared.compared(references, traffic.name, count, SEEDS, line):
        found.append(each)
        lines.append(compared.row(each))
        print(lines[-1], flush=True)
    lines += ["", compared.agreement(found)]
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{LIVE}-{traffic.name}.md"
    file.write_text("\n".join(lines) + "\n")
    print(f"\n{lines[-1]}\nwritten to {file}")


def _show_beliefs(
    names: Sequence[str],
    workloads: Sequence[str],
    line: Line,
    out: Path,
    *,
    drawn: bool,
    replayed: bool,
) -> None:
    """The first seed once more: as a picture, as a page, or both."""
    kinds = [named(each) for each in names]
    with Bench.temporary() as bench:
        for workload in map(workload_of, workloads):
            files = []
            if replayed:
                files.append(out / f"{REPLAY}-{workload.name}.html")
                found = replay.write(bench, kinds, workload, files[-1], line=line)
            else:
                found = beliefs.runs(bench, kinds, workload, 1, line)
            if drawn:
                files.append(out / f"{BELIEFS}-{workload.name}.svg")
                files[-1].write_bytes(beliefs.svg(found, workload))
            for file in files:
                print(f"written to {file}", flush=True)


def _references(chosen: Sequence[str]) -> list[str]:
    """Each system once, in the order in which they were named."""
    found = list(dict.fromkeys(each for text in chosen for each in references(text)))
    names = [named(each).name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"two of the systems are named {name!r}: rename yours.")
    return found


def _count(seeds: str | None) -> int:
    if seeds is None:
        return SEEDS
    if not seeds.isdecimal() or not 1 <= int(seeds) <= 1000:
        raise SettingError(f"--seeds {seeds}: a number from 1 to 1000 is needed.")
    return int(seeds)
