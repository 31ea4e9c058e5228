"""How much has been tried on this machine, in all runs together.

    python -m tests.ledger                                    # the totals
    python -m tests.ledger add "fuzz stf" 1200000 60          # so many, in so many seconds

What is tried at random earns trust by its number, and no single run has enough of it: fuzzers,
generated programs, histories of controllers. Each run adds a line to out/ledger and never changes
one, so a total can be reckoned again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from controller.toolchain import ROOT

LEDGER = ROOT / "out" / "ledger"


@dataclass(frozen=True)
class Run:
    """A line of the ledger."""

    when: str
    commit: str
    what: str
    count: int
    took_s: float

    @classmethod
    def parse(cls, line: str) -> Run:
        when, commit, what, count, took_s = line.rstrip("\n").split("\t")
        return cls(when, commit, what, int(count), float(took_s))

    def line(self) -> str:
        return "\t".join((self.when, self.commit, self.what, str(self.count), f"{self.took_s:.0f}"))


def add(what: str, count: int, took_s: float) -> None:
    """Writes down that a run has ended."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    git = ("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    # The sources of a release have no history.
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip() or "-"
    LEDGER.parent.mkdir(parents=True, exist_ok=True)
    with LEDGER.open("a") as ledger:
        ledger.write(f"{Run(when, commit, what, count, took_s).line()}\n")


def runs() -> list[Run]:
    """All that was ever written down."""
    return [Run.parse(line) for line in LEDGER.open()] if LEDGER.exists() else []


def table(runs: Iterable[Run]) -> str:
    """The targets, how often each ran in all, how long that took and how quick it was."""
    counts: dict[str, int] = {}
    spans_s: dict[str, float] = {}
    for run in runs:
        counts[run.what] = counts.get(run.what, 0) + run.count
        spans_s[run.what] = spans_s.get(run.what, 0.0) + run.took_s
    lines = [f"{'':32}{'in all':>16}{'hours':>8}{'per second':>12}"]
    fuzzed = [what for what in counts if what.startswith("fuzz ")]
    rows = [(what, [what]) for what in sorted(counts)]
    if len(fuzzed) > 1:
        rows.append(("all fuzzers", fuzzed))
    for told, whats in rows:
        count, took_s = (sum(of[what] for what in whats) for of in (counts, spans_s))
        pace = f"{count / took_s:.0f}" if took_s else "-"
        lines.append(f"{told:32}{count:16,}{took_s / 3600:8.2f}{pace:>12}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    if arguments and arguments[0] == "add":
        what, count, took_s = arguments[1:]
        add(what, int(count), float(took_s))
    else:
        print(table(runs()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
