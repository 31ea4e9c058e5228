"""Generated programs one after the other: `python -m tests.generated --from 0 --count 1000`.

Each program that fails is made smaller and kept in out/generated/SEED. With ORACLE=<folder> the P4
project's compiler and switch run the same programs (`oracle.py`). `python -m tests.ledger` says how
many there were in all runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests import ledger
from tests.generated import grow, oracle, play
from tests.generated.check import check


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="tests.generated", description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1000, help="how many seeds")
    arguments = parser.parse_args()
    theirs = os.environ.get("ORACLE")
    if theirs:
        oracle.use(theirs)
    began_s, kinds, known, packets = time.monotonic(), Counter(), Counter(), 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        result = check(seed)
        packets += result.packets
        if result.failure is not None:
            kinds[result.failure.kind] += 1
            print(result.told(), flush=True)
        if theirs:
            for told in _beside(seed):
                (known if told.is_known else kinds)[told.kind] += 1
    took_s = time.monotonic() - began_s
    ledger.add("generated programs", arguments.count, took_s)
    print(f"{arguments.count} programs, {packets} packets, {took_s:.0f} s, {kinds.total()} failed")
    for kind, count in kinds.most_common():
        print(f"  {count:6} {kind}")
    for kind, count in known.most_common():
        print(f"  {count:6} known: {kind}")
    return 1 if kinds else 0


def _beside(seed: int) -> list[oracle.Difference]:
    """The P4 project's differences; unknown ones are reported."""
    made = play.case(play.defined(grow.program(seed)))
    with tempfile.TemporaryDirectory() as folder:
        found = oracle.differences(made, Path(folder), seed % 1000)
    for each in found:
        if not each.is_known:
            print(f"seed {seed}, {each.kind}: {each.text}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
