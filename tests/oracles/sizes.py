"""How much a record has: the environment's COUNT, SEEDS, LABS and JOBS."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """The defaults make a record within minutes; the whole takes a night."""

    # Generated programs, from seed 0.
    programs: int = 200
    # Simulated control-plane histories, from seed 0.
    histories: int = 500
    # Labs at full length; otherwise as QUICK=1 shortens them.
    has_whole_labs: bool = False
    # Processes at a time; results do not depend on it.
    jobs: int = 2

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Sizes:
        return cls(
            programs=int(environment.get("COUNT", cls.programs)),
            histories=int(environment.get("SEEDS", cls.histories)),
            has_whole_labs=environment.get("LABS") == "whole",
            jobs=int(environment.get("JOBS", os.cpu_count() or cls.jobs)),
        )
