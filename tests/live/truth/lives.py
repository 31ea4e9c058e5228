"""The life of each packet in each router: when and where it came in, and how it left.

A router's capture has the packets and their times on the clock of the capture; its event stream has
the depths of the queues, on the clock that the router's program sees. Both tell of the same
departures in the same order, so one constant between the clocks joins them, and if it is not the
same for all packets one of the two is wrong.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.live.truth import packets
from tests.live.truth.capture import Frame
from tests.live.truth.depths import Departure

PS_PER_NS = 1000
PS_PER_S = 10**12


@dataclass(frozen=True)
class Life:
    """One packet that went through one router; times in nanoseconds of the router's clock."""

    identity: tuple[bytes, ...]
    ingress_port: int
    egress_port: int
    queue: int
    ingress_ns: int
    egress_ns: int
    # The bytes left in its queue and in the router.
    queue_bytes: int
    router_bytes: int
    # The busy part of its line in the last full window before it left, in 0.01 percent.
    utilisation: int


@dataclass(frozen=True)
class Drop:
    """A packet that a queue, a limit or queue management dropped."""

    ingress_port: int
    # The port and queue it was for.
    port: int
    queue: int
    # In the words of vitrine.v1.
    reason: str
    # When it came in.
    ingress_ns: int


@dataclass(frozen=True)
class Ends:
    """The fates of a router's packets: in the order of departures, and of drops."""

    lives: list[Life]
    drops: list[Drop]


def of_router(
    frames: Sequence[Frame],
    departures: Sequence[Departure],
    *,
    rate_bps: Mapping[int, int],
    window_ps: int,
) -> Ends:
    """The TCP and UDP packets that passed a router, and those that its queues dropped.

    `rate_bps` is by port. Copies that became reports have no life: they never came in.
    """
    # Packets that the program dropped at the end had left their queue, too.
    gone = [frame for frame in frames if frame.queue and frame.reason in (None, "egress_program")]
    first, zero_ns = _joint(gone, departures)
    departure_of = dict(zip(map(id, gone[first:]), departures, strict=False))
    # Packets that are alike in every byte leave in the order in which they came in.
    inside: dict[tuple[bytes, ...], deque[Frame]] = defaultdict(deque)
    lines = {port: _Line(rate, window_ps) for port, rate in rate_bps.items()}
    ends = Ends([], [])
    for frame in frames:
        packet = packets.of_frame(frame.data)
        identity = packet.identity if packet else ()
        if frame.queue is None:
            inside[identity].append(frame)
        elif frame.reason not in (None, "egress_program"):
            # A full queue drops who came last.
            arrived = inside[identity].pop()
            ends.drops.append(
                Drop(frame.input, *frame.queue, frame.reason.upper(), arrived.time_ns - zero_ns)
            )
        departure = departure_of.get(id(frame))
        if departure is None:
            continue
        utilisation = lines[departure.port].sent(departure.time_ps, len(frame.data))
        if packet is not None and inside[identity]:
            ends.lives.append(
                Life(
                    identity=identity,
                    ingress_port=frame.input,
                    egress_port=departure.port,
                    queue=departure.queue,
                    ingress_ns=inside[identity].popleft().time_ns - zero_ns,
                    egress_ns=departure.time_ps // PS_PER_NS,
                    queue_bytes=departure.queue_bytes,
                    router_bytes=departure.router_bytes,
                    utilisation=utilisation,
                )
            )
    return ends


def _joint(gone: Sequence[Frame], departures: Sequence[Departure]) -> tuple[int, int]:
    """Where in the capture the event stream begins, and the constant between the clocks.

    The capture begins with the router and ends with it; the stream is shorter at both ends.
    """
    shifts = range(len(gone) - len(departures) + 1)
    for first in shifts:
        pairs = list(zip(gone[first:], departures, strict=False))
        zeros = {frame.time_ns - departure.time_ps // PS_PER_NS for frame, departure in pairs}
        queues_agree = all(
            frame.queue == (departure.port, departure.queue) for frame, departure in pairs
        )
        if len(zeros) == 1 and queues_agree:
            return first, zeros.pop()
    raise AssertionError("the router's capture and its event stream report different departures")


class _Line:
    """How busy a line was: the share of its last full window, as the router counts it.

    The specification of the count is one sentence, "busy time in the window before this one", and
    this is that sentence in whole picoseconds; the router does it without remembering the frames.
    """

    def __init__(self, rate_bps: int, window_ps: int) -> None:
        self._ps_per_byte = 8 * PS_PER_S // rate_bps
        self._window_ps = window_ps
        self._busy_ps: dict[int, int] = defaultdict(int)

    def sent(self, at_ps: int, length_bytes: int) -> int:
        """A frame goes onto the line; returns the share before it."""
        window = at_ps // self._window_ps
        share = self._busy_ps[window - 1] * 10_000 // self._window_ps
        start, end = at_ps, at_ps + length_bytes * self._ps_per_byte
        while start < end:
            window = start // self._window_ps
            until = min(end, (window + 1) * self._window_ps)
            self._busy_ps[window] += until - start
            start = until
        return share
