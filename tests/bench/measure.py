"""One figure each. Rates are what arrived: payload of TCP (goodput), frames of UDP."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.subjects import GRPC_PORT, H2, Place
from tests.bench.watcher import WATCHING
from topo import kernel, wait
from topo.process import Process

IPERF_PORT = 5201
# How much longer than its configured duration iperf3 may take.
SLACK_S = 30.0
# Before it counts, a flow has left slow start.
WARM_UP_S = 1
# By then the last message of a watch has gone, or the first one come.
SETTLED_S = 0.5
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Flow:
    """One run of iperf3: the figures of its receiver, and their cost."""

    bits_per_s: float
    packets_per_s: float
    lost_percent: float
    retransmits: int
    # Processor time of the switches alone, in percent of one core. Work the kernel does while it
    # sends for them is theirs.
    switch_cpu_percent: float


def own_congestion_control() -> str:
    """The machine's default congestion control of TCP."""
    return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()


@contextlib.contextmanager
def congestion_control(place: Place, algorithm: str) -> Iterator[None]:
    """Another one than the machine's own, for the length of the block.

    Set for the host, not for the connection: one that was begun by BBR and told to change (iperf3
    -C) goes on pacing its packets, which halves what Cubic sends.
    """
    kernel.allow_congestion_control(algorithm)
    parameter = "net.ipv4.tcp_congestion_control"
    place.h1.run(["sysctl", "-qw", f"{parameter}={algorithm}"])
    try:
        yield
    finally:
        place.h1.run(["sysctl", "-qw", f"{parameter}={own_congestion_control()}"])


def tcp(place: Place, *, seconds: float, flows: int = 1) -> Flow:
    """TCP from h1 to h2."""
    words = ["-P", str(flows), "-O", str(WARM_UP_S)]
    return _iperf(place, words, seconds)


def udp(place: Place, *, seconds: float, payload_bytes: int, rate: str = "0") -> Flow:
    """Datagrams as fast as the sender can, or at a rate of payload."""
    return _iperf(place, ["-u", "-l", str(payload_bytes), "-b", rate], seconds)


@contextlib.contextmanager
def load(place: Place, seconds: float) -> Iterator[Process]:
    """A TCP flow for the length of the block, or `seconds` at the most; who receives it."""
    with _server(place) as receiver:
        argv = ["iperf3", "-c", H2, "-p", str(IPERF_PORT), "-t", str(int(seconds))]
        client = place.h1.start(argv, "load.log")
        try:
            yield receiver
        finally:
            client.end()


def ping_us(place: Place, *, count: int, tos: int = 0) -> dict[str, float]:
    """Round trips in microseconds: median, and what 99 % stay below."""
    argv = ["ping", "-n", "-i", "0.01", "-c", str(count), "-Q", str(tos), H2]
    times = [1000 * float(time) for time in re.findall(r"time=([\d.]+) ms", place.h1.run(argv))]
    times.sort()
    return {
        "median_us": statistics.median(times),
        "p99_us": times[min(len(times) - 1, int(0.99 * len(times)))],
        "answered": len(times),
    }


def received(place: Place, *, seconds: float, gaps: bool) -> dict:
    """Frames at h2's device while a flow runs: exact rate, and the gaps between frames."""
    argv = [sys.executable, "-m", "tests.bench.probe", "h2-eth0", str(seconds), str(int(gaps))]
    return json.loads(place.h2.run(argv))


@contextlib.contextmanager
def datagrams(place: Place, *, rate: str, seconds: float) -> Iterator[None]:
    """Full-size datagrams at `rate` for the length of the block, or `seconds` at the most."""
    with _server(place):
        argv = ["iperf3", "-c", H2, "-p", str(IPERF_PORT), "-u", "-b", rate, "-l", "1472"]
        client = place.h1.start([*argv, "-t", str(int(seconds))], "datagrams.log")
        try:
            yield
        finally:
            client.end()


@dataclass(frozen=True)
class Window:
    """Traffic that arrived at h2 in a short time."""

    bits_per_s: float
    # Processor time of the router's watcher, in percent of one core.
    watcher_cpu_percent: float


def window(receiver: Process, watcher: Process, seconds: float) -> Window:
    """Of a flow that is running already."""
    began, bytes_before, ticks = time.monotonic(), _arrived_bytes(receiver), _cpu_ticks([watcher])
    _pass(seconds)
    span_s = time.monotonic() - began
    return Window(
        bits_per_s=8 * (_arrived_bytes(receiver) - bytes_before) / span_s,
        watcher_cpu_percent=100 * (_cpu_ticks([watcher]) - ticks) / TICKS_PER_S / span_s,
    )


def turn(watcher: Process) -> None:
    """Pauses a running watcher or resumes a paused one, and waits until the effects are over."""
    os.kill(watcher.pid, signal.SIGUSR1)
    _pass(SETTLED_S)


@contextlib.contextmanager
def watched(place: Place) -> Iterator[Process]:
    """A page's server looks at the first router, for the length of the block."""
    router = place.routers[0]
    log = place.network.logs / "watcher.log"
    log.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "tests.bench.watcher", f"127.0.0.1:{GRPC_PORT}"]
    watcher = router.start(argv, log.name)
    try:
        wait.until(
            lambda: watcher.has_ended() or (log.exists() and WATCHING in log.read_text()),
            "the first sample",
            SLACK_S,
        )
        assert not watcher.has_ended(), log.read_text()
        yield watcher
        assert not watcher.has_ended(), log.read_text()
    finally:
        watcher.end()


def cpu_percent(processes: list[Process], seconds: float) -> float:
    """Processor time of idle switches, in percent of one core."""
    before = _cpu_ticks(processes)
    _pass(seconds)
    return 100 * (_cpu_ticks(processes) - before) / TICKS_PER_S / seconds


def _iperf(place: Place, words: list[str], seconds: float) -> Flow:
    with _server(place):
        argv = ["iperf3", "-c", H2, "-p", str(IPERF_PORT), "-J", "-t", str(int(seconds)), *words]
        before = _cpu_ticks(place.switches)
        client = place.h1.start(argv, "iperf3.json")
        text = client.wait("iperf3", seconds + SLACK_S)
        ticks = _cpu_ticks(place.switches) - before
    # Warnings come first, as text.
    end = json.loads(text[text.index("{") :])["end"]
    # The sender's last report comes with the receiver's own figures.
    got = end.get("sum_received") or end["sum"]
    packets = got.get("packets", 0) * (1 - got.get("lost_percent", 0) / 100)
    return Flow(
        bits_per_s=got["bits_per_second"],
        packets_per_s=packets / got["seconds"],
        lost_percent=got.get("lost_percent", 0.0),
        retransmits=end.get("sum_sent", {}).get("retransmits", 0),
        switch_cpu_percent=100 * ticks / TICKS_PER_S / (seconds + WARM_UP_S * ("-O" in words)),
    )


def _pass(seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        wait.holds_within(lambda: False, seconds)


def _arrived_bytes(receiver: Process) -> int:
    """Bytes received by the network device of a process."""
    lines = Path(f"/proc/{receiver.pid}/net/dev").read_text().splitlines()
    (device,) = [line for line in lines if line.strip().startswith("h2-eth0:")]
    return int(device.partition(":")[2].split()[0])


@contextlib.contextmanager
def _server(place: Place) -> Iterator[Process]:
    server = place.h2.start(["iperf3", "-s", "-1", "-p", str(IPERF_PORT)], "server.log")
    wait.until(lambda: place.h2.listens_on(IPERF_PORT), "iperf3 listening", SLACK_S)
    try:
        yield server
    finally:
        server.end()


def _cpu_ticks(processes: list[Process]) -> int:
    """User and system time of the processes so far."""

    def ticks(process: Process) -> int:
        stat = Path(f"/proc/{process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    return sum(map(ticks, processes))
