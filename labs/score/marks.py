"""Packets that reach the second router with ECN's mark: what their receivers know of the queue."""

from __future__ import annotations

from controller.packets import PacketReceived
from labs.score.flow import ETHERNET_BYTES, Flow
from labs.score.steps import Steps
from labs.score.system import System

_TOS_AT = ETHERNET_BYTES + 1
# RFC 3168: congestion experienced.
_MARK = 3


class Marks(Steps):
    """A watch of the second router's packets, for the length of a `with` block."""

    def hand_over(self, own: System, end_ps: int) -> None:
        """Gives a system all marked packets that arrived before the end, in order."""
        self.wait_for(end_ps)
        for step in self.found:
            if isinstance(step, PacketReceived) and step.head[_TOS_AT] & _MARK == _MARK:
                own.take_mark(Flow.of_head(step.head), step.time_ps)
