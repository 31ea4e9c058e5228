"""The contract of your class. Nothing here does anything: the methods are the contract.

Time is a whole number of picoseconds, as everywhere in the router: 10**12 are a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

PASS = 0
MARK = 1
DROP = 2

# The slow-start threshold of a connection that has lost nothing yet.
NO_THRESHOLD = 2**31 - 1


class Arbiter:
    """Matches the inputs and outputs of a crossbar.

    One object decides for one router from its start to its end, so what it remembers is its own.
    """

    def __init__(self, ports: int, iterations: int, seed: int) -> None:
        """A crossbar of `ports` inputs and as many outputs, both counted from 0.

        `iterations` is the number behind the class on the command line, 1 if there is none; `seed`
        is the run's, for `Chance`.
        """
        self.ports = ports
        self.iterations = iterations
        self.seed = seed

    def match(self, asks: Sequence[Sequence[int]], now: int) -> Iterable[tuple[int, int]]:
        """Pairs `(input, output)` that send now.

        `asks[output]` has the free inputs with a packet for that output, in rising order; it is
        empty for an output that is busy. No input and no output may be in two pairs, and each pair
        must have been asked for. Whoever is left out asks again.
        """
        raise NotImplementedError


class Scheduler:
    """Chooses which class of a port sends next.

    It is told of every packet that enters and leaves, and asked whenever the line is free and
    something waits.
    """

    def __init__(self, weights: Sequence[int], rate: int) -> None:
        """Classes 0, 1, ... with these weights, before a line of `rate` bits a second."""
        self.weights = weights
        self.rate = rate

    def enqueued(self, group: int, length: int, now: int) -> None:
        """A packet of `length` bytes entered the queue of class `group`."""

    def choose(self, heads: Mapping[int, int], now: int) -> int:
        """The class that sends: one of the keys of `heads`.

        `heads` has each class that may send, lowest first, and the length of its first packet in
        bytes.
        """
        raise NotImplementedError

    def departed(self, group: int, length: int, emptied: bool) -> None:
        """The class that was chosen sent a packet; `emptied`: nothing waits there any more."""

    def dropped(self, group: int, length: int, emptied: bool) -> None:
        """Queue management dropped the first packet of a class, which then asks again."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet that an AQM must decide on."""

    # Bytes.
    length: int
    # The other packets in its queue.
    queue_packets: int
    queue_bytes: int
    # Whether it may be marked instead of dropped.
    ecn: bool


class Aqm:
    """Drops or marks packets of one queue before it is full.

    Each answer is `PASS`, `DROP`, or `MARK` if `packet.ecn`. What a method leaves alone passes.
    """

    def __init__(self, rate: int, seed: int) -> None:
        """A queue before a line of `rate` bits a second; `seed` is the run's, for `Chance`."""
        self.rate = rate
        self.seed = seed

    def arrival(self, packet: Packet, now: int) -> int:
        """A packet that fits asks to be let in; the queue holds what there is without it."""
        return PASS

    def departure(self, packet: Packet, waited: int, now: int) -> int:
        """A packet is about to leave after this many picoseconds; if it is dropped, the next is."""
        return PASS


@dataclass(slots=True)
class Window:
    """How much of a connection may be in flight, in packets; yours to change."""

    # So many packets may be in flight; never less than 1.
    cwnd: int = 10
    # Slow start ends here.
    ssthresh: int = NO_THRESHOLD
    # Packets acknowledged towards the next increase of `cwnd` by one; 0 after each loss.
    count: int = 0
    # The value of `cwnd` before the last reduction.
    prior_cwnd: int = 0

    @property
    def in_slow_start(self) -> bool:
        """Whether the window has not reached the threshold yet."""
        return self.cwnd < self.ssthresh

    def slow_start(self, acked: int) -> int:
        """One packet more for each that was acknowledged, up to the threshold; returns the rest."""
        grown = min(self.cwnd + acked, self.ssthresh)
        left = acked - (grown - self.cwnd)
        self.cwnd = grown
        return left

    def additive_increase(self, cost: int, acked: int) -> None:
        """One packet more for every `cost` that are acknowledged."""
        # Credit earned at a slower growth is worth one packet at most.
        if self.count >= cost:
            self.count = 0
            self.cwnd += 1
        self.count += acked
        self.cwnd += self.count // cost
        self.count %= cost


class Path(NamedTuple):
    """A connection's knowledge of its path at one instant."""

    now: int
    # Payload bytes of a full segment.
    mss: int
    # The smoothed round-trip time and the least of the last minutes, in microseconds; 0 and 2**32 -
    # 1 before the first measurement.
    srtt_us: int
    min_rtt_us: int
    # Packets believed to be in the network.
    in_flight: int
    # The first byte that is not acknowledged, and the next to send.
    una: int
    nxt: int
    # Packets delivered, of these with a congestion mark, and counted as lost, since the beginning.
    delivered: int
    delivered_ce: int
    lost: int
    # Bytes a second at which segments are spaced out; 2**64 - 1 where they are not.
    pacing_rate: int
    # Whether the window is what keeps the sender from sending more.
    cwnd_limited: bool
    # Whether the application has nothing to send.
    app_limited: bool
    paced: bool


class CongestionControl:
    """Decides how many packets of one connection may be in flight.

    The host's TCP does all the rest: it finds losses, sends again, and brings `cwnd` down to the
    threshold in step with what arrives (RFC 6937). While it does so, `grow` is not asked. After a
    timeout it begins with one packet.
    """

    # How marks are used: as losses, once a round trip (RFC 3168); or each of them is reported, in
    # `path.delivered_ce` (RFC 8257); or the same with packets that say so (RFC 9331, L4S).
    marks: Literal["classic", "every mark", "L4S"] = "classic"

    def __init__(self, flow: int, seed: int) -> None:
        """Connection `flow` of the network, from 1; `seed` is the run's, for `Chance`."""
        self.flow = flow
        self.seed = seed

    def begun(self, window: Window, path: Path) -> None:
        """The handshake is over."""

    def grow(self, window: Window, path: Path, acked: int) -> None:
        """`acked` packets were delivered outside of any reduction: raise `window.cwnd`, or not."""
        raise NotImplementedError

    def lost(self, window: Window, path: Path) -> int:
        """Packets were lost or marked. Returns the new threshold, which `cwnd` will come down to.

        It is asked once a round trip at most, and before `timed_out`.
        """
        raise NotImplementedError

    def measured(self, window: Window, path: Path, rtt_us: int) -> None:
        """A packet was acknowledged, whose round trip took this many microseconds."""

    def timed_out(self, window: Window, path: Path) -> None:
        """Nothing came back for too long: all in flight counts as lost."""

    def resumed(self, window: Window, path: Path) -> None:
        """The first packet leaves after nothing was in flight."""

    def undone(self, window: Window, path: Path) -> int:
        """Nothing had been lost after all. Returns what `cwnd` becomes."""
        return max(window.cwnd, window.prior_cwnd)
