"""A port's cable as the topology has it, in the words of `vitrine.v1`."""

from __future__ import annotations

from controller.lines import Cable, Line, Sender
from topo.model import Impairment, Port


def cable(port: Port) -> Cable:
    """What the port emulates of its cable."""
    backlog = port.cable.sender.backlog
    sender = Sender(port.cable.sender.rate_bps, backlog.packets or 0, backlog.bytes or 0)
    return Cable(sender, _line(port.cable.receive), _line(port.cable.transmit))


def _line(impairment: Impairment) -> Line:
    return Line(
        delay_us=impairment.delay_ns / 1e3,
        jitter_us=impairment.jitter_ns / 1e3,
        reorder=impairment.reorder,
        loss=impairment.loss_ppm / 1e6,
        corruption=impairment.corruption_ppm / 1e6,
        duplication=impairment.duplication_ppm / 1e6,
    )
