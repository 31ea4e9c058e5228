"""A telemetry system with one seed: its numbers on the scoreboard, as far as the run has them."""

from __future__ import annotations

import platform

from labs.score.line import Line
from labs.score.numbers import numbers
from labs.score.run import Bench
from labs.score.systems import named
from labs.score.workloads import named as workload_of
from labs.sweep.measuring import versions
from labs.sweep.measuring.versions import Versions
from labs.sweep.measuring.work import TelemetryWork


def measured(work: TelemetryWork, seed: int, wanted: Versions) -> dict[str, float]:
    """Numbers as docs/telemetry-score.md defines them; without those that the run does not have."""
    line = Line(work.faster)
    wanted.check(versions.of_telemetry(work.system, line), platform.node())
    with Bench.temporary() as bench:
        run = bench.run(
            named(work.system), workload_of(work.workload), seed, lost=work.lost, line=line
        )
    return {name: value for name, value in numbers(run).items() if value is not None}
