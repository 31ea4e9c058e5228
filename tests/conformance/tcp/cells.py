"""The table of cells: which flows through which bottleneck.

    a ── 1 s1 2 ══ b        rate, half of the round trip each way, a queue of so many packets

A cell is data; `live` and `virtual` both make the same network of it.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from labs.frames import bdp_packets

# Bounds of a measurement's length.
_SECONDS_MIN, _SECONDS_MAX = 15, 60
# BBR looks for the shortest round trip every ten seconds, and the mean should have two such looks.
_PROBE_S = 10
# How many teeth of Reno's saw a mean should have, and how many go by before it is taken.
_TEETH, _TEETH_BEFORE = 6, 1


@dataclass(frozen=True)
class Cell:
    """One comparison."""

    congestion: str
    rate_mbps: float
    rtt_ms: float
    buffer_bdp: float
    flows: int = 1
    loss_ppm: int = 0
    aqm: str = "off"
    ecn: bool = False

    @property
    def name(self) -> str:
        """Such as `cubic-10mbps-20ms-1bdp`."""
        parts = [
            self.congestion,
            f"{self.rate_mbps:g}mbps",
            f"{self.rtt_ms:g}ms",
            f"{self.buffer_bdp:g}bdp",
        ]
        if self.flows > 1:
            parts.append(f"{self.flows}flows")
        if self.loss_ppm:
            parts.append(f"loss{self.loss_ppm / 10_000:g}%")
        if self.aqm != "off":
            parts.append(self.aqm)
        if self.ecn:
            parts.append("ecn")
        return "-".join(parts)

    @property
    def rate_bps(self) -> int:
        """The bottleneck."""
        return round(self.rate_mbps * 1e6)

    @property
    def access_bps(self) -> int:
        """The line from the sender to the router."""
        return 100_000_000 if self.rate_bps <= 20_000_000 else 1_000_000_000

    @property
    def bdp_packets(self) -> float:
        """Packets in flight when the line is full and the queue is empty."""
        return bdp_packets(self.rate_bps, self.rtt_ms / 1000)

    @property
    def queue_packets(self) -> int:
        """The limit of the bottleneck's queue; under queue management it must never be reached."""
        if self.aqm != "off":
            return 200
        return max(2, round(self.bdp_packets * self.buffer_bdp))

    @property
    def delay_us(self) -> int:
        """One way."""
        return round(self.rtt_ms * 500)

    @property
    def _tooth_s(self) -> float:
        """How long one tooth of Reno's saw takes: half of the window, a packet a round trip."""
        # Queue management keeps it at a few packets.
        queue = self.queue_packets if self.aqm == "off" else 8
        window = (self.bdp_packets + queue) / self.flows
        queue_s = queue * 1514 * 8 / self.rate_bps
        return window / 2 * (self.rtt_ms / 1000 + queue_s * 3 / 4)

    @property
    def settle_s(self) -> int:
        """When the mean begins, counted from the first data."""
        return max(3, min(_SECONDS_MAX // 4, round(self._tooth_s * _TEETH_BEFORE)))

    @property
    def seconds(self) -> int:
        """When it ends."""
        if self.loss_ppm:
            # The mean of as many throws of the dice as can be.
            return _SECONDS_MAX
        teeth_s = self._tooth_s * _TEETH + self.settle_s
        least_s = _SECONDS_MIN + (_PROBE_S if self.congestion == "bbr" else 0)
        return max(least_s, min(_SECONDS_MAX, round(teeth_s)))


# Rate in Mb/s, round trip in ms, buffer in bandwidth-delay products.
_ALONE = (
    (1.5, 20, 4),
    (1.5, 100, 1),
    (5, 50, 2),
    (10, 20, 0.25),
    (10, 20, 1),
    (10, 20, 4),
    (10, 50, 0.5),
    (10, 100, 1),
    (20, 2, 4),
    (20, 20, 0.1),
    (20, 50, 1),
    (100, 10, 1),
    (100, 20, 0.5),
    (200, 10, 1),
)
# Cells that a stranger chose after the hosts were finished, and as many as a seed has drawn.
_STRANGER = (("reno", 3, 30, 1.5), ("cubic", 50, 30, 0.7))
_DRAWN, _DRAWN_SEED = 20, 2026
# The same with flows beside each other.
_TOGETHER = ((10, 20, 1, 2), (20, 20, 0.5, 2), (10, 20, 2, 10), (20, 50, 1, 10))
# And with a share of packets lost, in millionths.
_LOSSY = ((10, 20, 2, 10_000), (20, 20, 2, 1_000))

ALGORITHMS = ("reno", "cubic", "bbr")


def _cells() -> list[Cell]:
    cells = []
    for name in ALGORITHMS:
        cells += [Cell(name, rate, rtt, buffer) for rate, rtt, buffer in _ALONE]
        for rate, rtt, buffer, flows in _TOGETHER:
            cells.append(Cell(name, rate, rtt, buffer, flows=flows))
        for rate, rtt, buffer, loss_ppm in _LOSSY:
            cells.append(Cell(name, rate, rtt, buffer, loss_ppm=loss_ppm))
        cells += [Cell(name, 10, 20, 4, flows=flows, aqm="codel") for flows in (1, 10)]
    cells += [Cell(name, 10, 20, 4, aqm="codel", ecn=True) for name in ("reno", "cubic")]
    cells.append(Cell("cubic", 10, 20, 4, flows=10, aqm="codel", ecn=True))
    cells += [Cell(*each) for each in _STRANGER]
    cells += _drawn(random.Random(_DRAWN_SEED))
    return cells


def _drawn(dice: random.Random) -> list[Cell]:
    """Any algorithm; rates of 1 to 500 Mb/s and round trips of 5 to 100 ms, evenly by factors."""

    def within(least: float, most: float) -> float:
        return float(f"{math.exp(dice.uniform(math.log(least), math.log(most))):.2g}")

    return [
        Cell(dice.choice(ALGORITHMS), within(1, 500), within(5, 100), within(0.1, 4))
        for _ in range(_DRAWN)
    ]


CELLS = _cells()


def named(patterns: list[str]) -> list[Cell]:
    """The cells whose names have all of the words of one of the patterns: `cubic,10mbps`."""
    if not patterns:
        return CELLS
    words = [pattern.split(",") for pattern in patterns]
    return [
        cell
        for cell in CELLS
        if any(all(word in f"{cell.name}-" for word in each) for each in words)
    ]
