"""Limits on the cost of look-only pages to the network and to the page that steers.

A class can open many such pages, and one of them may be hostile or broken. Their requests are
short; their Watches may lose messages, so that no network in virtual time waits for them; they
leave places free for pages that steer. Their other calls reach the routers a few at a time, and a
router never waits for a page that reads slowly.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Iterator

from google.protobuf.message import DecodeError
from google.rpc import code_pb2
from vitrine.v1 import router_pb2, world_pb2

from labs.glass.refusals import RefusedError

# A router has 32 places for Watches.
WATCHES_MAX = 24
# A page watches each router once, and again while the old Watch ends.
WATCHES_OF_PAGE_MAX = 4
PAGES_MAX = 64
# A class behind one address, as behind a router with NAT, shares these.
PAGES_OF_CLIENT_MAX = 24
FRAME_BYTES_MAX = 64 << 10
# Reads that all pages have at routers at a time; a page has one.
READS_MAX = 4
# One answer, which is kept here until the page has taken it.
ANSWER_BYTES_MAX = 2 << 20
# A silent router would keep a turn from pages that read from other routers.
SILENCE_S_MAX = 30

WATCHES = {
    "/vitrine.v1.Router/Watch": router_pb2.WatchRequest,
    "/vitrine.v1.World/WatchHosts": world_pb2.WatchHostsRequest,
}


class Places:
    """Places for Watches, at most `limit` of each router at a time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: Counter[str] = Counter()

    @contextlib.contextmanager
    def place(self, router: str, method: str) -> Iterator[None]:
        """A place for as long as the call lasts; RefusedError where all are taken."""
        if method not in WATCHES:
            yield
            return
        if self._taken[router] >= self._limit:
            raise RefusedError(
                code_pb2.RESOURCE_EXHAUSTED,
                f"pages that only look have {self._limit} streams of {router} open already; "
                "close one of the pages.",
            )
        self._taken[router] += 1
        try:
            yield
        finally:
            self._taken[router] -= 1


class Reads:
    """Turns to read from routers, which all pages that only look share."""

    def __init__(self, limit: int = READS_MAX) -> None:
        self._turns = asyncio.Semaphore(limit)

    def of_page(self) -> Read:
        """For the calls of one page."""
        return Read(self._turns)


class Read:
    """One page's turn: its calls follow each other, and end at the router before it takes them."""

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self._turns, self._own = turns, asyncio.Lock()

    async def all_of(self, answers: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        """The messages, read to their end; RefusedError where they are too long."""
        async with self._own:
            async with self._turns:
                messages = await _collected(answers)
            # The page takes them while another one reads.
            for message in messages:
                yield message


async def _collected(answers: AsyncGenerator[bytes]) -> list[bytes]:
    messages, left = [], ANSWER_BYTES_MAX
    async with contextlib.aclosing(answers):
        async for message in _unless_silent(answers):
            messages.append(message)
            left -= len(message)
            if left < 0:
                raise RefusedError(
                    code_pb2.RESOURCE_EXHAUSTED,
                    f"a page that only looks reads at most {ANSWER_BYTES_MAX >> 20} MiB at a "
                    "time; read one table, or a part of it.",
                )
    return messages


async def _unless_silent(answers: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    while True:
        try:
            message = await asyncio.wait_for(anext(answers, None), SILENCE_S_MAX)
        except asyncio.TimeoutError as error:
            raise RefusedError(
                code_pb2.DEADLINE_EXCEEDED, f"the router was silent for {SILENCE_S_MAX} s."
            ) from error
        if message is None:
            return
        yield message


def lossy(method: str, request: bytes) -> bytes:
    """The request of a page that only looks: a Watch may lose messages, whatever the page asked."""
    if (message_type := WATCHES.get(method)) is None:
        return request
    try:
        message = message_type.FromString(request)
    except (DecodeError, UnicodeDecodeError) as error:
        raise RefusedError(code_pb2.INVALID_ARGUMENT, f"this is no request of {method}.") from error
    message.may_lose = True
    return message.SerializeToString()
