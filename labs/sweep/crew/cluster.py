"""The workers of a Dask scheduler: `--cluster tcp://192.0.2.1:8786`.

Each worker needs the kit, built, and is refused if it is another one. What a worker was at when it
ended, Dask gives to another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from types import TracebackType

from labs.errors import LabError
from labs.sweep.crew import Crew, Done, longest_first
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.measure import measured

_CONNECT_DEADLINE_S = 20


class Cluster(Crew):
    """A client of the scheduler."""

    def __init__(self, address: str) -> None:
        # Imported here: who stays on one machine does not wait for it.
        from distributed import Client

        if "://" not in address:
            raise LabError(
                f"--cluster {address} is no address of a Dask scheduler: write "
                "tcp://HOST:8786, as `dask scheduler` says it."
            )
        try:
            self._client = Client(address, timeout=_CONNECT_DEADLINE_S, set_as_default=False)
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            raise LabError(
                f"no Dask scheduler answers at {address} within {_CONNECT_DEADLINE_S} s: "
                f"is it running? ({error})"
            ) from error
        if not self.size:
            self._client.close()
            raise LabError(
                f"the scheduler at {address} has no workers: start `dask worker {address} "
                "--nthreads 1 --nworkers auto` on each machine, in its kit's build/venv."
            )

    @property
    def size(self) -> int:
        """How many jobs are done at a time."""
        return sum(self._client.nthreads().values())

    @property
    def description(self) -> str:
        """The crew in words."""
        return f"{self.size} threads of Dask workers at {self._client.scheduler.address}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # With the client its tasks go; the workers stay for others.
        self._client.close()

    def work(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """All at once: the scheduler hands them out."""
        from distributed import as_completed

        waiting, job_of = [], {}
        for rank, job in enumerate(longest_first(jobs)):
            task = self._client.submit(
                measured, job, key=f"vitrine-{job.key}", pure=False, priority=-rank
            )
            waiting.append(task)
            job_of[task.key] = job
        for task in as_completed(waiting, loop=self._client.loop):
            job = job_of[task.key]
            error = task.exception()
            if error is None:
                yield Done(job, task.result())
            else:
                yield Done(job, None, str(error) or type(error).__name__)
            task.release()
