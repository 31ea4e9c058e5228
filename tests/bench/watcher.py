"""Looks at a router as the page and its server do, until it is ended.

    python -m tests.bench.watcher ADDRESS

At SIGUSR1 it rests, and at the next one it looks again. Messages come through the page's own relay
and are decoded here, where the page decodes them in the browser. It asks for what the page asks
for, and gives single packets up where the page does (patience.py): tests/glass/test_patience.py
holds both together.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator

from google.rpc import code_pb2, status_pb2
from vitrine.v1 import router_pb2

from labs.glass.relay import RefusedError, Relay
from tests.bench.patience import Patience
from topo import wait

# Its output after the first sample.
WATCHING = "watching"
ROUTER = "s1"
# As in glass/js/page/watching.js and glass.js.
_INTERVAL_MS, _FAST_INTERVAL_MS, _HEAD_BYTES = 20, 100, 48
_DESCRIBE_S = 2.0
_PS_PER_MS = 1e9


async def main(address: str) -> None:
    """Never returns."""
    relay = Relay(read_only=True)
    relay.leads_to({ROUTER: address})
    turn = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, turn.set)
    page = _Page(relay)
    while True:
        looking = asyncio.gather(page.describe(), page.watch())
        told = asyncio.create_task(turn.wait())
        await asyncio.wait((looking, told), return_when=asyncio.FIRST_COMPLETED)
        if looking.done():
            looking.result()
        turn.clear()
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking
        await turn.wait()
        turn.clear()


class _Page:
    """A page's state for one router."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._patience = Patience(is_live=True)

    async def describe(self) -> None:
        """Reads the configuration again and again."""
        # At every look it is another time.
        async for _ in wait.changes(time.monotonic, _DESCRIBE_S):
            async for answer in _call(self._relay, "Describe", router_pb2.DescribeRequest()):
                router_pb2.DescribeResponse.FromString(answer)

    async def watch(self) -> None:
        """Begins anew whenever the page would."""
        while True:
            try:
                await self._watch_once()
            except RefusedError as refused:
                code = status_pb2.Status.FromString(refused.status).code
                if code != code_pb2.RESOURCE_EXHAUSTED:
                    raise
                self._patience.refused(_now_ms())

    async def _watch_once(self) -> None:
        patience = self._patience
        tells_packets = not patience.without_packets
        patience.begins()
        # The first sample of the last seconds.
        first: router_pb2.Sample | None = None
        until_ms = 0.0
        request = asked(tells_packets=tells_packets)
        async with contextlib.aclosing(_call(self._relay, "Watch", request)) as messages:
            async for message in messages:
                told = router_pb2.WatchResponse.FromString(message)
                now_ms = _now_ms()
                if told.HasField("start"):
                    until_ms = told.start.time_ps / _PS_PER_MS
                if told.HasField("sample"):
                    _say_once()
                    first = first or told.sample
                    until_ms = told.sample.time_ps / _PS_PER_MS
                    if until_ms - first.time_ps / _PS_PER_MS >= 1000 * _DESCRIBE_S:
                        if patience.sends(now_ms, _sent_bps(first, told.sample)):
                            return
                        first = told.sample
                if tells_packets and patience.told(
                    now_ms, until_ms, has_lost=bool(told.lost_events)
                ):
                    return


def _now_ms() -> float:
    return 1000 * time.monotonic()


def asked(*, tells_packets: bool) -> router_pb2.WatchRequest:
    """The page's request to a live router."""
    request = router_pb2.WatchRequest(
        interval_ms=_INTERVAL_MS if tells_packets else _FAST_INTERVAL_MS,
        marks=True,
        links=True,
        overruns=tells_packets,
        head_bytes=_HEAD_BYTES,
        packets=tells_packets,
        arbitrations=True,
        flows=not tells_packets,
        may_lose=True,
    )
    request.drops.SetInParent()
    return request


def _sent_bps(first: router_pb2.Sample, last: router_pb2.Sample) -> float:
    """The rate of departures between two samples, in bits per second."""
    bits = 8 * (_departed_bytes(last) - _departed_bytes(first))
    return bits * 1000 * _PS_PER_MS / (last.time_ps - first.time_ps)


def _departed_bytes(sample: router_pb2.Sample) -> int:
    return sum(port.counters.counters.departed.bytes for port in sample.ports)


async def _call(relay: Relay, name: str, request: object) -> AsyncIterator[bytes]:
    requests: asyncio.Queue[bytes | None] = asyncio.Queue()
    requests.put_nowait(request.SerializeToString())  # type: ignore[attr-defined]
    async for message in relay.call(ROUTER, f"/vitrine.v1.Router/{name}", requests):
        yield message


_said: list[str] = []


def _say_once() -> None:
    if not _said:
        _said.append(WATCHING)
        print(WATCHING, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
