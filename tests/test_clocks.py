"""Lengths of time are measured by monotonic clocks, whatever happens to the time of day.

The wall clock is read by few, each for a reason of its own; nobody waits by it. `make chaos` sets
it forth and back under a live network.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("insides", "controller", "topo", "apps", "labs", "vitrine", "course")
WALL_CLOCKS = {
    "time": {"time", "time_ns", "localtime", "gmtime", "ctime", "strftime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
# The modules that may read the time of day, and their reasons.
MAY_ASK = {
    "controller/routers.py": "which of two networks came up later, and when",
    "controller/telemetry/receive.py": "when a report arrived; INT's timestamps are wall clocks",
    "course/tools/live_host.py": "when a datagram left, for its receiver",
    "labs/archive.py": "names of kept runs",
    "labs/machine.py": "the date of a measurement",
    "labs/worlds/live/clock.py": "ping stamps its lines by the wall clock",
    "labs/worlds/live/telling.py": "where the router's zero is: both look at the same instant",
    "topo/tap.py": "the kernel stamps captured frames by the wall clock",
}


def asked(text: str) -> Iterator[tuple[int, str]]:
    """The places where a module reads the time of day, by line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if node.attr in WALL_CLOCKS.get(name, ()):
                yield node.lineno, f"{name}.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            names = {alias.name for alias in node.names} & WALL_CLOCKS["time"]
            yield from ((node.lineno, f"time.{name}") for name in sorted(names))


def found() -> dict[str, list[tuple[int, str]]]:
    files = (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))
    places = {str(file.relative_to(ROOT)): list(asked(file.read_text())) for file in files}
    return {file: lines for file, lines in places.items() if lines}


def test_the_time_of_day_is_asked_for_only_where_it_is_meant():
    others = {file: lines for file, lines in found().items() if file not in MAY_ASK}
    assert others == {}, "time.monotonic() measures lengths of time"


def test_the_list_names_nobody_who_does_not_ask():
    assert MAY_ASK.keys() <= found().keys()


@pytest.mark.parametrize(
    "line",
    [
        "end_s = time.time() + 5",
        "from time import time_ns",
        "datetime.datetime.now(datetime.UTC)",
        "clock = time.time",
    ],
)
def test_whoever_asks_is_found(line):
    assert len(list(asked(line))) == 1


@pytest.mark.parametrize("line", ["time.monotonic()", "self.time()", "queue.now()"])
def test_who_asks_another_clock_is_not(line):
    assert not list(asked(line))
