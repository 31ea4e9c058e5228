"""Networks of lessons in virtual time, each in a world of the page's own.

Each is the network of a lab, with the flows that its lesson begins with. Time stands still but for
what the page lets pass, so nothing is missed however slowly one looks.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vitrine.v1 import world_pb2

from controller.world import PS_PER_S, World
from labs import programming
from labs.bufferbloat.lab import BOTTLENECK, Bufferbloat
from labs.errors import SettingError
from labs.glass.scene import Router, Scene, network_of
from labs.hol_blocking.lab import CONGESTED, HolBlocking
from labs.link_sharing.lab import LINE, LinkSharing
from labs.programming import Programs
from labs.settings import Settings
from labs.worlds.virtual import server
from labs.worlds.virtual.bench import configure
from topo import world as messages
from topo.model import Topology

SEED = 1
FIRST = "hol-blocking"
FIRST_PORT = 5201


@dataclass(frozen=True)
class Scenario:
    """What a lesson begins with."""

    topology: Callable[[], Topology]
    # Who sends to whom.
    flows: Sequence[tuple[str, str]]
    congestion: str
    router: str
    port: int
    # When the page begins to look, in seconds of the network.
    settled_s: float
    # Seconds of the network in one of the viewer.
    pace: float


def _hol_blocking() -> Topology:
    lab = HolBlocking(Settings())
    return lab.topology(next(run for run in lab.runs() if run.name == "fifo"))


def _bufferbloat() -> Topology:
    lab = Bufferbloat(Settings())
    return lab.topology(lab.runs()[0].parameters)


def _link_sharing() -> Topology:
    # A line on which a frame takes long enough to be seen, as in the lab's quick runs.
    lab = LinkSharing(Settings(quick=True))
    return lab.topology(next(run for run in lab.runs() if run.name == "fifo"))


def _queue_management() -> Topology:
    lab = Bufferbloat(Settings(rate_bps=10_000_000, queue_packets=200))
    return lab.topology(lab.runs()[0].parameters)


SCENARIOS = {
    # The third flow is the victim. Slow start is over when the page begins, and the queues are as
    # they stay. A full frame on the slow line, 1.2 ms, takes half a second of the viewer's.
    FIRST: Scenario(
        *(_hol_blocking, (("h1", "h4"), ("h2", "h4"), ("h3", "h5")), "reno"),
        router="s2",
        port=CONGESTED,
        settled_s=2.0,
        pace=2e-3,
    ),
    # The line is empty: its lesson starts the download.
    "bufferbloat": Scenario(
        _bufferbloat, (), "reno", router="s1", port=BOTTLENECK, settled_s=0.1, pace=0.2
    ),
    "link-sharing": Scenario(
        *(_link_sharing, (("h1", "h3"), ("h2", "h4")), "cubic"),
        router="s1",
        port=LINE,
        settled_s=3.0,
        pace=0.05,
    ),
    "queue-management": Scenario(
        *(_queue_management, (("h1", "h2"), ("h1", "h2")), "cubic"),
        router="s1",
        port=BOTTLENECK,
        settled_s=4.0,
        pace=0.05,
    ),
}


def named(name: str) -> Scenario:
    """The scenario of a lesson; a name that is nearly right is suggested."""
    if name in SCENARIOS:
        return SCENARIOS[name]
    near = difflib.get_close_matches(name, SCENARIOS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(SCENARIOS)}."
    raise SettingError(f"there is no lesson {name!r}: {hint}")


@contextlib.contextmanager
def showing(name: str, logs: Path) -> Iterator[Scene]:
    """A scenario, for the length of a `with` block."""
    scenario = named(name)
    topology = messages.numbered(scenario.topology())
    programs = Programs.compiled(topology)
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server.serving(logs / "world.log"))
        world = stack.enter_context(World.connect(address))
        world.build(messages.message(topology), SEED)
        addresses = {each.name: f"{address}/{each.device_id}" for each in topology.switches}
        stack.enter_context(
            programming.programmed(programs, addresses, configure, answering=False, announced=False)
        )
        for number, (source, target) in enumerate(scenario.flows):
            start_flow(world, source, target, FIRST_PORT + number, scenario.congestion)
        world.advance(round(scenario.settled_s * PS_PER_S))
        yield Scene(
            world="virtual",
            routers=[Router(each.name, address, each.device_id) for each in topology.switches],
            network=network_of(topology),
            router=scenario.router,
            port=scenario.port,
            lesson=name,
            pace=scenario.pace,
            world_address=address,
            is_driven=True,
        )


def start_flow(world: World, source: str, target: str, port: int, congestion: str) -> None:
    """A TCP flow as long as the world lasts."""
    listener = world_pb2.Listener(port=port)
    world.start(target, world_pb2.App(listener=listener))
    peer = world_pb2.Peer(host=target, port=port)
    bulk = world_pb2.Bulk(to=peer, congestion_control=congestion)
    world.start(source, world_pb2.App(bulk=bulk))
