"""The kit in a notebook: networks, labs, insides and sweeps in a line or two, with pictures.

    from vitrine import World
    world = World("labs/bottleneck/topology.yaml")
    world.send("h1", "h2", seconds=10)
    world.run()
    world.queue("s1", 2)

Everything happens in virtual time: no root, no waiting, the same numbers on every machine.
What is shown, a notebook shows by itself: nothing here needs Jupyter.

`vitrine.v1` has the protobuf messages of the kit's own services. A program that imports only these
loads this module first, so it loads nothing else until a name is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitrine.experiments import fabric, queue
    from vitrine.judged import telemetry
    from vitrine.labs import Lab
    from vitrine.network import World
    from vitrine.sweeps import sweep

__all__ = ["Lab", "World", "fabric", "queue", "sweep", "telemetry"]

_WHERE = {
    "Lab": "vitrine.labs",
    "World": "vitrine.network",
    "fabric": "vitrine.experiments",
    "queue": "vitrine.experiments",
    "sweep": "vitrine.sweeps",
    "telemetry": "vitrine.judged",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"vitrine has no {name}; it has {', '.join(__all__)}.")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
