"""How long a case and a submission may take by the clock on the wall, and what ends when they have.

Processor time says nothing of a class that sleeps in each decision. What a busy machine takes away
does not count: the kernel tells how long programs were ready to run and had no processor.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from course.story import Story

# The time limits of a case and a submission; right solutions need some seconds for all cases.
CASE_S, SUBMISSION_S = 60.0, 180.0
# However busy the machine says it is, a tenth of the time that passes counts.
_COUNTS_LEAST = 0.1
_TICK_S = 0.5
_NS_PER_S = 1_000_000_000


class WallClock:
    """The time of one submission: whatever still runs for a case ends with the case's time.

    1. `case()` begins the time of a case.
    2. What is started for it is named inside `ends(how)`; too late, it is ended at once.
    3. `is_late` says whether the time of the present case was up.
    """

    def __init__(
        self,
        case_s: float = math.inf,
        submission_s: float = math.inf,
        *,
        flag: Path | None = None,
        waits: Callable[[], Mapping[str, float]] | None = None,
    ) -> None:
        """`flag` is a file that has a byte in it once the present case's time is up.

        `waits` tells by thread how many seconds it was ready to run and had no processor.
        """
        self.case_s = case_s
        self.submission_s = submission_s
        self.is_late = False
        self._flag = flag
        self._waits = waits or _waits
        # The time that the submission has used, and the limit of the present case.
        self._used_s = 0.0
        self._given_s = math.inf
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []

    @contextlib.contextmanager
    def case(self) -> Iterator[None]:
        """The time of a case: its own, or what is left of the submission's."""
        self.is_late = False
        self._given_s = max(0.0, min(self.case_s, self.submission_s - self._used_s))
        if not math.isfinite(self._given_s):
            yield
            return
        self._raise_flag(b"")
        is_over = threading.Event()
        counting = threading.Thread(target=self._count, args=(is_over,), daemon=True)
        counting.start()
        try:
            yield
        finally:
            is_over.set()
            counting.join()

    def _count(self, is_over: threading.Event) -> None:
        """Counts the time of a case until it is over, or ends it."""
        began_s, stalled_s, used_s = time.monotonic(), 0.0, 0.0
        before = self._waits()
        is_ended = False
        while not is_over.is_set():
            if used_s >= self._given_s and not is_ended:
                is_ended = True
                self._end()
            is_over.wait(min(_TICK_S, max(0.01, self._given_s - used_s)))
            now = self._waits()
            # A thread that was not there before has waited since then only.
            stalled_s += sum(max(0.0, now[each] - before.get(each, 0.0)) for each in now)
            before = now
            passed_s = time.monotonic() - began_s
            used_s = max(passed_s - stalled_s, _COUNTS_LEAST * passed_s)
        self._used_s += min(used_s, self._given_s)

    def _end(self) -> None:
        with self._lock:
            self.is_late = True
            self._raise_flag(b"1")
            ends = list(self._ends)
        for end in ends:
            # One that has ended by itself meanwhile must not keep the others.
            with contextlib.suppress(Exception):
                end()

    def _raise_flag(self, content: bytes) -> None:
        if self._flag is not None:
            self._flag.write_bytes(content)

    @contextlib.contextmanager
    def ends(self, end: Callable[[], None]) -> Iterator[None]:
        """Names how to end what is begun here."""
        with self._lock:
            self._ends.append(end)
            is_late = self.is_late
        if is_late:
            end()
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)

    def story(self, title: str) -> Story:
        """Of a case that was not met when its time was up."""
        whole = "" if self._given_s == self.case_s else " That was all its submission had left."
        return Story(
            done=f"The check was about to see whether this holds: {title}",
            expected=f"An end within {self.case_s:.0f} s, and within {self.submission_s:.0f} s for "
            "all cases together.",
            because="A class is graded in one go, so each submission has a limit. Right solutions "
            "need a few seconds in all.",
            came=f"It was ended after {self._given_s:.0f} s.{whole} Cases that passed before keep "
            "their points.",
        )


def _waits() -> dict[str, float]:
    """How long each thread of this process and of those that it started waited for a processor."""
    return {folder: _waited_s(folder) for folder in _tasks(os.getpid())}


def _tasks(process: int) -> Iterator[str]:
    """The folders of all threads of a process and its descendants."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208 - the kernel's folder
            folder = f"/proc/{process}/task/{thread}"
            yield folder
            for child in _read(f"{folder}/children").split():
                yield from _tasks(int(child))


def _waited_s(folder: str) -> float:
    fields = _read(f"{folder}/schedstat").split()
    return int(fields[1]) / _NS_PER_S if len(fields) > 1 else 0.0


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError:
        # It has ended meanwhile.
        return b""
