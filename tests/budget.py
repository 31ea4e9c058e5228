"""The cost of a tier of tests in counted work, and whether it exceeds its budget.

Time would depend on the machine, so these are counted, over all processes of a run:

- `tests`: tests that were run
- `processes`: processes that tests start themselves; not those that these start
- `browsers`: launches of Chromium, per test process
- `virtual_s`: seconds of virtual time that tests let pass in networks

`pytest --budget tests/budget.toml` judges a run, and is for a whole tier only: tests/python.sh.
A run that exceeds its budget fails, and names the files that cost most.
"""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import tomllib

from controller.world import PS_PER_S, Stand, World

COUNTERS = ("tests", "processes", "browsers", "virtual_s")
HEAVIEST = 5
# The interpreter's audit events that start a process.
STARTS = frozenset(("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"))

# The cost of each test file in this process, by counter.
Spent = dict[str, Counter[str]]
_spent: Spent = {counter: Counter() for counter in COUNTERS}
# Empty until the first test.
_file = ""


def count(counter: str, much: float = 1) -> None:
    """Adds to what the present file has cost; collecting tests costs nothing."""
    if _file:
        _spent[counter][_file] += much


def add(spent: Spent, more: Mapping[str, Mapping[str, float]]) -> None:
    for counter, files in more.items():
        spent[counter].update(files)


def used(spent: Spent, processes: int) -> dict[str, int]:
    """The use of each counter in a run of `processes` test processes."""
    found = {counter: round(files.total()) for counter, files in spent.items()}
    # One each, however many processors the machine has.
    found["browsers"] = -(-found["browsers"] // processes)
    return found


def excesses(spent: Spent, processes: int, budget: Mapping[str, int]) -> list[str]:
    """Excesses over the budget: a sentence per counter, with the files that cost most."""
    found = used(spent, processes)
    told = []
    for counter in COUNTERS:
        if found[counter] > budget[counter]:
            heaviest = spent[counter].most_common(HEAVIEST)
            files = ", ".join(f"{file} ({much:.0f})" for file, much in heaviest)
            told.append(
                f"{counter}: {found[counter]} of {budget[counter]}. "
                f"Mark breadth `nightly`, or raise the budget; most by {files}"
            )
    return told


def read(file: Path) -> dict[str, int]:
    """The budget in a file: a number for each counter."""
    budget = tomllib.loads(file.read_text())
    if budget.keys() != set(COUNTERS):
        raise pytest.UsageError(f"{file}: a budget has {', '.join(COUNTERS)}")
    return budget


class Plugin:
    """Counts in each test process, and judges in the one that started them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        file = config.getoption("--budget")
        self._budget = None if file is None else read(Path(file))
        self._all: Spent = {counter: Counter() for counter in COUNTERS}
        self._processes = 0
        self._told: list[str] = []
        sys.addaudithook(_hear)
        passes = World._pass
        World._pass = _counted(passes)
        config.add_cleanup(lambda: setattr(World, "_pass", passes))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        global _file
        _file = item.nodeid.partition("::")[0]
        count("tests")
        return (yield)

    def pytest_testnodedown(self, node: object) -> None:
        """Takes what a worker of xdist has counted."""
        more = getattr(node, "workeroutput", {}).get("spent")
        if more is not None:
            self._processes += 1
            add(self._all, more)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._is_worker:
            told = {counter: dict(files) for counter, files in _spent.items()}
            self._config.workeroutput["spent"] = told
            return
        if self._budget is None:
            return
        if self._processes == 0:
            self._processes = 1
            add(self._all, _spent)
        self._told = excesses(self._all, self._processes, self._budget)
        if self._told and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._is_worker or self._budget is None:
            return
        found = used(self._all, self._processes)
        shares = [f"{found[each]} of {self._budget[each]} {each}" for each in COUNTERS]
        terminalreporter.write_line(f"Budget of this tier: {', '.join(shares)}")
        for sentence in self._told:
            terminalreporter.write_line(f"OVER BUDGET: {sentence}", red=True)


def _hear(event: str, _: object) -> None:
    if event in STARTS:
        count("processes")


def _counted(passes: Callable[..., Stand]) -> Callable[..., Stand]:
    """The same, and counts the time that passes."""
    stood_ps: weakref.WeakKeyDictionary[World, int] = weakref.WeakKeyDictionary()

    def counted(self: World, request: object) -> Stand:
        stand = passes(self, request)
        # A network that was built anew begins at 0 again.
        before_ps = stood_ps.get(self, 0)
        passed_ps = stand.time_ps - before_ps if stand.time_ps >= before_ps else stand.time_ps
        count("virtual_s", passed_ps / PS_PER_S)
        stood_ps[self] = stand.time_ps
        return stand

    return counted
