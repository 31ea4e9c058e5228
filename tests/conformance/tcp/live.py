"""Cells with the kernel's TCP: several beside each other, each with hosts and ports of its own.

a1 ── 1 ┐    ┌ 2 ══ b1
a2 ── 3 ┤ s1 ├ 4 ══ b2
"""

from __future__ import annotations

import contextlib
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from controller.queues import Queues
from labs.measure.holdups import FELT_S
from labs.measure.router import PortSeries, Recorder
from labs.worlds.live import hosts, iperf, network
from labs.worlds.live.clock import Clock
from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.measurement import Flow, Run
from tests.conformance.tcp.tcp_info import Sample, Sampler
from tests.conformance.tcp.virtual import MEMORY_MAX_BYTES
from topo import wait
from topo.live import LiveNetwork
from topo.load import load
from topo.model import Topology

QUEUE_INTERVAL_MS = 10
SOCKET_INTERVAL_S = 0.03
IPERF_PORT = 5201
# How late the router was is told for lags of more than this: what labs feel, and what queues of
# a few packets do.
LATE_S = (FELT_S, 0.003, 0.001)
# Flows begin a little later than iperf3 does, and outlast the measurement.
_MORE_S = 2


def topology_text(cells: Sequence[Cell]) -> str:
    """The network of a batch as a topology file."""
    lines = ["hosts:"]
    ports = []
    links = []
    for lane, cell in enumerate(cells, 1):
        memory = f"rmem: [10240 B, 131072 B, {MEMORY_MAX_BYTES} B]"
        memory += f", wmem: [10240 B, 16384 B, {MEMORY_MAX_BYTES} B]"
        ecn = ", sysctls: {net.ipv4.tcp_ecn: 1}" if cell.ecn else ""
        tcp = f"tcp: {{congestion: {cell.congestion}, {memory}}}{ecn}"
        for side, host in ((1, "a"), (2, "b")):
            lines.append(f"  {host}{lane}: {{address: 10.{side}.{lane}.1/24, {tcp}}}")
        near, far = 2 * lane - 1, 2 * lane
        aqm = "" if cell.aqm == "off" else f", aqm: {cell.aqm}"
        ports.append(
            f"      {near}: {{address: 10.1.{lane}.254/24, classes: 1, "
            f"rate: {cell.access_bps} b/s}}"
        )
        delay = f"delay: {cell.delay_us} us"
        loss = f", loss: {cell.loss_ppm / 10_000:g} %" if cell.loss_ppm else ""
        ports.append(
            f"      {far}: {{address: 10.2.{lane}.254/24, classes: 1, rate: {cell.rate_bps} b/s, "
            f"queue: {cell.queue_packets} packets{aqm}, {delay}{loss}, receive: {{{delay}}}}}"
        )
        links += [f'  - [a{lane}, "s1:{near}"]', f'  - ["s1:{far}", b{lane}]']
    return "\n".join([*lines, "switches:", "  s1:", "    ports:", *ports, "links:", *links, ""])


def measure(cells: Sequence[Cell], logs: Path, captures: Path | None = None) -> list[Run]:
    """One run of each cell, all at the same time; with a folder, the router's packets go there.

    Each time with other dice: with the same ones, random losses come at the same packets in every
    repetition, and three such runs know no more of chance than one.
    """
    logs.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        live, sessions = stack.enter_context(
            network.programmed(
                _topology(cells), logs=logs, captures=captures, seed=secrets.randbelow(1 << 32)
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
                    seconds=cell.seconds + _MORE_S,
                    congestion=cell.congestion,
                )
                argv += ["-P", str(cell.flows)]
                live.host(f"a{lane}").start(argv, logs / f"iperf-{lane}.json")
            wait.holds_within(lambda: False, max(cell.seconds for cell in cells) + _MORE_S)
        held_up_s = [
            queues.held_up_s(felt_s) - each_s
            for felt_s, each_s in zip(LATE_S, before_s, strict=True)
        ]
    return [
        _run(cell, recorder.series[2 * lane], sampler.samples[f"a{lane}"], clock, held_up_s)
        for lane, cell in enumerate(cells, 1)
    ]


def _topology(cells: Sequence[Cell]) -> Topology:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.yaml"
        path.write_text(topology_text(cells))
        return load(path)


def _pid(live: LiveNetwork, host: str) -> int:
    return int(live.mininet.get(host).pid)


def _run(
    cell: Cell, series: PortSeries, samples: Sequence[Sample], clock: Clock, held_up_s: list[float]
) -> Run:
    run = Run(
        time_s=series.time_s,
        packets=series.packets,
        departed_bytes=series.departed_bytes,
        held_up_s=held_up_s,
    )
    drops = iter([*series.drops, None])
    drop, dropped = next(drops), 0
    for time_s in series.time_s:
        while drop is not None and drop.time_s <= time_s:
            dropped += drop.packets
            drop = next(drops)
        run.dropped.append(dropped)
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
