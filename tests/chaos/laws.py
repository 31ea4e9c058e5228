"""Laws that must hold once every fault is repaired, and how soon.

* what was promised: datagrams of all hosts arrive, reports come, tables have what they should have,
  the controller is in charge; TCP goes on a little later, because it doubles its patience at each
  loss;
* always: no byte, datagram or report is wrong, the one TCP connection lives, the books balance;
* nothing leaks: descriptors, threads and memory of routers and of the controller.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from controller.connection import is_passing
from controller.errors import ControllerError
from tests.chaos.errors import LawError
from tests.chaos.holdings import Holdings, interfaces
from tests.chaos.network import MEMORY_BYTES, Network
from topo import preflight, wait

# More than are under way at any time: these were sent after the end of the fault.
_DATAGRAMS, _TCP_BYTES = 50, 100_000
# TCP's patience after three seconds of silence is at most six seconds, and it may just have begun.
TCP_GOES_ON_S = 15.0
# How long idle threads and connections that clients left behind may stay, and what they took.
_SETTLE_S = 60.0
# A thread pool and current connections. A leak exceeds this in the end.
_MORE_DESCRIPTORS, _MORE_THREADS = 16, 8
# Memory that heaps keep after a peak, as docs/threat-model.md says, and a replaced program.
_MORE_MEMORY_SHARE, _MORE_MEMORY_BYTES = 0.1, 24 << 20
# A request that a busy router does not answer within its deadline is repeated.
_ANSWERS_S = 60.0
# The controller holds calls, their threads and connections of its own.
_MORE_OF_OURS = 48


@dataclass
class Laws:
    """The laws of one network; created when it is up and nothing is wrong."""

    network: Network
    # Of all routers' ports.
    interfaces: frozenset[str] = field(init=False)
    ours: Holdings = field(default_factory=lambda: Holdings.of(os.getpid()))
    # Of each router's process, when it was new and at work.
    first: dict[int, Holdings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.interfaces = frozenset(preflight.interface_names(self.network.live.topology))

    def await_return(self, promised_s: float, since_s: float | None = None) -> float:
        """Waits until everything but TCP is as it was; returns after how many seconds it is.

        They count from `since_s` on, when mending began, or from now.
        """
        begun_s = time.monotonic() if since_s is None else since_s
        arrived = self.network.tallies["udp"]["received"] + _DATAGRAMS
        reported = self.network.tallies["reports"]["received"] + _DATAGRAMS
        self._within(promised_s, "sessions", self._sessions, begun_s)
        self._within(
            promised_s,
            "datagrams",
            lambda: _lacking(self.network.tallies["udp"]["received"], arrived),
            begun_s,
        )
        took_s = time.monotonic() - begun_s
        self._within(
            promised_s,
            "reports",
            lambda: _lacking(self.network.tallies["reports"]["received"], reported),
            begun_s,
        )
        self._within(promised_s, "tables", self._tables, begun_s)
        return took_s

    def await_tcp(self) -> float:
        """Waits until TCP has gone on; returns after how many seconds."""
        begun_s = time.monotonic()
        wanted = self.network.tallies["tcp"]["bytes"] + _TCP_BYTES
        self._within(
            TCP_GOES_ON_S, "TCP", lambda: _lacking(self.network.tallies["tcp"]["bytes"], wanted)
        )
        return time.monotonic() - begun_s

    def check(self) -> None:
        """All that holds always."""
        self._contents()
        self.check_books()
        missing = self.interfaces - interfaces()
        if missing:
            raise LawError(f"interfaces are missing: {', '.join(sorted(missing))}.")
        self.check_holdings()

    def check_books(self) -> None:
        """The books of all routers balance."""
        for name in self.network.routers:
            self._within(_ANSWERS_S, f"the books of {name}", lambda of=name: self._books(of))

    def _books(self, router: str) -> str | None:
        """Why it is unknown whether the counters balance; raises if they do not."""
        try:
            is_balanced = self.network.queues[router].describe().books.balanced
        except ControllerError as error:
            if not is_passing(error):
                raise
            return str(error)
        if not is_balanced:
            raise LawError(f"the books of {router} do not balance.")
        return None

    def _contents(self) -> None:
        network = self.network
        for process in network.talking:
            if process.has_ended():
                raise LawError(f"{' '.join(process.argv[-2:])} ended: {process.last_words()}")
        for name, tallies in network.tallies.items():
            for wrong in ("wrong", "out_of_order", "malformed"):
                count = tallies.get(wrong)
                if count:
                    raise LawError(f"{name}: {count} {wrong.replace('_', ' ')}.")
        if network.tallies["tcp"]["connections"] != 1:
            raise LawError("the TCP connection was made more than once.")
        for name, churn in network.churns.items():
            if churn.wrong:
                raise LawError(f"{name}: {'; '.join(churn.wrong)}")

    def check_holdings(self) -> None:
        """Nobody holds more than before, once what clients left behind has gone."""
        for router in self.network.routers:
            pid = self.network.pid(router)
            first = self.first.setdefault(pid, Holdings.of(pid))
            if Holdings.of(pid).resident_bytes > MEMORY_BYTES:
                raise LawError(f"{router} takes more than {MEMORY_BYTES >> 20} MiB.")
            self._settles(router, pid, first, _MORE_DESCRIPTORS, _MORE_THREADS)
            self._gives_back(router, pid, first)
        self._settles("the controller", os.getpid(), self.ours, _MORE_OF_OURS, _MORE_OF_OURS)

    def _settles(self, who: str, pid: int, first: Holdings, descriptors: int, threads: int) -> None:
        def excess() -> str | None:
            now = Holdings.of(pid)
            if now.descriptors > first.descriptors + descriptors:
                return f"{who} has {now.descriptors} descriptors and had {first.descriptors}"
            if now.threads > first.threads + threads:
                return f"{who} has {now.threads} threads and had {first.threads}"
            return None

        self._within(_SETTLE_S, f"what {who} holds", excess)

    def _gives_back(self, router: str, pid: int, first: Holdings) -> None:
        bound = first.resident_bytes * (1 + _MORE_MEMORY_SHARE) + _MORE_MEMORY_BYTES

        def excess() -> str | None:
            now_bytes = Holdings.of(pid).resident_bytes
            had = f"had {first.resident_bytes >> 20}"
            return None if now_bytes <= bound else f"{router} has {now_bytes >> 20} MiB and {had}"

        self._within(_SETTLE_S, f"the memory of {router}", excess)

    def _lives(self) -> None:
        """No router has ended by itself."""
        for router, process in self.network.processes.items():
            if process.has_ended():
                raise LawError(f"{router} has ended: {process.last_words()}")
        for router, bound in self.network.bounds.items():
            if bound is not None and bound.kills != self.network.kills[router]:
                raise LawError(f"{router} was ended for want of memory, and had enough.")

    def _sessions(self) -> str | None:
        self._lives()
        away = [name for name, each in self.network.sessions.items() if not each.is_ready]
        return f"{', '.join(away)}: the controller is not in charge" if away else None

    def _tables(self) -> str | None:
        for name, churn in self.network.churns.items():
            try:
                problem = churn.check()
            except ControllerError as error:
                problem = str(error)
            if problem:
                return f"{name}: {problem}"
        return None

    def _within(
        self,
        span_s: float,
        what: str,
        problem: Callable[[], str | None],
        since_s: float | None = None,
    ) -> None:
        """Waits until there is no problem; says the last one if there still is."""
        allowed_s = span_s * wait.patience()
        if since_s is not None:
            allowed_s = max(0.0, since_s + allowed_s - time.monotonic())
        said: list[str] = []

        def is_solved() -> bool:
            found = problem()
            said[:] = [found] if found else []
            return not found

        if not wait.holds_within(is_solved, allowed_s):
            raise LawError(
                f"{what}: not as it was {span_s * wait.patience():g} s later: {said[0]}."
            )


def _lacking(now: int, wanted: int) -> str | None:
    return None if now >= wanted else f"{wanted - now} of those to come are missing"
