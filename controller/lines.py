"""The cables at a switch's ports through `vitrine.v1.Router`: delay, jitter, loss, and their books.

    lines = Lines(session)
    lines.configure({1: Cable(transmit=Line(delay_us=10_000, loss=0.0001))})
    lines.read([1])[1].transmit.lost_packets

A cable has one line each way. Frames that the neighbour hands over faster than its network card
could send them wait in the `Sender`, by default at the port's rate; a port without a rate has no
such wait. None leaves a part as it is; a part that is given replaces what was set of it, so
`transmit=Line()` makes that line clear again. Frames under way arrive as if nothing had changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vitrine.v1 import router_pb2

from controller.router_service import RouterStub, refusals
from controller.session import REQUEST_DEADLINE_S, Session
from controller.stream import halves

PPB = 1_000_000_000
NS_PER_US = 1_000

# A rate of the sender: as fast as frames come.
UNLIMITED = 0
# The default queue of a neighbour's network card (Linux's txqueuelen).
BACKLOG_PACKETS = 1000


@dataclass(frozen=True)
class BurstyLoss:
    """Losses in bursts (Gilbert and Elliott): the line is good or bad, and changes between frames.

    Each value is a probability from 0 to 1; the mean length of a bad spell is 1 / turns_good.
    """

    turns_bad: float
    turns_good: float
    while_bad: float = 1.0
    while_good: float = 0.0


@dataclass(frozen=True)
class Stalls:
    """A share of the frames comes later still: their sender was busy with something else."""

    share: float = 0.0
    # By how much, evenly distributed from 0 to this.
    max_us: float = 0


@dataclass(frozen=True)
class Line:
    """The impairments of one direction. Shares are probabilities from 0 to 1: 0.01 % is 0.0001."""

    delay_us: float = 0
    # On top of the delay, evenly distributed from 0 to this.
    jitter_us: float = 0
    # On top of both, for some frames; without `reorder`, those behind such a frame wait for it.
    stalls: Stalls = Stalls()
    # Whether jitter and stalls may make a frame overtake another.
    reorder: bool = False
    loss: float | BurstyLoss = 0.0
    # The share of frames that arrive with one bit flipped, and of those that arrive twice.
    corruption: float = 0.0
    duplication: float = 0.0


@dataclass(frozen=True)
class Sender:
    """The neighbour's network card."""

    # None: the rate of the port; UNLIMITED: as fast as frames come.
    rate_bps: int | None = None
    # The limits of its queue; both None is no limit.
    backlog_packets_max: int | None = BACKLOG_PACKETS
    backlog_bytes_max: int | None = None


@dataclass(frozen=True)
class Cable:
    """A lab's settings for the cable of a port; None leaves that part as it is."""

    sender: Sender | None = None
    receive: Line | None = None
    transmit: Line | None = None


@dataclass(frozen=True)
class LineState:
    """The books of one line; frames do not touch a line that has nothing to do.

    offered + duplicated = delivered + lost + refused + backlog + under way, at any instant.
    """

    offered_packets: int
    delivered_packets: int
    lost_packets: int
    # The sender's backlog was full.
    refused_packets: int
    duplicated_packets: int
    # Delivered with a bit flipped; in `delivered_packets` too.
    corrupted_packets: int
    # The sender's queue, and its highest depth.
    backlog_packets: int
    backlog_bytes: int
    backlog_bytes_max: int
    under_way_packets: int
    under_way_bytes: int


@dataclass(frozen=True)
class CableState:
    """The settings of the cable of a port, and its counters."""

    cable: Cable
    receive: LineState
    transmit: LineState


class Lines:
    """The client for cables of `vitrine.v1.Router` on a session's connection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stub = RouterStub(session.channel)
        # The settings, for a switch that needs them again after a restart.
        self._in_force: dict[int, router_pb2.Link] = {}
        session.on_restored(self._restore)

    def configure(self, cables: Mapping[int, Cable]) -> None:
        """Changes the cables of these ports, all at one instant; or none, and says why."""
        changes = {port: _link_message(cable) for port, cable in cables.items()}

        def send() -> None:
            with refusals("the device refused the settings of its cables"):
                self._send(changes)

        self._session.patiently(send)
        for port, link in changes.items():
            # The parts that were given are replaced whole.
            kept = self._in_force.setdefault(port, router_pb2.Link())
            for part, _ in link.ListFields():
                kept.ClearField(part.name)
            kept.MergeFrom(link)

    def _restore(self) -> None:
        if self._in_force:
            self._send(self._in_force)

    def _send(self, links: Mapping[int, router_pb2.Link]) -> None:
        request = router_pb2.ConfigureRequest(
            device_id=self._session.device_id,
            election_id=router_pb2.ElectionId(**halves(self._session.election_id)),
        )
        for port, link in sorted(links.items()):
            request.ports.add(port=port, config=router_pb2.PortConfig(link=link))
        self._stub.configure(request, timeout=REQUEST_DEADLINE_S)

    def read(self, ports: Iterable[int] = ()) -> dict[int, CableState]:
        """Settings and books of the cables at these ports, or at all, of one instant."""
        request = router_pb2.DescribeRequest(ports=sorted(ports), device_id=self._session.device_id)

        def ask() -> router_pb2.DescribeResponse:
            with refusals("the device does not describe its cables"):
                return self._stub.describe(request, timeout=REQUEST_DEADLINE_S)

        answer = self._session.patiently(ask)
        return {
            port.port: CableState(
                _cable(port.config.link),
                _line_state(port.counters.receive_line),
                _line_state(port.counters.transmit_line),
            )
            for port in answer.ports
        }


def _link_message(cable: Cable) -> router_pb2.Link:
    link = router_pb2.Link()
    if cable.sender is not None:
        sender = cable.sender
        backlog = router_pb2.Limit(
            packets=sender.backlog_packets_max or 0, bytes=sender.backlog_bytes_max or 0
        )
        link.sender.CopyFrom(router_pb2.Sender(rate_bps=sender.rate_bps, backlog=backlog))
    if cable.receive is not None:
        link.receive.CopyFrom(_line_message(cable.receive))
    if cable.transmit is not None:
        link.transmit.CopyFrom(_line_message(cable.transmit))
    return link


def _line_message(line: Line) -> router_pb2.Line:
    message = router_pb2.Line(
        delay_ns=round(line.delay_us * NS_PER_US),
        jitter=router_pb2.Jitter(max_ns=round(line.jitter_us * NS_PER_US), reorder=line.reorder),
        stalls=router_pb2.Stalls(
            share_ppb=_ppb(line.stalls.share), max_ns=round(line.stalls.max_us * NS_PER_US)
        ),
        corruption_ppb=_ppb(line.corruption),
        duplication_ppb=_ppb(line.duplication),
    )
    match line.loss:
        case BurstyLoss(turns_bad, turns_good, while_bad, while_good):
            message.loss.bursty.CopyFrom(
                router_pb2.BurstyLoss(
                    turns_bad_ppb=_ppb(turns_bad),
                    turns_good_ppb=_ppb(turns_good),
                    while_good_ppb=_ppb(while_good),
                    while_bad_ppb=_ppb(while_bad),
                )
            )
        case share if share != 0:
            message.loss.independent_ppb = _ppb(share)
    return message


def _ppb(share: float) -> int:
    if not 0 <= share <= 1:
        raise ValueError(f"a share of frames is from 0 to 1, not {share}; 0.01 % is 0.0001")
    return round(share * PPB)


def _cable(link: router_pb2.Link) -> Cable:
    sender = link.sender
    rate_bps = sender.rate_bps if sender.HasField("rate_bps") else None
    return Cable(
        Sender(rate_bps, sender.backlog.packets or None, sender.backlog.bytes or None),
        _line(link.receive),
        _line(link.transmit),
    )


def _line(message: router_pb2.Line) -> Line:
    loss: float | BurstyLoss = message.loss.independent_ppb / PPB
    if message.loss.WhichOneof("kind") == "bursty":
        bursty = message.loss.bursty
        loss = BurstyLoss(
            turns_bad=bursty.turns_bad_ppb / PPB,
            turns_good=bursty.turns_good_ppb / PPB,
            while_bad=bursty.while_bad_ppb / PPB,
            while_good=bursty.while_good_ppb / PPB,
        )
    return Line(
        delay_us=message.delay_ns / NS_PER_US,
        jitter_us=message.jitter.max_ns / NS_PER_US,
        stalls=Stalls(message.stalls.share_ppb / PPB, message.stalls.max_ns / NS_PER_US),
        reorder=message.jitter.reorder,
        loss=loss,
        corruption=message.corruption_ppb / PPB,
        duplication=message.duplication_ppb / PPB,
    )


def _line_state(counters: router_pb2.LineCounters) -> LineState:
    return LineState(
        offered_packets=counters.offered.packets,
        delivered_packets=counters.delivered.packets,
        lost_packets=counters.lost.packets,
        refused_packets=counters.refused.packets,
        duplicated_packets=counters.duplicated.packets,
        corrupted_packets=counters.corrupted.packets,
        backlog_packets=counters.backlog.packets,
        backlog_bytes=counters.backlog.bytes,
        backlog_bytes_max=counters.backlog_high_water.bytes,
        under_way_packets=counters.under_way.packets,
        under_way_bytes=counters.under_way.bytes,
    )
