"""Measures what is missing of the live runs, several cells at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.tcp import archive, live
from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.measurement import figures

# Lanes and rate that one router process and its hosts sustain on two processors.
_LANES_MAX, _RATE_MAX_BPS = 6, 75_000_000


def batches(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that are measured together: not too much at once; the longest, and the fast, first."""
    packed: list[list[Cell]] = []
    for cell in sorted(cells, key=lambda cell: (-cell.seconds, -cell.rate_bps)):
        for batch in packed:
            rate_bps = sum(each.rate_bps for each in batch) + cell.rate_bps
            if len(batch) < _LANES_MAX and rate_bps <= _RATE_MAX_BPS:
                batch.append(cell)
                break
        else:
            packed.append([cell])
    return packed


def run(cells: Sequence[Cell], out: Path, *, rounds: int) -> None:
    """Runs the cells that lack repetitions, at most `rounds` times."""
    for number in range(1, rounds + 1):
        missing = [cell for cell in cells if not _is_complete(cell)]
        if not missing:
            return
        for batch in batches(missing):
            began_s = time.monotonic()
            for cell, measured in zip(batch, live.measure(batch, out / "logs"), strict=True):
                measured.save(out / f"{cell.name}-live{number}.json")
                why = archive.keep(cell, measured)
                print(f"{cell.name}: {figures(cell, measured)}", flush=True)
                if why:
                    print(f"{cell.name}: not kept: {why}", flush=True)
            print(f"[{time.monotonic() - began_s:.0f} s]", flush=True)


def _is_complete(cell: Cell) -> bool:
    measured = archive.read(cell)
    return measured is not None and measured.is_complete
