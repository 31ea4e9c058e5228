"""Flows in a network, and what a port and the flows had of it."""

from __future__ import annotations

import io
import platform
import random
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from vitrine.v1 import world_pb2

from controller.queues import PortState, Queues
from controller.world import PS_PER_NS, World
from labs.bench import FIRST_IPERF_PORT
from labs.errors import MeasurementError
from labs.frames import payload_share
from labs.narration import Narrator
from labs.sweep.measuring import versions
from labs.sweep.measuring.versions import Versions
from labs.sweep.measuring.work import Flows, NetworkWork
from labs.worlds.virtual.bench import VirtualBench
from topo import load
from topo.document import Place

NS_PER_S = 1_000_000_000
# How often the queue is looked at while flows are measured.
LOOKS = 400
# The most connections of one application; it begins at an instant of its own.
APPS_MAX = 500
# The numbers of every network; beside these, `goodput_bps_NAME` and `share_NAME` of each flow.
NUMBERS = ("utilisation", "goodput_share", "loss_share", "queue_packets", "queue_packets_p95")


def numbers_of(flows: Sequence[Flows]) -> list[str]:
    """The columns that a network with these flows measures."""
    own = [f"{what}_{each.name}" for each in flows for what in ("goodput_bps", "share")]
    return [*NUMBERS, *own]


def measured(work: NetworkWork, seed: int, wanted: Versions) -> dict[str, float]:
    """The measured numbers, by the names of `numbers_of`."""
    topology = load.read(Place.of_text(work.topology, Path(work.file)))
    wanted.check(versions.of_network(topology, work.program), platform.node())
    with (
        tempfile.TemporaryDirectory(prefix="vitrine-sweep-") as logs,
        _bench(Path(logs), work, seed) as bench,
    ):
        bench.bring_up(topology)
        queues = Queues(bench.session(work.switch))
        apps = _start(bench.world, work.flows, seed)
        bench.world.advance(work.after_ns * PS_PER_NS)
        before, acked_before = _port(queues, work.port), _acked(bench.world, apps)
        depths = []
        for look in range(1, LOOKS + 1):
            # To instants that are counted from the beginning, so that no rounding adds up.
            end_ns, begin_ns = (work.during_ns * each // LOOKS for each in (look, look - 1))
            bench.world.advance((end_ns - begin_ns) * PS_PER_NS)
            after = _port(queues, work.port)
            depths.append(after.held_packets)
        acked = _acked(bench.world, apps)
        _check_books(bench.world)
    during_s = work.during_ns / NS_PER_S
    rates = {name: (acked[name] - acked_before[name]) * 8 / during_s for name in acked}
    departed_bytes = after.departed_bytes - before.departed_bytes
    departed = after.departed_packets - before.departed_packets
    dropped = sum(after.dropped_packets.values()) - sum(before.dropped_packets.values())
    goodput_bps = sum(rates.values())
    return {
        "utilisation": departed_bytes * 8 / during_s / work.rate_bps,
        # Of what the line could carry as payload of full frames.
        "goodput_share": goodput_bps / (work.rate_bps * payload_share()),
        "loss_share": dropped / max(1, departed + dropped),
        "queue_packets": statistics.fmean(depths),
        "queue_packets_p95": sorted(depths)[LOOKS * 95 // 100],
        **{f"goodput_bps_{name}": rate for name, rate in rates.items()},
        **{
            f"share_{name}": rate / goodput_bps if goodput_bps else 0
            for name, rate in rates.items()
        },
    }


def _bench(logs: Path, work: NetworkWork, seed: int) -> VirtualBench:
    unheard = Narrator((), io.StringIO())
    return VirtualBench(logs, unheard, seed=seed, program=work.program or None)


def _start(world: World, flows: Sequence[Flows], seed: int) -> dict[str, list[int]]:
    """Starts the flows; their applications by name."""
    chance = random.Random(seed)
    apps: dict[str, list[int]] = {}
    for index, each in enumerate(flows):
        port = FIRST_IPERF_PORT + index
        world.start(each.target, world_pb2.App(listener=world_pb2.Listener(port=port)))
        apps[each.name] = []
        for source, connections in _dealt(each):
            bulk = world_pb2.Bulk(
                to=world_pb2.Peer(host=each.target, port=port),
                after_ns=chance.randrange(each.begin_within_ns + 1),
                connections=connections,
                congestion_control=each.congestion,
            )
            apps[each.name].append(world.start(source, world_pb2.App(bulk=bulk)))
    return apps


def _dealt(flows: Flows) -> list[tuple[str, int]]:
    """Applications of these flows: who sends, and by how many connections."""
    # Those of one application begin together, so they are few.
    size = -(-flows.connections // APPS_MAX)
    dealt = []
    for index, source in enumerate(flows.sources):
        others = len(flows.sources)
        left = flows.connections // others + (index < flows.connections % others)
        while left:
            dealt.append((source, min(size, left)))
            left -= dealt[-1][1]
    return dealt


def _port(queues: Queues, number: int) -> PortState:
    return queues.read([number]).ports[number]


def _acked(world: World, apps: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The acknowledged bytes of each flow."""
    reports = {each.app: each.bulk for each in world.look(apps=True).apps}
    acked = {}
    for name, numbers in apps.items():
        if failed := sum(reports[number].failed for number in numbers):
            raise MeasurementError(
                f"{failed} connections of {name!r} failed: is there a way between its hosts?"
            )
        acked[name] = sum(reports[number].acked_bytes for number in numbers)
    return acked


def _check_books(world: World) -> None:
    if not world.look().books.balanced:
        raise MeasurementError("the network's books do not balance: please report this.")
