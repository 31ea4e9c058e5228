"""The first scenario in virtual time: head-of-line blocking, in a world of the page's own.

It is the network of the lab hol-blocking with its three TCP flows. Time stands still but for what
the page lets pass, so nothing is missed however slowly one looks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from vitrine.v1 import world_pb2

from controller.world import PS_PER_S, World
from labs import programming
from labs.glass.scene import Router, Scene, network_of
from labs.hol_blocking.lab import CONGESTED, HolBlocking
from labs.programming import Programs
from labs.settings import Settings
from labs.worlds.virtual import server
from labs.worlds.virtual.bench import configure
from topo import world as messages

SEED = 1
# Who sends to whom; the third is the victim.
FLOWS = (("h1", "h4"), ("h2", "h4"), ("h3", "h5"))
FIRST_PORT = 5201
CONGESTION = "reno"
# Slow start is over by then, and the queues are as they stay.
SETTLED_PS = 2 * PS_PER_S
# A full frame on the slow line, 1.2 ms, takes more than half a second of the viewer's.
PACE = 2e-3


@contextlib.contextmanager
def hol_blocking(logs: Path) -> Iterator[Scene]:
    """The scenario, for the length of a `with` block."""
    lab = HolBlocking(Settings())
    fifo = next(run for run in lab.runs() if run.name == "fifo")
    topology = lab.topology(fifo)
    programs = Programs.compiled(topology)
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server.serving(logs / "world.log"))
        world = stack.enter_context(World.connect(address))
        world.build(messages.message(topology), SEED)
        addresses = {each.name: f"{address}/{each.device_id}" for each in topology.switches}
        stack.enter_context(
            programming.programmed(programs, addresses, configure, answering=False, announced=False)
        )
        for number, (source, target) in enumerate(FLOWS):
            start_flow(world, source, target, FIRST_PORT + number)
        world.advance(SETTLED_PS)
        yield Scene(
            world="virtual",
            routers=[Router(each.name, address, each.device_id) for each in topology.switches],
            network=network_of(topology),
            router="s2",
            port=CONGESTED,
            lesson=lab.name,
            pace=PACE,
            world_address=address,
        )


def start_flow(world: World, source: str, target: str, port: int) -> None:
    """A TCP flow as long as the world lasts."""
    listener = world_pb2.Listener(port=port)
    world.start(target, world_pb2.App(listener=listener))
    peer = world_pb2.Peer(host=target, port=port)
    bulk = world_pb2.Bulk(to=peer, congestion_control=CONGESTION)
    world.start(source, world_pb2.App(bulk=bulk))
