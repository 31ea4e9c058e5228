"""The numbers of one run on the scoreboard, by name; docs/telemetry-score.md defines them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from labs.score.run import Run

# Numbers of one run by name; None: the run has no such number.
Numbers: TypeAlias = Mapping[str, float | None]
# In the order of the scoreboard.
NUMBERS: Mapping[str, Callable[[Run], float | None]] = {
    "buildups": lambda run: float(len(run.buildups)),
    "buildup_precision": lambda run: run.score.buildups.precision,
    "buildup_recall": lambda run: run.score.buildups.recall,
    "flow_precision": lambda run: run.score.flows.precision,
    "flow_recall": lambda run: run.score.flows.recall,
    "packet_precision": lambda run: run.score.packets.precision,
    "packet_recall": lambda run: run.score.packets.recall,
    "delay_us": lambda run: run.score.delay_us,
    "depth_error": lambda run: run.score.depth_error,
    "bytes_per_packet": lambda run: run.cost.bytes_per_packet,
    "memory_kib": lambda run: run.cost.memory.kib,
    "steps_per_packet": lambda run: run.cost.steps_per_packet,
}


def numbers(run: Run) -> dict[str, float | None]:
    """A run's numbers for the scoreboard."""
    return {name: number(run) for name, number in NUMBERS.items()}
