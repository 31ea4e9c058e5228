"""Telemetry systems in a notebook: one run each, what they believed, and how right they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labs.score import beliefs, board, table
from labs.score.line import of_rate
from labs.score.numbers import numbers
from labs.score.run import Bench, Run
from labs.score.system import System
from labs.score.systems import named
from labs.score.systems import systems as all_systems
from labs.score.workloads import named as workload_of
from vitrine.shown import Picture, Table


@dataclass(frozen=True, repr=False)
class Judged:
    """The runs of some systems under one workload."""

    # By the system's name: the truth, the claims, the score.
    runs: Mapping[str, Run]
    picture: Picture
    table: Table

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.picture._repr_html_() + self.table._repr_html_()


def telemetry(
    *systems: str | type[System],
    workload: str = "microburst",
    seed: int = 1,
    rate: str | None = None,
) -> Judged:
    """Runs systems by name, or classes of the notebook, on the router of docs/telemetry-score.md.

    Without any, all systems of the kit. A class of the notebook names its P4 program by `program`.
    """
    kinds = [named(each) if isinstance(each, str) else each for each in systems or all_systems()]
    traffic, line = workload_of(workload), of_rate(rate)
    with Bench.temporary() as bench:
        runs = beliefs.runs(bench, kinds, traffic, seed, line)
    lines = [
        table.cells(board.Row(name, workload, board.means([numbers(run)])))
        for name, run in runs.items()
    ]
    return Judged(runs, Picture(beliefs.figure(runs, traffic)), Table([table.HEAD, *lines]))
