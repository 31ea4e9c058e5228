"""Limits on the cost of look-only pages to the network and to the page that steers.

A class can open many such pages, and one of them may be hostile or broken. Their requests are
short; their Watches may lose messages, so that no network in virtual time waits for them; they
leave places free for pages that steer.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

from google.protobuf.message import DecodeError
from google.rpc import code_pb2
from vitrine.v1 import router_pb2, world_pb2

from labs.glass.refusals import RefusedError

# A router has 32 places for Watches.
WATCHES_MAX = 24
# A page watches each router once, and again while the old Watch ends.
WATCHES_OF_PAGE_MAX = 4
PAGES_MAX = 64
FRAME_BYTES_MAX = 64 << 10

_WATCHES = {
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
        if method not in _WATCHES:
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


def lossy(method: str, request: bytes) -> bytes:
    """The request of a page that only looks: a Watch may lose messages, whatever the page asked."""
    if (message_type := _WATCHES.get(method)) is None:
        return request
    try:
        message = message_type.FromString(request)
    except DecodeError as error:
        raise RefusedError(code_pb2.INVALID_ARGUMENT, f"this is no request of {method}.") from error
    message.may_lose = True
    return message.SerializeToString()
