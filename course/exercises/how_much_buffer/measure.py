"""One line, some TCP flows, a buffer: what the line carries.

    build/venv/bin/python -m course.exercises.how_much_buffer.measure --buffer 40 --flows 1

The line is that of work/how-much-buffer; `--rate-mbps` and `--rtt-ms` say another one.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

from controller.world import PS_PER_S
from course.exercise import Work
from course.process import Runner
from course.tools.network import kits_router, network, topology
from course.working import WORK, student_of

NAME = "how-much-buffer"
FRAME_BYTES = 1514
# The windows of flows that begin together take a while to part.
WARM_UP_S, MEASURED_S = 10.0, 30.0
_PORT = 5001


@dataclass(frozen=True)
class Line:
    """The flows' common line: a rate, a round trip, and how many flows are many."""

    rate_bps: int
    rtt_s: float
    flows: int

    @classmethod
    def of(cls, work: Work) -> Line:
        """The same whenever this student asks."""
        dice = work.own("line")
        return cls(
            rate_bps=dice.randrange(8, 13) * 1_000_000,
            rtt_s=dice.randrange(50, 71, 2) / 1000,
            flows=dice.choice((9, 12, 16)),
        )

    @property
    def bdp_packets(self) -> float:
        """Rate x round trip."""
        return self.rate_bps * self.rtt_s / (8 * FRAME_BYTES)

    def __str__(self) -> str:
        return (
            f"Your line has {self.rate_bps / 1e6:.0f} Mb/s, its round trip is "
            f"{self.rtt_s * 1000:.0f} ms, and {self.flows} flows are many."
        )


@dataclass(frozen=True)
class Measured:
    """The results of one run, after its warm-up."""

    # The part of the line that was busy.
    used: float
    # Of all packets that came to the queue.
    lost: float
    wait_s: float


def measure(
    work: Work, line: Line, flows: int, buffer_packets: int, seed: int, film: str = ""
) -> Measured:
    """Reno on a line with this buffer."""
    of = topology(f"""
hosts:
  h1: {{address: 10.0.1.1/24, tcp: {{congestion: reno}}}}
  h2: {{address: 10.0.2.1/24}}
switches:
  s1:
    ports:
      1: {{address: 10.0.1.254/24, rate: 1 Gb/s}}
      2: {{address: 10.0.2.254/24, rate: {line.rate_bps} b/s, queue: {buffer_packets} packets}}
links:
  - [h1, s1:1]
  - {{ends: [s1:2, h2], delay: {line.rtt_s * 500:.3f} ms}}
""")
    with network(work, of, kits_router(of), seed=seed, film=film) as net:
        for number in range(flows):
            net.transfer(
                "h1",
                "h2",
                _PORT + number,
                span_s=WARM_UP_S + MEASURED_S,
                congestion="reno",
                # Flows that begin at one instant would go on in step.
                after_s=number * 0.097,
            )
        net.let_pass(WARM_UP_S)
        before = net.port("s1", 2).counters.queues[0]
        net.let_pass(MEASURED_S)
        after = net.port("s1", 2).counters.queues[0]
    left = after.counters.departed.packets - before.counters.departed.packets
    left_bytes = after.counters.departed.bytes - before.counters.departed.bytes
    dropped = sum(each.tally.packets for each in after.counters.dropped) - sum(
        each.tally.packets for each in before.counters.dropped
    )
    waited_ps = (
        after.residence.mean_ps * after.residence.count
        - before.residence.mean_ps * before.residence.count
    )
    return Measured(
        used=left_bytes * 8 / MEASURED_S / line.rate_bps,
        lost=dropped / (left + dropped),
        wait_s=waited_ps / (after.residence.count - before.residence.count) / PS_PER_S,
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="measure", description=__doc__.splitlines()[0])
    parser.add_argument("--buffer", type=int, required=True, help="packets")
    parser.add_argument("--flows", type=int, default=1)
    parser.add_argument("--rate-mbps", type=float)
    parser.add_argument("--rtt-ms", type=float)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    folder = WORK / NAME
    with tempfile.TemporaryDirectory(prefix="vitrine-") as scratch:
        work = Work(folder, Path(scratch), student_of(folder), Runner())
        own = Line.of(work)
        line = Line(
            round(given.rate_mbps * 1e6) if given.rate_mbps else own.rate_bps,
            given.rtt_ms / 1000 if given.rtt_ms else own.rtt_s,
            given.flows,
        )
        found = measure(work, line, given.flows, given.buffer, given.seed)
    print(
        f"line used {found.used:.3f}, lost {found.lost:.5f}, mean wait {found.wait_s * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
