"""SpiderMon: a packet that waited too long on its way sends a trace back to where others wait."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from labs.score.claim import Claim
from labs.score.flow import Flow
from labs.score.system import PS_PER_NS, PS_PER_S, Device, Question, Report, System

# 1.05 ms at 1 Gb/s.
EPOCH_BITS = 20
_WAIT_SHIFT = 8
_FLOW_BITS = 104


class SpiderMon(System):
    """Two routers: the second one notices the wait, the first one has the records."""

    name = "spidermon"
    summary = "the flows of the 1 ms in which a packet waited long, over both routers"
    after = "Wang et al., SpiderMon, NSDI 2022"
    sink = str(Path(__file__).with_name("spidermon_sink.p4"))

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self.every_ps = question.line.window_ps(EPOCH_BITS)
        self._traces: list[Report] = []
        self._claims: list[Claim] = []

    def install_sink(self, device: Device) -> None:
        """The wait of a packet that found a deep queue."""
        device.write("threshold", self.question.threshold_ps // PS_PER_NS >> _WAIT_SHIFT)

    def take(self, report: Report) -> None:
        """A trace that came back to the first router."""
        self._traces.append(report)

    def poll(self, device: Device, now_ps: int) -> None:
        """After an epoch with traces: reads the epochs in which the longest waited."""
        traces, self._traces = self._traces, []
        if not traces:
            return
        longest = max(traces, key=lambda each: each.wait_ps)
        begin_ps = longest.time_ps - longest.wait_ps
        # Epochs are counted from 1; older ones than the last two have been overwritten.
        ended = now_ps // self.every_ps
        first = max(ended - 1, begin_ps // self.every_ps + 1)
        packets: Counter[Flow] = Counter()
        for epoch in range(first, ended + 1):
            for cell in device.read(f"records_{epoch & 1}"):
                if cell >> _FLOW_BITS + 32 == epoch:
                    packets[Flow.of_cell(cell)] += cell >> _FLOW_BITS & 0xFFFFFFFF
        # The line sent for as long as the packet waited.
        depth_bytes = longest.wait_ps * self.question.line.rate_bps // 8 // PS_PER_S
        self._claims.append(
            Claim(
                begin_ps,
                max(each.time_ps for each in traces),
                traces[0].known_ps,
                depth_bytes,
                packets,
            )
        )

    def claims(self) -> list[Claim]:
        """One for each epoch with traces."""
        return self._claims
