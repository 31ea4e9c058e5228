"""The worlds in which labs run. Each has a bench; nothing else of the kit knows which it is.

`live`: hosts with the kernel's TCP around routers that are processes, in real time.
`virtual`: hosts, cables and routers of one process, in virtual time.
"""

from __future__ import annotations

from pathlib import Path

from controller.addresses import Way
from labs.bench import Bench
from labs.narration import Narrator
from labs.programming import Programs
from labs.settings import Settings
from labs.world import World
from topo import record
from topo.model import Topology


def check(settings: Settings, topology: Topology) -> None:
    """Raises what would stop a run as soon as its first network is to come up."""
    if settings.program is not None:
        Programs.compiled(topology, toolchain=settings.toolchain, program=settings.program)
    if settings.world is World.LIVE:
        record.refuse_while_up()


def bench(
    settings: Settings,
    logs: Path,
    narrator: Narrator,
    *,
    seed: int = 1,
    announced: bool = False,
    way: Way = Way.SOCKET,
) -> Bench:
    """A bench in the world that the settings choose; only the virtual one takes a seed.

    Live networks are always announced; of those in virtual time there may be several at a time.
    """
    # Imported here: who stays in one world needs nothing of the other, such as Mininet.
    if settings.world is World.VIRTUAL:
        from labs.worlds.virtual.bench import VirtualBench

        return VirtualBench(
            logs, narrator, seed=seed, program=settings.program, announced=announced
        )
    from labs.worlds.live.bench import LiveBench

    return LiveBench(logs, narrator, settings.toolchain, settings.program, way)
