"""Cells with the kernel's TCP: several beside each other."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from pathlib import Path

from controller.queues import Queues
from labs.measure.holdups import FELT_S
from labs.measure.router import PortSeries, Recorder
from labs.worlds.live import hosts, iperf, network
from labs.worlds.live.clock import Clock
from tests.conformance.tcp import priority
from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.measurement import Flow, Run, dropped
from tests.conformance.tcp.network import topology
from tests.conformance.tcp.tcp_info import Sample, Sampler
from topo import wait
from topo.live import LiveNetwork

QUEUE_INTERVAL_MS = 10
SOCKET_INTERVAL_S = 0.03
IPERF_PORT = 5201
# Delays of the router count from these lags on: the first affects labs, the others affect queues
# of a few packets.
LATE_S = (FELT_S, 0.003, 0.001)
# Flows begin a little later than iperf3 does, and all of them outlast every measurement.
_BEGIN_S, _OUTLAST_S = 2, 2


def measure(cells: Sequence[Cell], logs: Path, captures: Path | None = None) -> list[Run]:
    """One run of each cell, all at the same time; with a folder, the router's packets go there.

    Each time with other dice: with the same ones, random losses come at the same packets in every
    repetition, and three such runs know no more of chance than one.
    """
    logs.mkdir(parents=True, exist_ok=True)
    measured_s = max(cell.seconds for cell in cells) + _BEGIN_S
    scheduled = priority.take()
    with contextlib.ExitStack() as stack:
        live, sessions = stack.enter_context(
            network.programmed(
                topology(cells),
                logs=logs,
                captures=captures,
                seed=secrets.randbelow(1 << 32),
                real_time_priority=priority.ROUTER if scheduled == priority.REAL_TIME else None,
            )
        )
        queues = Queues(sessions["s1"])
        clock = Clock.started_now()
        for lane in range(1, len(cells) + 1):
            hosts.serve_flow(live.host(f"b{lane}"), IPERF_PORT, f"lane{lane}")
        ports = [2 * lane for lane in range(1, len(cells) + 1)]
        recorder = Recorder(
            queues, clock.router_zero_s(queues, 2), ports=ports, interval_ms=QUEUE_INTERVAL_MS
        )
        names = {f"a{lane}": _pid(live, f"a{lane}") for lane in range(1, len(cells) + 1)}
        sampler = Sampler(names, interval_s=SOCKET_INTERVAL_S)
        before_s = [queues.held_up_s(felt_s) for felt_s in LATE_S]
        with recorder, sampler:
            for lane, cell in enumerate(cells, 1):
                argv = iperf.client(
                    str(live.host(f"b{lane}").address),
                    IPERF_PORT,
                    seconds=measured_s + _OUTLAST_S,
                    congestion=cell.congestion,
                )
                argv += ["-P", str(cell.flows)]
                live.host(f"a{lane}").start(argv, logs / f"iperf-{lane}.json")
            wait.holds_within(lambda: False, measured_s)
        held_up_s = [
            queues.held_up_s(felt_s) - each_s
            for felt_s, each_s in zip(LATE_S, before_s, strict=True)
        ]
    runs = [
        _run(cell, recorder.series[2 * lane], sampler.samples[f"a{lane}"], clock)
        for lane, cell in enumerate(cells, 1)
    ]
    for run in runs:
        run.held_up_s, run.priority = held_up_s, scheduled
    return runs


def _pid(live: LiveNetwork, host: str) -> int:
    return int(live.mininet.get(host).pid)


def _run(cell: Cell, series: PortSeries, samples: Sequence[Sample], clock: Clock) -> Run:
    run = Run(
        time_s=series.time_s,
        packets=series.packets,
        departed_bytes=series.departed_bytes,
        dropped=dropped(series),
    )
    flows: dict[int, Flow] = {}
    for sample in samples:
        flow = flows.setdefault(sample.port, Flow())
        flow.time_s.append(clock.of_monotonic(sample.time_s))
        flow.cwnd.append(sample.cwnd)
        flow.ssthresh.append(sample.ssthresh)
        flow.rtt_ms.append(sample.rtt_us / 1000)
        flow.unacked.append(sample.unacked)
        flow.retransmits.append(sample.retransmits)
        flow.acked_bytes.append(sample.acked_bytes)
    # iperf3's connection for control carries next to nothing.
    by_bytes = sorted(flows.values(), key=lambda flow: flow.acked_bytes[-1], reverse=True)
    run.flows = by_bytes[: cell.flows]
    return run.begins_at_zero()
