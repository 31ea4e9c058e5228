"""`tests/oracles.sh record [FOLDER]` and `tests/oracles.sh compare OLD NEW`.

A record is a folder with a subfolder for each section and a few text files in each. COUNT sets the
number of generated programs, SEEDS that of simulated control-plane histories, LABS=whole runs labs
at full length, ONLY="programs labs" selects sections, JOBS sets the number of processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from controller.toolchain import ROOT
from tests.oracles import sections
from tests.oracles.compare import differences
from tests.oracles.sizes import Sizes

DEFAULT = ROOT / "out" / "oracles"


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit status: 1 if something differs, 2 if there is nothing to judge."""
    parser = argparse.ArgumentParser(prog="tests/oracles.sh", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="record all sections into a folder")
    record.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    compare = commands.add_parser("compare", help="print how two records differ")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    commands.add_parser("sections", help="list the sections")
    arguments = parser.parse_args(words)
    try:
        chosen = sections.chosen(os.environ.get("ONLY", ""))
        if arguments.command == "record":
            return _record(arguments.folder, chosen)
    except sections.SectionError as error:
        print(f"oracles: {error}", file=sys.stderr)
        return 2
    if arguments.command == "compare":
        return _compare(arguments.old, arguments.new, chosen)
    for name in chosen:
        print(f"{name:14} {sections.summary(name)}")
    return 0


def _record(folder: Path, chosen: Sequence[str]) -> int:
    sizes, failed = Sizes.from_environment(os.environ), []
    for name in chosen:
        began_s = time.monotonic()
        try:
            sections.record(name, folder, sizes)
        except sections.SectionError as error:
            failed.append(name)
            print(f"{name:14} failed: {error}", file=sys.stderr)
            continue
        print(f"{name:14} {time.monotonic() - began_s:7.1f} s", flush=True)
    if failed:
        print(f"oracles: not recorded: {', '.join(failed)}", file=sys.stderr)
    return 2 if failed else 0


def _compare(old: Path, new: Path, chosen: Sequence[str]) -> int:
    compared, differing = 0, []
    for name in chosen:
        before, after = old / name, new / name
        if not before.exists() and not after.exists():
            print(f"{name:14} not recorded")
            continue
        compared += 1
        found = differences(before, after)
        print(f"{name:14} {'differs' if found else 'same'}")
        for line in found:
            print(f"  {line}")
        if found:
            differing.append(name)
    if not compared:
        print(f"oracles: no section is recorded in {old} or {new}", file=sys.stderr)
        return 2
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
