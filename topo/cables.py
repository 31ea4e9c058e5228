"""A port's cable as the topology has it, in the words of `vitrine.v1`.

A cable is no queue. What may wait for it is bounded, so that no second is hidden there: of a host,
as much as in a Linux network card; of another router, which has queues of its own, only what a late
wake-up of its process lets go at once.
"""

from __future__ import annotations

from controller.lines import BACKLOG_PACKETS, BurstyLoss, Cable, Line, Sender, Stalls
from controller.queueing import Limit
from topo.model import MTU_BYTES, Impairment, Port

# A router's lateness on a busy machine; slow lines carry a few frames in any case.
LATE_MS = 20
BACKLOG_FRAMES_MIN = 4


def cable(port: Port) -> Cable:
    """The cable that the port emulates."""
    backlog = _backlog(port)
    sender = Sender(port.cable.sender.rate_bps, backlog.packets, backlog.bytes)
    return Cable(sender, _line(port.cable.receive), _line(port.cable.transmit))


def _backlog(port: Port) -> Limit:
    sender = port.cable.sender
    if sender.backlog is not None:
        return sender.backlog
    rate_bps = port.rate_bps if sender.rate_bps is None else sender.rate_bps
    if not (sender.is_router and rate_bps):
        return Limit(packets=BACKLOG_PACKETS)
    return Limit(bytes=max(rate_bps * LATE_MS // 8000, BACKLOG_FRAMES_MIN * MTU_BYTES))


def _line(impairment: Impairment) -> Line:
    return Line(
        delay_us=impairment.delay_ns / 1e3,
        jitter_us=impairment.jitter_ns / 1e3,
        stalls=Stalls(impairment.stall_ppm / 1e6, impairment.stall_max_ns / 1e3),
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
