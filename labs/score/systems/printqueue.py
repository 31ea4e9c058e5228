"""PrintQueue's time windows: who left while the packet with the deepest queue waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from labs.score.claim import Claim
from labs.score.flow import Flow
from labs.score.system import PS_PER_NS, Device, Question, System

WINDOWS, CELL_BITS = 3, 7
_FLOW_BITS = 104


class PrintQueue(System):
    """A period with a deep queue is a build-up; its victim's wait says where to look."""

    name = "printqueue"
    summary = "who left in which 8 us, coarser for longer ago, read every 4.2 ms"
    after = "Lei et al., PrintQueue, SIGCOMM 2022"
    # A cell of the first window is 2 to the power of this, in nanoseconds at 1 Gb/s; of each next
    # one twice.
    first_cell_bits: ClassVar = 13
    reports = False

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        # The length of the last window.
        self.every_ps = question.line.window_ps(self.first_cell_bits + WINDOWS - 1 + CELL_BITS)
        self._claims: list[Claim] = []

    def poll(self, device: Device, now_ps: int) -> None:
        """Reads the windows if the period that has just ended had a deep queue."""
        (victim,) = device.read("victim")
        depth_bytes = victim >> 128 & 0xFFFFFFFF
        # Periods are counted from 1.
        if victim >> 160 != now_ps // self.every_ps or depth_bytes < self.question.threshold_bytes:
            return
        arrived_ns = victim >> 64 & (1 << 64) - 1
        departed_ns = victim & (1 << 64) - 1
        share: Counter[Flow] = Counter()
        for begin_ns, flow, cell_ns in self._departures(device):
            if arrived_ns <= begin_ns <= departed_ns:
                # While the queue is deep the line is busy: this is the number of frames per cell.
                share[flow] += max(self.question.frame_ps, cell_ns * PS_PER_NS)
        packets = Counter({flow: ps // self.question.frame_ps for flow, ps in share.items()})
        self._claims.append(
            Claim(
                arrived_ns * PS_PER_NS,
                departed_ns * PS_PER_NS,
                now_ps,
                depth_bytes,
                packets,
            )
        )

    def claims(self) -> list[Claim]:
        """One for each period with a deep queue."""
        return self._claims

    def _departures(self, device: Device) -> Iterator[tuple[int, Flow, int]]:
        """When each packet left that a window still has, and the length of its cell in ns."""
        for window in range(WINDOWS):
            cell_bits = self.first_cell_bits - self.question.line.faster_bits + window
            for place, cell in enumerate(device.read(f"window_{window}")):
                round_ = cell >> _FLOW_BITS
                if round_:
                    tick = (round_ - 1 << CELL_BITS) + place
                    # Of the packets that came to a cell the last one stayed.
                    yield tick << cell_bits, Flow.of_cell(cell), 1 << cell_bits
