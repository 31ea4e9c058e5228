"""The worlds in which labs run. Each has a bench; nothing else of the kit knows which it is.

`live`: hosts with the kernel's TCP around routers that are processes, in real time.
"""

from __future__ import annotations

from pathlib import Path

from labs.bench import Bench
from labs.narration import Narrator
from labs.settings import Settings


def bench(settings: Settings, logs: Path, narrator: Narrator) -> Bench:
    """A bench in the world that the settings choose."""
    # Imported here: a machine without Mininet can do without the live world.
    from labs.worlds.live.bench import LiveBench

    return LiveBench(logs, narrator, settings.toolchain, settings.program)
