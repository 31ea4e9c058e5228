"""Limits on connections whose request has not been answered yet.

Anybody who reaches the server can open connections and send nothing. They end at a deadline, and an
address that opens too many loses its own oldest one, so others can still connect.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
from collections import Counter
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection

# A browser opens 6 connections at a time to load a page.
ARRIVALS_OF_CLIENT_MAX = 64
ARRIVALS_MAX = 256
# From the first byte to the whole request, and its answer if that is a file.
TIMEOUT_S = 30


def client_of(peer: str) -> str:
    """The client behind an address: an IPv6 host has as many addresses as it likes in its /64."""
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


class Arrivals:
    """The connections that are still arriving, the oldest first."""

    def __init__(self, limit: int, of_client: int) -> None:
        """At most `limit` in all, and `of_client` of one client."""
        self._limit, self._of_client = limit, of_client
        self._waiting: dict[int, tuple[str, Callable[[], None]]] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, peer: str, drop: Callable[[], None]) -> Callable[[], None]:
        """Counts a connection until the function that is returned is called.

        Where there are too many, the oldest of the client with the most is dropped.
        """
        client = client_of(peer)
        counts = Counter(each for each, _ in self._waiting.values())
        if counts[client] >= self._of_client:
            self._drop_oldest(client)
        elif len(self._waiting) >= self._limit:
            self._drop_oldest(counts.most_common(1)[0][0])
        number = self._next
        self._next += 1
        self._waiting[number] = client, drop

        def leave() -> None:
            self._waiting.pop(number, None)

        return leave

    def make_room(self) -> None:
        """Drops the older half: the process has no free descriptor for the next connection."""
        for _ in range((len(self._waiting) + 1) // 2):
            _, drop = self._waiting.pop(next(iter(self._waiting)))
            drop()

    def _drop_oldest(self, client: str) -> None:
        number = next(each for each, (owner, _) in self._waiting.items() if owner == client)
        _, drop = self._waiting.pop(number)
        drop()


def counting(arrivals: Arrivals) -> type[Connection]:
    """The class of connections that `arrivals` counts."""

    class Counted(Connection):
        _arrivals = arrivals

    return Counted


def make_room_when_exhausted(arrivals: Arrivals, loop: asyncio.AbstractEventLoop) -> None:
    """Lets `arrivals` make room whenever the loop cannot accept a connection.

    The loop reports that to its exception handler, and tries again a second later.
    """

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            arrivals.make_room()
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


class Connection(ServerConnection):
    """A connection that is counted until its socket is open."""

    _arrivals: Arrivals
    _leave: Callable[[], None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Counts it."""
        super().connection_made(transport)
        peer = self.transport.get_extra_info("peername") or ("",)
        self._leave = self._arrivals.add(str(peer[0]), self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone."""
        self._leave()
        super().connection_lost(exc)

    def has_arrived(self) -> None:
        """Its socket is open."""
        self._leave()
