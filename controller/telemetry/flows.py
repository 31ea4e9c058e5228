"""The list of flows: each gets a number when it is first seen, and keeps it.

The list is bounded. Garbage, or a scan of a million ports, must not fill the collector's memory:
packets of flows beyond the limit are counted under flow 0, "unknown".
"""

from __future__ import annotations

from controller.telemetry.observation import UNKNOWN_FLOW
from controller.telemetry.packet import Flow

FLOWS_MAX = 100_000


class Flows:
    """Numbers for flows, from 1."""

    def __init__(self, limit: int = FLOWS_MAX) -> None:
        self._limit = limit
        self._numbers: dict[Flow, int] = {}
        self._flows: list[Flow] = []

    def number(self, flow: Flow | None) -> int:
        """The number of a flow, a new one if it is new; 0 if there is no flow or no room."""
        if flow is None:
            return UNKNOWN_FLOW
        number = self._numbers.get(flow)
        if number is None:
            if len(self._flows) >= self._limit:
                return UNKNOWN_FLOW
            self._flows.append(flow)
            number = self._numbers[flow] = len(self._flows)
        return number

    def __getitem__(self, number: int) -> Flow:
        if number == UNKNOWN_FLOW:
            raise KeyError("flow 0 stands for packets whose flow is not known")
        return self._flows[number - 1]

    def __len__(self) -> int:
        return len(self._flows)

    def items(self) -> list[tuple[int, Flow]]:
        """All flows with their numbers."""
        return list(enumerate(self._flows, start=1))
