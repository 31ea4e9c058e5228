"""Crews run jobs: `Local` in processes on this machine, `Cluster` on workers of a Dask scheduler.

    with crew:
        for done in crew.work(jobs): ...

`work` yields each job with its row, or with what went wrong, as soon as it is over. A worker that
ends takes nothing with it: what it was at is given to another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from labs.sweep.measuring.job import Job
from labs.sweep.measuring.measure import Row

_Self = TypeVar("_Self", bound="Crew")

# A job that ends this many workers in a row is at fault itself.
ATTEMPTS_MAX = 3


@dataclass(frozen=True)
class Done:
    """A job that is over."""

    job: Job
    # None: it failed, and `error` says why.
    row: Row | None
    error: str = ""


class Crew(ABC):
    """Workers, for the length of a `with` block."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many jobs are done at a time."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The crew in words: `2 processes of this machine`."""

    @abstractmethod
    def work(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """Does these jobs, those that take longest first."""

    def __enter__(self: _Self) -> _Self:
        return self

    @abstractmethod
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def longest_first(jobs: Sequence[Job]) -> list[Job]:
    """In the order in which all are done soonest: what is left in the end is short."""
    return sorted(jobs, key=lambda job: -job.work.weight)
