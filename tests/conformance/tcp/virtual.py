"""A cell in virtual time."""

from __future__ import annotations

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
    """How late a host sends: evenly distributed from zero up to `usual_us`; some frames later."""

    usual_us: int
    stalled_ppm: int = 0
    # How much later those are, from zero up to this; what is sent behind one waits for it.
    stalled_us: int = 0


# On the machine of the live runs, two cores that ten others worked on, nine in ten of Linux's
# answers were 10 to 100 us late and one in a hundred 1.1 ms (captures of the routers, less the time
# on the lines). With no such chance a lone flow falls in step with the queue, and whether one
# packet is lost at the top of the saw or two is the same every time (Floyd and Jacobson 1992, "On
# traffic phase effects"); and BBR takes the clumps that come of it for a faster path.
AS_LIVE = Lateness(usual_us=100, stalled_ppm=50_000, stalled_us=1200)


def measure(cell: Cell, seed: int, lateness: Lateness = AS_LIVE, driver: Path | None = None) -> Run:
    """One run."""
    values: dict[str, object] = {
        "rate_bps": cell.rate_bps,
        "access_bps": cell.access_bps,
        "queue_packets": cell.queue_packets,
        "delay_us": cell.delay_us,
        "loss_ppm": cell.loss_ppm,
        "jitter_us": lateness.usual_us,
        "stall_ppm": lateness.stalled_ppm,
        "stall_us": lateness.stalled_us,
        "aqm": cell.aqm,
        "ecn": "on" if cell.ecn else "off",
        "congestion": cell.congestion,
        "flows": cell.flows,
        "rmem_max": MEMORY_MAX_BYTES,
        "wmem_max": MEMORY_MAX_BYTES,
        "ms": (cell.seconds + 1) * 1000,
        "seed": seed,
    }
    argv = [str(driver or DRIVER), *(f"{name}={value}" for name, value in values.items())]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return parse(done.stdout).begins_at_zero()


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
