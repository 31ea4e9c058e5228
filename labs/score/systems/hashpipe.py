"""HashPipe: the flows with the most packets of each window, read by the controller."""

from __future__ import annotations

from collections import Counter

from labs.score.claim import Claim
from labs.score.flow import Flow
from labs.score.system import Device, Question, System

# 8.4 ms at 1 Gb/s.
WINDOW_BITS = 23
STAGES = 4


class HashPipe(System):
    """A window with a deep queue is a build-up, and its largest flows are the culprits."""

    name = "hashpipe"
    summary = "the largest flows of windows of 8.4 ms, read by the controller"
    after = "Sivaraman et al., HashPipe, SOSR 2017"
    reports = False

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self.every_ps = question.line.window_ps(WINDOW_BITS)
        self._claims: list[Claim] = []

    def poll(self, device: Device, now_ps: int) -> None:
        """Reads the window that has just ended."""
        # Windows are counted from 1.
        window = now_ps // self.every_ps
        (deepest,) = device.read("deepest")
        depth_bytes = deepest & 0xFFFFFFFF
        if deepest >> 32 != window or depth_bytes < self.question.threshold_bytes:
            return
        packets: Counter[Flow] = Counter()
        for stage in range(STAGES):
            for cell in device.read(f"stage_{stage}"):
                if cell >> 136 == window:
                    packets[Flow.of_cell(cell)] += cell >> 104 & 0xFFFFFFFF
        self._claims.append(Claim(now_ps - self.every_ps, now_ps, now_ps, depth_bytes, packets))

    def claims(self) -> list[Claim]:
        """One for each window with a deep queue."""
        return self._claims
