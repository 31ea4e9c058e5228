"""Looks at a router as the page and its server do, until it is ended.

    python -m tests.bench.watcher ADDRESS

At SIGUSR1 it rests, and at the next one it looks again. Messages come through the page's own relay
and are decoded here, where the page decodes them in the browser. As the page does, it asks for
single packets and, where these are too many to be told, come later and later, or the router sends
more than 2 Gb/s, for depths alone.
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
from topo import wait

# What it says when the first sample has come.
WATCHING = "watching"
ROUTER = "s1"
# As in glass/js/page/watching.js and glass.js.
INTERVAL_MS, FAST_INTERVAL_MS, HEAD_BYTES = 20, 100, 48
DESCRIBE_S, LOST_TWICE_S, BEHIND_S = 2.0, 10.0, 2.0
PACKETS_BPS_MAX = 2e9
_PS_PER_S = 1e12


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
    """What a page remembers of one router."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._lost_at = float("-inf")
        self._tells_packets = True

    async def describe(self) -> None:
        """Reads the configuration again and again."""
        # At every look it is another time.
        async for _ in wait.changes(time.monotonic, DESCRIBE_S):
            async for answer in _call(self._relay, "Describe", router_pb2.DescribeRequest()):
                router_pb2.DescribeResponse.FromString(answer)

    async def watch(self) -> None:
        """Begins anew whenever the page would."""
        while True:
            try:
                self._tells_packets = await self._watch_once()
            except RefusedError as refused:
                code = status_pb2.Status.FromString(refused.status).code
                if code != code_pb2.RESOURCE_EXHAUSTED:
                    raise
                self._tells_packets = False
            if time.monotonic() - self._lost_at < LOST_TWICE_S:
                self._tells_packets = False
            self._lost_at = time.monotonic()

    async def _watch_once(self) -> bool:
        """Until events are lost, as nobody knows then where each packet is, or are too many.

        Whether single packets can be asked for once more.
        """
        tells_packets = self._tells_packets
        first: router_pb2.Sample | None = None
        least_s = float("inf")
        request = _request(tells_packets=tells_packets)
        async with contextlib.aclosing(_call(self._relay, "Watch", request)) as messages:
            async for message in messages:
                told = router_pb2.WatchResponse.FromString(message)
                if told.HasField("sample"):
                    _say_once()
                    first = first or told.sample
                    late_s = time.monotonic() - told.sample.time_ps / _PS_PER_S
                    least_s = min(least_s, late_s)
                    if tells_packets and late_s - least_s > BEHIND_S:
                        return True
                if told.lost_events and tells_packets:
                    return True
                if tells_packets and told.HasField("sample") and _is_fast(first, told.sample):
                    return False
        return tells_packets


def _request(*, tells_packets: bool) -> router_pb2.WatchRequest:
    """What the page asks for."""
    request = router_pb2.WatchRequest(
        interval_ms=INTERVAL_MS if tells_packets else FAST_INTERVAL_MS,
        marks=True,
        links=True,
        head_bytes=HEAD_BYTES,
        packets=tells_packets,
        arbitrations=True,
    )
    request.drops.SetInParent()
    request.flows = not tells_packets
    return request


def _is_fast(first: router_pb2.Sample, last: router_pb2.Sample) -> bool:
    """Whether more has left between two samples than is told packet by packet."""
    span_s = (last.time_ps - first.time_ps) / _PS_PER_S
    bits = 8 * (_departed_bytes(last) - _departed_bytes(first))
    return span_s >= DESCRIBE_S and bits > PACKETS_BPS_MAX * span_s


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
