"""Runs the kit's programs for the sections, some at a time, and prints how far they are."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from controller.toolchain import ROOT
from tests.finished import Finished, finished

BIN = Path(os.environ.get("VITRINE_BIN", ROOT / "build" / "bin"))
# Relative to the repository, so that messages and JSON name no folder of this machine.
INCLUDES = ("-I", "p4src/include", "-I", "p4src")
_DEADLINE_S = 600.0
_PROGRESS_S = 10.0

Item = TypeVar("Item")
Result = TypeVar("Result")


def run(*words: object, deadline_s: float = _DEADLINE_S) -> Finished:
    """Runs a command in the repository's folder."""
    return finished(words, deadline_s, folder=ROOT, typed="")


def report(done: Finished) -> list[str]:
    """Status and output of a program that was run, as lines without this machine's folders."""
    status = "late" if done.was_late else f"status {done.status}"
    return [status, *(line.replace(f"{ROOT}/", "") for line in done.output.splitlines())]


def digest(content: bytes | str) -> str:
    """The hash that stands for content too long to record."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def each(
    what: str,
    items: Sequence[Item],
    act: Callable[[Item], Result],
    jobs: int,
    *,
    in_processes: bool = False,
) -> Iterator[Result]:
    """The results in the order of the items. In processes, `act` is a function of a module."""
    began_s = said_s = time.monotonic()
    pool = ProcessPoolExecutor if in_processes else ThreadPoolExecutor
    with pool(jobs) as workers:
        for count, result in enumerate(workers.map(act, items), 1):
            now_s = time.monotonic()
            if now_s - said_s >= _PROGRESS_S:
                said_s = now_s
                took = f"{now_s - began_s:.0f} s"
                print(f"  {what}: {count} of {len(items)}, {took}", file=sys.stderr, flush=True)
            yield result
