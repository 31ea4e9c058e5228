"""A port's cable as the topology has it, in the words of `vitrine.v1`."""

from __future__ import annotations

from controller.lines import BurstyLoss, Cable, Line, Sender
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
        loss=_loss(impairment),
        corruption=impairment.corruption_ppm / 1e6,
        duplication=impairment.duplication_ppm / 1e6,
    )


def _loss(impairment: Impairment) -> float | BurstyLoss:
    share = impairment.loss_ppm / 1e6
    if impairment.loss_burst_packets is None or not share:
        return share
    # A bad spell loses all its frames and lasts 1 / turns_good of them; bad spells take this share
    # of the time where turns_bad : turns_good = share : 1 - share.
    turns_good = 1 / impairment.loss_burst_packets
    return BurstyLoss(turns_bad=turns_good * share / (1 - share), turns_good=turns_good)
