"""Processes of this machine, one a processor."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

from labs.machine import processors
from labs.sweep.crew import ATTEMPTS_MAX, Crew, Done, longest_first
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.measure import Row, measured
from topo.units import counted


class Local(Crew):
    """A pool of processes, made anew when one of them ends."""

    def __init__(self, size: int = 0) -> None:
        """0: as many as there are processors."""
        self._size = size or processors()
        self._pool: ProcessPoolExecutor | None = None

    @property
    def size(self) -> int:
        """How many jobs are done at a time."""
        return self._size

    @property
    def description(self) -> str:
        """The crew in words."""
        return counted(self._size, "process", "es")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def work(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """Hands out one job a process: if one ends, only those under way are at risk."""
        ahead = longest_first(jobs)[::-1]
        attempts: Counter[str] = Counter()
        running: dict[Future[Row], Job] = {}
        while ahead or running:
            pool = self._pool = self._pool or self._made()
            while ahead and len(running) < self._size:
                job = ahead.pop()
                running[pool.submit(measured, job)] = job
            over, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in over:
                job = running.pop(future)
                try:
                    yield Done(job, future.result())
                except BrokenProcessPool:
                    # Nobody says whose process it was, so all that were under way are done again.
                    attempts[job.key] += 1
                    if attempts[job.key] < ATTEMPTS_MAX:
                        ahead.append(job)
                    else:
                        yield Done(job, None, f"its process ended {ATTEMPTS_MAX} times")
                    self._end()
                except Exception as error:  # noqa: BLE001 (the other rows are worth having)
                    yield Done(job, None, str(error) or type(error).__name__)

    def _made(self) -> ProcessPoolExecutor:
        # Started anew rather than forked: threads of gRPC do not survive a fork.
        return ProcessPoolExecutor(
            self._size, multiprocessing.get_context("spawn"), initializer=follow_parent
        )

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        # Jobs under way are given up; the journal has all that are done.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)


def follow_parent() -> None:
    """Of each process: Ctrl-C at the terminal is the parent's, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None, "this is a child"

    def follow() -> None:
        parent.join()
        # A virtual world that it holds ends with it, too.
        os._exit(1)

    threading.Thread(target=follow, daemon=True, name="follow").start()
