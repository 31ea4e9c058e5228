"""One experiment of a lab, as it is known before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Run:
    """One experiment of a lab."""

    # The folder of its raw data, and its key among the recordings.
    name: str
    # What the narration says.
    title: str
    # How long it is expected to take, for the time that is left.
    seconds: float
    # What distinguishes it from the lab's other runs.
    parameters: Mapping[str, Any] = field(default_factory=dict)
