"""One experiment of a lab, as it is known before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The duration of a run beside its flows: a network comes up, its instruments start, the last
# packets arrive. It was 0.6 to 5 s on two cores with other work.
AROUND_S = 2.0
# With telemetry a collector starts, too, and waits for the last reports: 7 to 8 s there.
COLLECTING_S = 7.0


@dataclass(frozen=True)
class Run:
    """One experiment of a lab."""

    # The folder of its raw data, and its key among the recordings.
    name: str
    # Its title in the narration.
    title: str
    # How long it is expected to take, for the time that is left.
    seconds: float
    # The parameters that distinguish it from the lab's other runs.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # It takes as long as the processor needs, so it tells nothing about runs that last as long as
    # their flows.
    is_computed: bool = False
