"""A switch's queues as they can be seen from outside, for switches that do not show their own.

    Tap(topology, switch, {1: "s1-sw1", 2: "s1-sw2"}).watch(interval_ms=4, ports=[2])

Every frame is seen twice: where it enters the switch, and where it leaves. In between it is inside:
in a queue, or in a buffer that the switch does not speak of. `Books` keeps that account for one
port, whose packets leave in the order in which they came:

1. a frame that is routed to the port enters: it is pending,
2. it leaves: it was held since it came; every frame that is pending from before it was dropped,
   at the instant at which it came (a queue drops at its tail),
3. what is pending for longer than any queue of a lab is was dropped too, and no later frame told.

So the state of an instant is known only when the fate of every frame that came before it is: the
samples lag by what the queue delays, and are exact. Why a packet was dropped nobody can see from
outside: all drops have the reason NOT_SAID. So it is one FIFO a port; several classes would need
the switch's help.
"""

from __future__ import annotations

import bisect
import contextlib
import ipaddress
import select
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from controller.queues import PortState, QueueState, Sample
from topo import paths
from topo.errors import MachineError
from topo.model import Network, Switch, Topology

NOT_SAID = "NOT_SAID"
# No queue of a lab delays for that long: 100 full frames at 1 Mb/s are 1.2 s.
LOST_AFTER_S = 10.0
# A frame of the largest MTU: nothing longer passes the cables.
_FRAME_BYTES_MAX = 1 << 16
_ANCILLARY_BYTES = 64
_RECEIVE_BUFFER_BYTES = 4 << 20
_ETH_P_ALL, _ETHERNET_BYTES = 0x0003, 14
_IPV4, _IPV6 = 0x0800, 0x86DD
# linux/socket.h, linux/if_packet.h: Python's socket module does not name them all.
_SO_TIMESTAMPNS, _PACKET_OUTGOING = 35, 4
_SOL_PACKET, _PACKET_STATISTICS = 263, 6


# ---- one port's account --------------------------------------------------------------------------


@dataclass
class _Pending:
    time_s: float
    key: bytes
    length: int


@dataclass
class Books:
    """Counts of frames that entered for a port, that left it, and that never did."""

    held_packets: int = 0
    held_bytes: int = 0
    departed_packets: int = 0
    departed_bytes: int = 0
    dropped_packets: int = 0
    # In the order of their arrival; their fate is unknown.
    _pending: deque[_Pending] = field(default_factory=deque)
    _keys: Counter[bytes] = field(default_factory=Counter)
    # Changes of the totals that are certain, in the order of time: (time, held, length).
    _arrived: deque[tuple[float, int, int]] = field(default_factory=deque)
    _left: deque[tuple[float, int, int]] = field(default_factory=deque)

    def enter(self, time_s: float, key: bytes, length: int) -> None:
        """A frame that is meant for the port has come into the switch."""
        self._pending.append(_Pending(time_s, key, length))
        self._keys[key] += 1

    def leave(self, time_s: float, key: bytes, length: int) -> None:
        """A frame has left by the port."""
        if self._keys[key] == 0:
            # The switch's own, such as an answer of its controller: it was in no queue of ours.
            self._left.append((time_s, 0, length))
            return
        while (frame := self._forget_first()).key != key:
            self._arrived.append((frame.time_s, 0, frame.length))
        self._arrived.append((frame.time_s, 1, frame.length))
        self._left.append((time_s, 1, length))

    def known_until(self, now_s: float) -> float:
        """The instant up to which everything is certain, if all events until `now_s` have come."""
        self._give_up(now_s)
        return self._pending[0].time_s if self._pending else now_s

    def advance(self, time_s: float) -> None:
        """Makes the totals those of an instant that is certain."""
        while self._arrived and self._arrived[0][0] <= time_s:
            _, held, length = self._arrived.popleft()
            if held:
                self.held_packets += 1
                self.held_bytes += length
            else:
                self.dropped_packets += 1
        while self._left and self._left[0][0] <= time_s:
            _, held, length = self._left.popleft()
            self.held_packets -= held
            self.held_bytes -= held * length
            self.departed_packets += 1
            self.departed_bytes += length

    def state(self, port: int) -> PortState:
        """The totals as a reading."""
        dropped = {NOT_SAID: self.dropped_packets} if self.dropped_packets else {}
        totals = (
            self.held_packets,
            self.held_bytes,
            self.departed_packets,
            self.departed_bytes,
            dropped,
        )
        return PortState(port, *totals, queues=(QueueState(0, *totals),))

    def _give_up(self, now_s: float) -> None:
        """Frames that came too long ago to be in any queue were dropped."""
        while self._pending and self._pending[0].time_s < now_s - LOST_AFTER_S:
            frame = self._forget_first()
            self._arrived.append((frame.time_s, 0, frame.length))

    def _forget_first(self) -> _Pending:
        frame = self._pending.popleft()
        self._keys[frame.key] -= 1
        if self._keys[frame.key] == 0:
            del self._keys[frame.key]
        return frame


# ---- frames --------------------------------------------------------------------------------------


def identity(frame: bytes) -> tuple[bytes, ipaddress.IPv4Address | ipaddress.IPv6Address] | None:
    """The part of a frame that no router changes, and its destination; None if it is not IP.

    Left out are the Ethernet addresses, TTL, the DSCP and ECN bits and IPv4's header checksum. The
    beginning of the payload tells retransmissions apart where the identification does not.
    """
    (ether_type,) = struct.unpack_from("!H", frame, 12) if len(frame) >= _ETHERNET_BYTES else (0,)
    packet = frame[_ETHERNET_BYTES:]
    if ether_type == _IPV4 and len(packet) >= 20:
        return (
            packet[2:8] + packet[9:10] + packet[12:],
            ipaddress.IPv4Address(packet[16:20]),
        )
    if ether_type == _IPV6 and len(packet) >= 40:
        return packet[4:7] + packet[8:], ipaddress.IPv6Address(packet[24:40])
    return None


class _Ways:
    """Which port a destination is routed to."""

    def __init__(self, topology: Topology, switch: Switch) -> None:
        found: dict[Network, Sequence[paths.Hop]] = {
            route.prefix: route.hops for route in paths.routes(topology, switch)
        }
        self._routes = sorted(found.items(), key=lambda item: -item[0].prefixlen)
        self._known: dict[ipaddress.IPv4Address | ipaddress.IPv6Address, int | None] = {}

    def port(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> int | None:
        """The port, or None if the switch does not forward to that address."""
        if address not in self._known:
            ways = (hops[0].port for prefix, hops in self._routes if address in prefix)
            self._known[address] = next(ways, None)
        return self._known[address]


# ---- the instrument ------------------------------------------------------------------------------


# Time, port, whether the frame leaves the switch there, and the frame.
_Event: TypeAlias = tuple[float, int, bool, bytes]


class Tap:
    """Readings of a switch from its interfaces; its clock counts seconds since 1970."""

    def __init__(self, topology: Topology, switch: Switch, interfaces: Mapping[int, str]) -> None:
        """`interfaces` are the ends of the cables that the switch holds, by port."""
        self._switch = switch
        self._ways = _Ways(topology, switch)
        self._interfaces = interfaces

    def read(self, ports: Iterable[int] = ()) -> Sample:
        """This instant, before anything was seen: the zero of a recording's clock."""
        chosen = sorted(ports) or sorted(self._interfaces)
        return Sample(time.time(), 0, {port: Books().state(port) for port in chosen})

    def held_up_s(self, least_s: float) -> float:
        """Nothing that the switch would tell."""
        return 0.0

    @contextlib.contextmanager
    def watch(self, interval_ms: int, ports: Iterable[int] = ()) -> Iterator[Iterator[Sample]]:
        """Samples for as long as the `with` block runs; leaving it ends them."""
        chosen = sorted(ports) or sorted(self._interfaces)
        for port in chosen:
            if self._switch.port(port).settings.queue_count != 1:
                raise MachineError(
                    f"port {port} of {self._switch.name}: this switch does not show its queues, "
                    "and from outside several look like one: give the port one class "
                    "(classes: 1)."
                )
        ending = threading.Event()
        with contextlib.ExitStack() as opened:
            sockets = {
                port: opened.enter_context(_open(name)) for port, name in self._interfaces.items()
            }
            # From here on they are the reader's, which may be another thread: it closes them.
            reader = self._samples(opened.pop_all(), sockets, interval_ms / 1000, chosen, ending)
        try:
            yield reader
        finally:
            ending.set()

    def _samples(
        self,
        opened: contextlib.ExitStack,
        sockets: Mapping[int, socket.socket],
        interval_s: float,
        ports: Sequence[int],
        ending: threading.Event,
    ) -> Iterator[Sample]:
        books = {port: Books() for port in ports}
        next_s = time.time()
        early: list[_Event] = []
        missed = 0
        with opened:
            while not ending.is_set():
                select.select(list(sockets.values()), [], [], interval_s)
                # Frames with a time before this one are in a socket by now: nothing older can
                # follow.
                until_s = time.time()
                early += (event for port, each in sockets.items() for event in _drain(port, each))
                early.sort()
                count = bisect.bisect_left(early, until_s, key=lambda event: event[0])
                for event in early[:count]:
                    self._note(books, *event)
                del early[:count]
                missed += sum(map(_lost, sockets.values()))
                certain_s = min(each.known_until(until_s) for each in books.values())
                while next_s < certain_s:
                    yield Sample(next_s, missed, _advanced(books, next_s))
                    missed = 0
                    next_s += interval_s

    def _note(
        self,
        books: Mapping[int, Books],
        time_s: float,
        port: int,
        leaves: bool,
        frame: bytes,
    ) -> None:
        known = identity(frame)
        if leaves and port in books:
            books[port].leave(time_s, known[0] if known else b"", len(frame))
        elif not leaves and known is not None:
            target = self._ways.port(known[1])
            if target is not None and target in books and target != port:
                books[target].enter(time_s, known[0], len(frame))


def _advanced(books: Mapping[int, Books], time_s: float) -> dict[int, PortState]:
    for each in books.values():
        each.advance(time_s)
    return {port: each.state(port) for port, each in books.items()}


def _open(interface: str) -> socket.socket:
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        tap.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        tap.bind((interface, _ETH_P_ALL))
    except OSError as error:
        raise MachineError(f"{interface} cannot be watched: {error.strerror}.") from error
    tap.setblocking(False)
    return tap


def _drain(port: int, tap: socket.socket) -> Iterator[_Event]:
    while True:
        try:
            frame, ancillary, _, source = tap.recvmsg(_FRAME_BYTES_MAX, _ANCILLARY_BYTES)
        except BlockingIOError:
            return
        (stamp,) = (data for _, kind, data in ancillary if kind == _SO_TIMESTAMPNS)
        seconds, nanoseconds = struct.unpack("@ll", stamp)
        yield seconds + nanoseconds / 1e9, port, source[2] == _PACKET_OUTGOING, frame


def _lost(tap: socket.socket) -> int:
    """Frames that the tap was too slow for since the last call."""
    return struct.unpack("@II", tap.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))[1]
