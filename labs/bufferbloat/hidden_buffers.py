"""Where packets wait that no P4 program sees: simple_switch before a slow line.

    sudo build/venv/bin/python -m labs.bufferbloat.hidden_buffers

Part of the handout; it needs the P4 project's toolchain beside ours. h1 floods h2, whose line is
slow, and pings h3, whose line is idle. The line toward h2 is slow for one of two reasons:

    the switch's own queue has a rate     packets a second, as the kit sets it
    the network device behind it has one  HTB at s1-sw2, as Mininet's links have it

What is inside the switch at the most, beyond the limit of its queue, is in buffers that it does not
speak of; what the ping to h3 pays shows whom they delay.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from controller.errors import ControllerError
from controller.queues import Sample
from controller.toolchain import ROOT, Toolchain
from labs.measure.ping import Pings
from labs.worlds.live import iperf, network, ping
from topo import wait
from topo.errors import TopologyError
from topo.live import LiveHost
from topo.load import load
from topo.model import Topology

LOGS = ROOT / "build" / "log" / "hidden-buffers"
RATE = "1.5mbit"
QUEUE_PACKETS = 64
SECONDS = 12
_DEADLINE_S = 60.0
# As full frames that is more than twice the line; as short ones a tenth of it.
_OFFERED_PPS = 330
_PORT = 5201


@dataclass(frozen=True)
class Finding:
    """What one case showed."""

    held_packets: int
    dropped_packets: int
    rate_bps: float
    idle: Pings
    busy: Pings


def topology(*, has_rate: bool) -> Topology:
    """Three hosts on one router; the line toward h2 has a queue, and perhaps a rate."""
    base = load(Path(__file__).with_name("hidden_buffers.yaml"))
    return base if has_rate else base.with_settings("s1", 2, rate_bps=0)


@dataclass(frozen=True)
class Case:
    """A switch, what makes its line slow, and the frames that are sent."""

    name: str
    toolchain: Toolchain
    by_device: bool
    payload_bytes: int


CASES = (
    Case("vitrine-switch, full frames", Toolchain.VITRINE, False, 1472),
    Case("vitrine-switch, short frames", Toolchain.VITRINE, False, 18),
    Case("simple_switch, rate of its queue, full frames", Toolchain.P4LANG, False, 1472),
    Case("simple_switch, rate of its queue, short frames", Toolchain.P4LANG, False, 18),
    Case("simple_switch, rate of the device behind it, full frames", Toolchain.P4LANG, True, 1472),
)


def measured(case: Case) -> Finding:
    """Floods h2 while h3 is pinged, and looks into the switch from outside."""
    net = topology(has_rate=not case.by_device)
    with network.programmed(net, logs=LOGS, toolchain=case.toolchain) as (live, sessions):
        if case.by_device:
            _slow_down("s1-sw2")
        h1, h2, h3 = (live.host(name) for name in ("h1", "h2", "h3"))
        h2.start(iperf.server(_PORT), LOGS / "server.log")
        wait.until(lambda: h2.listens_on(_PORT), "iperf3 listening in h2", _DEADLINE_S)
        idle = _pinged(h1, h3, 2.0)
        samples: list[Sample] = []
        with live.switch("s1").readings(sessions["s1"]).watch(10, [2]) as readings:
            reader = threading.Thread(target=lambda: samples.extend(readings))
            reader.start()
            flood = [*("iperf3", "-u", "-c", str(h2.address), "-p", str(_PORT), "-t", str(SECONDS))]
            flood += [
                "-b",
                str(_OFFERED_PPS * case.payload_bytes * 8),
                "-l",
                str(case.payload_bytes),
            ]
            flow = h1.start(flood, LOGS / "flood.log")
            busy = _pinged(h1, h3, SECONDS - 2.0)
            wait.until(flow.has_ended, "the end of the flood", _DEADLINE_S)
            # The last sample that is certain is older than what waits.
            wait.holds_within(lambda: bool(samples) and not samples[-1].ports[2].held_packets, 20.0)
        reader.join()
    return _finding(samples, idle, busy)


def _finding(samples: list[Sample], idle: Pings, busy: Pings) -> Finding:
    states = [(sample.time_s, sample.ports[2]) for sample in samples]
    began_s = next(time_s for time_s, state in states if state.departed_packets)
    # The flood's middle: queues are full, and it has not ended.
    middle = [each for each in states if 2.0 <= each[0] - began_s <= SECONDS - 2.0]
    (first_s, first), (last_s, last) = middle[0], middle[-1]
    return Finding(
        held_packets=max(state.held_packets for _, state in states),
        dropped_packets=sum(states[-1][1].dropped_packets.values()),
        rate_bps=(last.departed_bytes - first.departed_bytes) * 8 / (last_s - first_s),
        idle=idle,
        busy=busy,
    )


def _pinged(source: LiveHost, target: LiveHost, seconds: float) -> Pings:
    command = ping.command(str(target.address), interval_s=0.2, seconds=seconds)
    process = source.start(command, LOGS / "ping.log")
    wait.until(process.has_ended, "the end of a ping", _DEADLINE_S)
    return ping.parse(process.log.read_text(), lambda wall_s: wall_s)


def _slow_down(device: str) -> None:
    """A rate at a network device, as Mininet's TCLink sets it."""
    for command in (
        f"tc qdisc add dev {device} root handle 5: htb default 1",
        f"tc class add dev {device} parent 5: classid 5:1 htb rate {RATE} burst 15k",
    ):
        subprocess.run(command.split(), check=True)


def main() -> int:
    """Returns the exit status."""
    print(f"queue of {QUEUE_PACKETS} packets, line of {RATE}, {_OFFERED_PPS} UDP packets a second")
    try:
        for case in CASES:
            print(f"{case.name}: {_told(measured(case))}", flush=True)
    except (ControllerError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


def _told(found: Finding) -> str:
    worst_ms = max((echo.rtt_ms for echo in found.busy.echoes), default=0.0)
    return (
        f"at most {found.held_packets} packets inside, {found.dropped_packets} dropped, "
        f"{found.rate_bps / 1e6:.3f} Mb/s sent; ping to h3 {found.idle.mean_ms:.1f} ms before, "
        f"{found.busy.mean_ms:.1f} ms meanwhile, at most {worst_ms:.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
