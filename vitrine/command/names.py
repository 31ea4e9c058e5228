"""The names that the shell completes: labs, exercises, sweeps, kept runs, routers that are up.

Looked up by folders, so that it takes no time and needs no package.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from controller.routers import all_up
from labs.names import names as labs

ROOT = Path(__file__).resolve().parents[2]

__all__ = ["exercises", "labs", "routers", "runs", "sweeps", "telemetry", "workloads"]


def exercises() -> Sequence[str]:
    """Every exercise of the course."""
    folder = ROOT / "course" / "exercises"
    return sorted(file.parent.name.replace("_", "-") for file in folder.glob("*/exercise.py"))


def sweeps() -> Sequence[str]:
    """The sweeps of the kit; topologies lie beside them."""
    found = (ROOT / "labs" / "sweeps").glob("*.yaml")
    return sorted(
        file.stem.replace("_", "-") for file in found if "\nparameters:" in file.read_text()
    )


def runs() -> Sequence[str]:
    """The runs that are kept, and the labs that have one."""
    out = Path(os.environ.get("VITRINE_RESULTS") or ROOT / "out")
    kept = sorted(file.parent for file in out.glob("*/*/results.json"))
    own = [f"{folder.parent.name}/{folder.name}" for folder in kept if folder.name != "latest"]
    return [*sorted({folder.parent.name for folder in kept}), *own]


def telemetry() -> Sequence[str]:
    """The telemetry systems of the scoreboard."""
    from labs.score.systems import systems

    return list(systems())


def workloads() -> Sequence[str]:
    """The workloads of the scoreboard."""
    from labs.score.workloads import WORKLOADS

    return list(WORKLOADS)


def routers() -> Sequence[str]:
    """The routers of the networks that are up."""
    return sorted({name for up in all_up() for name in up.routers})
