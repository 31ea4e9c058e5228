"""The work at a point of a sweep: plain data, which can travel to a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias


@dataclass(frozen=True)
class Flows:
    """TCP flows that send as much as goes for the whole run."""

    name: str
    # Connections are dealt out to the sources in turn.
    sources: tuple[str, ...]
    target: str
    connections: int
    # The hosts' own where it is empty.
    congestion: str
    # Each begins at a random instant of this span.
    begin_within_ns: int


@dataclass(frozen=True)
class NetworkWork:
    """Flows in a network, and a port that is looked at."""

    KIND: ClassVar = "network"

    # The topology as YAML, complete, and the file that it was made from.
    topology: str
    file: str
    # The P4 program of all routers; empty: what the topology says, else the kit's router.
    program: str
    flows: tuple[Flows, ...]
    switch: str
    port: int
    rate_bps: int
    # The measurement covers `during`, after `after`.
    after_ns: int
    during_ns: int

    @property
    def weight(self) -> float:
        """How long it takes, but for a factor: the bits that pass, and a network that is built."""
        return self.rate_bps * (self.after_ns + self.during_ns) / 1e9 + 5e6


@dataclass(frozen=True)
class LabWork:
    """All runs of a lab with these settings."""

    KIND: ClassVar = "lab"

    lab: str
    # As `Settings.document` has them.
    settings: Mapping[str, Any]
    # How long its runs are.
    seconds: float

    @property
    def weight(self) -> float:
        """How long it takes, but for a factor."""
        return self.seconds


@dataclass(frozen=True)
class TelemetryWork:
    """A telemetry system on the scoreboard's router, under one of its workloads."""

    KIND: ClassVar = "telemetry"

    system: str
    workload: str
    # The scored line, in Gb/s.
    faster: int
    # The share of telemetry that is lost.
    lost: float

    @property
    def weight(self) -> float:
        """All take about as long: a faster line only makes the same packets come faster."""
        return 1.0


Work: TypeAlias = NetworkWork | LabWork | TelemetryWork
