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
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from controller.queues import Sample
from controller.toolchain import ROOT, Toolchain
from labs.experiment import Experiment
from labs.measure.ping import Pings
from labs.worlds.live import iperf, network, ping
from topo import units, wait
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
    """The results of one case."""

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

    @property
    def frame_bytes(self) -> int:
        """With the headers of Ethernet, IPv4 and UDP."""
        return self.payload_bytes + 42


_OWN_RATE, _DEVICE = "simple_switch, its queue's rate", "simple_switch, the device behind it (HTB)"
_FULL, _SHORT = 1472, 18
CASES = (
    Case("vitrine-switch", Toolchain.VITRINE, False, _FULL),
    Case("vitrine-switch", Toolchain.VITRINE, False, _SHORT),
    Case(_OWN_RATE, Toolchain.P4LANG, False, _FULL),
    Case(_OWN_RATE, Toolchain.P4LANG, False, _SHORT),
    Case(_DEVICE, Toolchain.P4LANG, True, _FULL),
)
HEAD = (
    "switch, and what makes the line slow",
    "frames",
    "most inside",
    "sent",
    "dropped",
    "ping to h3, alone",
    "meanwhile",
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
            offered_bps = _OFFERED_PPS * case.payload_bytes * 8
            flood += ["-b", str(offered_bps), "-l", str(case.payload_bytes)]
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


def rows(numbers: dict[str, float]) -> Generator[list[str], None, None]:
    """A row for each case, with its results; into `numbers` the packets beyond the queue."""
    for case in CASES:
        found = measured(case)
        if case.by_device:
            beyond_packets = found.held_packets - QUEUE_PACKETS
            numbers["beyond_packets"] = beyond_packets
            numbers["beyond_s"] = beyond_packets * case.frame_bytes * 8 / units.rate_bps(RATE)
        yield [
            case.name,
            f"{case.frame_bytes} bytes",
            f"{found.held_packets} packets",
            f"{found.rate_bps / 1e6:.3f} Mb/s",
            str(found.dropped_packets),
            f"{found.idle.mean_ms:.1f} ms",
            f"{found.busy.mean_ms:.1f} ms",
        ]


def main() -> int:
    """Returns the exit status."""
    command = "sudo build/venv/bin/python -m labs.bufferbloat.hidden_buffers"
    kept = Experiment("bufferbloat", "hidden-buffers", command, HEAD)
    return kept.conducted(rows(kept.numbers))


if __name__ == "__main__":
    sys.exit(main())
