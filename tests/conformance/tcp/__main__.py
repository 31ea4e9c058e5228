"""Our hosts' TCP against Linux's: `make conformance-tcp`.

    python -m tests.conformance.tcp                      compares with the live runs that are kept
    python -m tests.conformance.tcp cubic,10mbps bbr     only cells whose names have these words
    python -m tests.conformance.tcp --live               first measures what is missing (root)

Live runs are kept in `measured/`, because they take half an hour of a calm machine; virtual ones
are made each time, with as many seeds. The page is out/conformance-tcp/index.html.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conformance.tcp import archive, campaign, causes, judge, report, virtual
from tests.conformance.tcp.archive import Measured
from tests.conformance.tcp.cells import Cell, named
from tests.conformance.tcp.judge import Verdict
from tests.conformance.tcp.measurement import figures

OUT = Path(__file__).resolve().parents[3] / "out" / "conformance-tcp"


def main() -> int:
    """Status 0 if there was something to compare; which cells are met is what the page is for."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("cells", nargs="*", help="words of their names, joined by commas")
    arguments.add_argument("--live", action="store_true", help="measure missing live runs first")
    chosen = arguments.parse_args()
    cells = named(chosen.cells)
    if chosen.live:
        campaign.run(cells, OUT, rounds=2 * archive.REPETITIONS)
    kept = [(cell, live) for cell in cells if (live := archive.read(cell)) is not None]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compared = []
        for each in pool.map(lambda pair: _compare(*pair), kept):
            compared.append(each)
            print(f"{each.cell.name}: {each.verdict}", flush=True)
    met = sum(each.verdict.is_met for each in compared)
    strictly = sum(each.verdict.is_met_strictly for each in compared)
    report.pictures(compared, OUT / "cwnd.svg")
    (OUT / "table.md").write_text(report.table(compared))
    (OUT / "index.html").write_text(report.page(compared, "cwnd.svg"))
    print(
        f"{met} of {len(compared)} cells are met, {strictly} of them within the live runs' spread "
        f"alone; {len(cells) - len(kept)} have no live runs."
    )
    print(f"{OUT / 'index.html'}")
    return 0 if compared else 1


def _compare(cell: Cell, live: Measured) -> report.Compared:
    runs = [virtual.measure(cell, seed) for seed in range(1, archive.REPETITIONS + 1)]
    found = [figures(cell, run) for run in runs]
    verdict = Verdict(judge.compare(cell, live.runs, found), causes.of(cell))
    return report.Compared(cell, live, [archive.curve(run) for run in runs], verdict)


if __name__ == "__main__":
    raise SystemExit(main())
