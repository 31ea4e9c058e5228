"""The headline numbers of two papers, on the scoreboard's network, with one parameter varied.

    python -m labs.score.papers       # prints the tables of docs/telemetry-score.md

ConQuest's number is about packets, not build-ups: of the packets that it marks, how many belong to
a flow that has its share of the queue. So every marked packet is reported here.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from labs.score.run import THRESHOLD_BYTES, Bench, Run
from labs.score.scoring import SHARE, Tally
from labs.score.system import PS_PER_NS, Report, System
from labs.score.systems import named, source
from labs.score.systems.conquest import ConQuest
from labs.score.systems.printqueue import PrintQueue
from labs.score.truth import Truth
from labs.score.workloads import WORKLOADS

SEEDS = range(1, 4)


class EachMarked(ConQuest):
    """Reports every packet of a flow with its share, and remembers the reports."""

    name = ""
    reports_seen: list[Report]

    def take(self, report: Report) -> None:
        """A marked packet."""
        self.reports_seen.append(report)


def marks(truth: Truth, reports: Iterable[Report], threshold_bytes: int) -> Tally:
    """Marked packets against those that found a deep queue with its share of their own flow."""
    marked = {(each.flow, each.time_ps // PS_PER_NS) for each in reports}
    right = wrong = missed = 0
    for packet, ahead in truth.waits():
        if packet.departed_ps is None or packet.found_bytes < threshold_bytes:
            continue
        own = sum(each.flow == packet.flow for each in ahead)
        is_heavy = own >= SHARE * len(ahead)
        is_marked = (packet.flow, packet.departed_ps // PS_PER_NS) in marked
        right += is_heavy and is_marked
        wrong += is_marked and not is_heavy
        missed += is_heavy and not is_marked
    return Tally(right, wrong, missed)


def conquest(bench: Bench, folder: Path) -> Iterator[str]:
    """Precision and recall by packet, by the columns of its sketches."""
    yield "| columns | memory (KiB) | workload | precision | recall |"
    yield "|---|---|---|---|---|"
    for columns in (2, 16, 128):
        system = _conquest(folder, columns)
        for workload in ("incast", "microburst"):
            tally, kib = Tally(), 0.0
            for seed in SEEDS:
                system.reports_seen = []
                run = bench.run(system, WORKLOADS[workload], seed)
                tally += marks(run.truth, system.reports_seen, THRESHOLD_BYTES)
                kib = run.cost.memory.kib
            yield (
                f"| {columns} | {kib:.1f} | {workload} "
                f"| {_share(tally.precision)} | {_share(tally.recall)} |"
            )


def printqueue(bench: Bench, folder: Path) -> Iterator[str]:
    """Accuracy by packet and bytes per packet, by the length of its cells, beside two others."""
    systems = [("INT-MD", named("int-md")), ("HashPipe", named("hashpipe"))]
    for bits in (13, 14, 15, 16):
        systems.append((f"PrintQueue, cells of {2**bits / 1000:.1f} µs", _printqueue(folder, bits)))
    yield "| system | packet precision | packet recall | F1 | bytes/packet |"
    yield "|---|---|---|---|---|"
    for what, system in systems:
        runs = [bench.run(system, WORKLOADS["microburst"], seed) for seed in SEEDS]
        precision, recall = _mean(runs, "precision"), _mean(runs, "recall")
        f1 = 2 * precision * recall / (precision + recall)
        overhead = statistics.fmean(run.cost.bytes_per_packet for run in runs)
        yield f"| {what} | {precision:.2f} | {recall:.2f} | {f1:.2f} | {overhead:.1f} |"


def _mean(runs: Sequence[Run], number: str) -> float:
    return statistics.fmean(getattr(run.score.packets, number) or 0.0 for run in runs)


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _conquest(folder: Path, columns: int) -> type[EachMarked]:
    path = _changed(
        folder,
        ConQuest,
        f"conquest_{columns}",
        {
            "COLUMNS = 128": f"COLUMNS = {columns}",
            "if (last != window)": "if (last != 0xffffffff)",
        },
    )
    return type("Marked", (EachMarked,), {"program": str(path)})


def _printqueue(folder: Path, bits: int) -> type[PrintQueue]:
    change = {"(13 - FASTER_BITS)": f"({bits} - FASTER_BITS)"}
    path = _changed(folder, PrintQueue, f"printqueue_{bits}", change)
    own = {"name": "", "program": str(path), "first_cell_bits": bits}
    return type("Coarse", (PrintQueue,), own)


def _changed(folder: Path, system: type[System], stem: str, changes: dict[str, str]) -> Path:
    """A copy of a system's program with other numbers, beside a copy of what it includes."""
    original = source(system)
    for name in ("base.p4", "main.p4"):
        (folder / name).write_text((original.parent / name).read_text())
    text = original.read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / f"{stem}.p4"
    path.write_text(text)
    return path


def main() -> None:
    """Prints both tables."""
    with tempfile.TemporaryDirectory() as name, Bench(Path(name, "world.log")) as bench:
        for table in (conquest, printqueue):
            for line in table(bench, Path(name)):
                print(line)
                sys.stdout.flush()
            print()


if __name__ == "__main__":
    main()
