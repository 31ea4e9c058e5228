"""A cell in virtual time, through the same service that labs go through."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

from vitrine.v1 import world_pb2

from controller.world import World
from labs.measure.router import PortSeries
from labs.measure.sockets import SocketSample
from labs.narration import Narrator
from labs.worlds.virtual.bench import VirtualBench
from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.measurement import Flow, Run, dropped
from tests.conformance.tcp.network import topology

_PORT = 5001
_QUEUE_INTERVAL_MS = 5
_NS_PER_US = 1000
# Flows outlast the measurement.
_MORE_S = 1

# Nobody answers in no time at all. Linux's hosts wake some tens of microseconds after what wakes
# them, also where nothing else may run before them. With no such chance a lone flow falls in step
# with the queue, and whether one packet is lost at the top of the saw or two is the same every time
# (Floyd and Jacobson 1992, "On traffic phase effects").
LATE_US = 100


def measure(cell: Cell, seed: int, late_us: int = LATE_US) -> Run:
    """One run; the hosts' packets are late by up to `late_us`."""
    with contextlib.ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bench = stack.enter_context(VirtualBench(logs, Narrator((), io.StringIO()), seed=seed))
        bench.bring_up(topology([cell], late_us))
        with bench.recording(
            [("s1", 2)], senders=["a1"], interval_ms=_QUEUE_INTERVAL_MS
        ) as instruments:
            _start(bench.world, cell)
            instruments.hold(cell.seconds + _MORE_S)
            recording = instruments.recording
        (series,) = recording.ports.values()
        return _run(series, recording.sockets["a1"]).begins_at_zero()


def _start(world: World, cell: Cell) -> None:
    """All flows, one after the other as iperf3 connects them, to the one listener."""
    world.start("b1", world_pb2.App(listener=world_pb2.Listener(port=_PORT)))
    apart_ns = 2 * cell.delay_us * _NS_PER_US
    for flow in range(cell.flows):
        bulk = world_pb2.Bulk(
            to=world_pb2.Peer(host="b1", port=_PORT),
            after_ns=flow * apart_ns,
            span_ns=(cell.seconds + 2 * _MORE_S) * 1_000_000_000,
        )
        world.start("a1", world_pb2.App(bulk=bulk))


def _run(series: PortSeries, samples: list[SocketSample]) -> Run:
    run = Run(
        time_s=series.time_s,
        packets=series.packets,
        departed_bytes=series.departed_bytes,
        dropped=dropped(series),
    )
    flows: dict[str, Flow] = {}
    for sample in samples:
        flow = flows.setdefault(sample.local, Flow())
        flow.time_s.append(sample.time_s)
        flow.cwnd.append(sample.cwnd_packets)
        flow.ssthresh.append(sample.ssthresh_packets)
        flow.rtt_ms.append(sample.rtt_ms)
        flow.unacked.append(sample.unacked_packets)
        flow.retransmits.append(sample.retransmits)
        flow.acked_bytes.append(sample.bytes_acked)
    run.flows = list(flows.values())
    return run
