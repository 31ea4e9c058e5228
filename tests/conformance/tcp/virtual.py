"""A cell in virtual time."""

from __future__ import annotations

import dataclasses
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.tcp.cells import Cell
from tests.conformance.tcp.measurement import Flow, Run

ROOT = Path(__file__).resolve().parents[3]
DRIVER = ROOT / "switch" / "target" / "debug" / "examples" / "tcp_cell"
# Both worlds' hosts have the same memory for a connection.
MEMORY_MAX_BYTES = 16_777_216


@dataclass(frozen=True)
class Lateness:
    """How late a host sends: evenly distributed from zero up to `usual_us`; at times, more.

    What is more comes so many times a second, whatever the line carries: a machine that is busy
    elsewhere does not count frames.
    """

    usual_us: int
    stalls_per_s: float = 0
    # How much later a frame is then, from zero up to this; what is sent behind it waits for it.
    stalled_us: int = 0
    # The same for what a host is sent.
    pauses_per_s: float = 0
    paused_us: int = 0


# On the machine of the live runs, two cores that ten others worked on, nine in ten of Linux's
# answers were 10 to 100 us late and one in a hundred 1.1 ms (captures of the routers, less the time
# on the lines). With no such chance a lone flow falls in step with the queue, and whether one
# packet is lost at the top of the saw or two is the same every time (Floyd and Jacobson 1992, "On
# traffic phase effects"); and BBR takes the clumps that come of it for a faster path.
AS_LIVE = Lateness(usual_us=100, stalls_per_s=41, stalled_us=1200)
# What flows felt that are not paced: see "Chance in a world without any" in the documentation.
UNPACED = dataclasses.replace(AS_LIVE, pauses_per_s=3, paused_us=10_000)


def as_live(cell: Cell) -> Lateness:
    """How late the hosts of a cell are."""
    return AS_LIVE if cell.congestion == "bbr" else UNPACED


def measure(
    cell: Cell, seed: int, lateness: Lateness | None = None, driver: Path | None = None
) -> Run:
    """One run; with hosts that are as late as Linux's were unless it is said how."""
    lateness = lateness or as_live(cell)
    values: dict[str, object] = {
        "rate_bps": cell.rate_bps,
        "access_bps": cell.access_bps,
        "queue_packets": cell.queue_packets,
        "delay_us": cell.delay_us,
        "loss_ppm": cell.loss_ppm,
        "jitter_us": lateness.usual_us,
        "stall_ppm": _share_ppm(cell, lateness.stalls_per_s),
        "stall_us": lateness.stalled_us,
        "pause_ppm": _share_ppm(cell, lateness.pauses_per_s),
        "pause_us": lateness.paused_us,
        "aqm": cell.aqm,
        "ecn": "on" if cell.ecn else "off",
        "congestion": cell.congestion,
        "flows": cell.flows,
        # iperf3 makes its connections one after the other.
        "apart_us": 2 * cell.delay_us,
        "rmem_max": MEMORY_MAX_BYTES,
        "wmem_max": MEMORY_MAX_BYTES,
        "ms": (cell.seconds + 1) * 1000,
        "seed": seed,
    }
    argv = [str(driver or DRIVER), *(f"{name}={value}" for name, value in values.items())]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return parse(done.stdout).begins_at_zero()


def _share_ppm(cell: Cell, times_per_s: float) -> int:
    """Which share of the bottleneck's frames that is."""
    return min(1_000_000, round(times_per_s / cell.frames_per_s * 1e6))


def parse(output: str) -> Run:
    """What the driver printed."""
    run = Run()
    flows: dict[int, Flow] = {}
    for line in output.splitlines():
        kind, *words = line.split()
        numbers = [int(word) for word in words]
        if kind == "q":
            time_us, packets, _, _, departed_bytes, dropped, _ = numbers
            run.time_s.append(time_us / 1e6)
            run.packets.append(packets)
            run.departed_bytes.append(departed_bytes)
            run.dropped.append(dropped)
        else:
            time_us, port, cwnd, ssthresh, rtt_us, unacked, retransmits, acked, _ = numbers
            flow = flows.setdefault(port, Flow())
            flow.time_s.append(time_us / 1e6)
            flow.cwnd.append(cwnd)
            flow.ssthresh.append(ssthresh)
            flow.rtt_ms.append(rtt_us / 1000)
            flow.unacked.append(unacked)
            flow.retransmits.append(retransmits)
            flow.acked_bytes.append(acked)
    run.flows = list(flows.values())
    return run
