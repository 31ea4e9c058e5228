"""Does a job, wherever it has travelled to: the row it makes."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass

from labs.sweep.measuring import lab, network, telemetry
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.work import LabWork, NetworkWork, TelemetryWork


@dataclass(frozen=True)
class Row:
    """The numbers of one job, and its cost."""

    numbers: Mapping[str, float]
    took_s: float
    # Where it was measured, which changes no number.
    machine: str


def measured(job: Job) -> Row:
    """The row of a job."""
    began_s = time.monotonic()
    match job.work:
        case NetworkWork():
            numbers = network.measured(job.work, job.seed, job.versions)
        case LabWork():
            numbers = lab.measured(job.work, job.seed, job.versions)
        case TelemetryWork():
            numbers = telemetry.measured(job.work, job.seed, job.versions)
    return Row(numbers, time.monotonic() - began_s, platform.node())
