"""The kit in a notebook: networks, labs, insides and sweeps in a line or two, with pictures.

    from vitrine import World
    world = World("labs/bottleneck/topology.yaml")
    world.send("h1", "h2", seconds=10)
    world.run()
    world.queue("s1", 2)

Everything happens in virtual time: no root, no waiting, the same numbers on every machine.
What is shown, a notebook shows by itself: nothing here needs Jupyter.

The messages of the kit's own services, `vitrine.v1`, are made by the build and lie elsewhere on
Python's path. Whoever imports them comes by here, so nothing is loaded before it is asked for.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitrine.experiments import fabric, queue
    from vitrine.labs import Lab
    from vitrine.network import World
    from vitrine.sweeps import sweep

__path__ = extend_path(__path__, __name__)
__all__ = ["Lab", "World", "fabric", "queue", "sweep"]

_WHERE = {
    "Lab": "vitrine.labs",
    "World": "vitrine.network",
    "fabric": "vitrine.experiments",
    "queue": "vitrine.experiments",
    "sweep": "vitrine.sweeps",
}


def _check_messages() -> None:
    """Ends the program where the messages are not of the kit's sources, as after a pull.

    Nothing that imports them could go on, be it a command, a test or a notebook; it would end
    somewhere else, with a message that lacks a field.
    """
    kit = Path(__file__).resolve().parents[1]
    for source in (kit / "switch/crates/messages/proto/vitrine/v1").glob("*.proto"):
        made = [Path(place, "v1") for place in __path__]
        exists = any((place / f"{source.stem}_pb2.py").exists() for place in made)
        # Who installed the kit without its sources has none of these.
        beside = [place / source.name for place in made if (place / source.name).exists()]
        if exists and all(each.read_bytes() == source.read_bytes() for each in beside):
            continue
        what = "are of another version of it" if exists else "are not made yet"
        raise SystemExit(
            f"vitrine: the Python messages of {source.relative_to(kit)} {what}: run `make build`, "
            "which makes them and the programs that speak them."
        )


_check_messages()


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"vitrine has no {name}; it has {', '.join(__all__)}.")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
