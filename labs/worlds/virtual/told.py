"""Reports of the hosts of a network in virtual time: connections as `ss` shows them, and datagrams.

    with SocketWatch(world, ["h1"], zero_ps) as watch:
        ...time passes...
        watch.wait_for(now_ps)
        watch.samples["h1"]

Each watch is read by a thread of its own, because the world waits for its readers. All of what was
told until an instant has been read once `wait_for` returns.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import ClassVar, Generic, Protocol, TypeVar

from vitrine.v1 import world_pb2

from controller.world import PS_PER_S, World
from labs.bench import SOCKET_INTERVAL_S
from labs.errors import MeasurementError
from labs.measure.sockets import SocketSample

_NS_PER_S = 1_000_000_000
_PS_PER_MS = 1_000_000_000
_ESTABLISHED = world_pb2.Connection.State.ESTABLISHED
_READ_DEADLINE_S = 60.0


class _Message(Protocol):
    """A message of a stream that says up to which instant it is complete; 0: not yet."""

    @property
    def complete_until_ps(self) -> int: ...


_MessageT = TypeVar("_MessageT", bound=_Message)


class Watch(ABC, Generic[_MessageT]):
    """A stream that is read to its end by a thread."""

    # The error when it says nothing for a long time.
    silence: ClassVar[str] = "the hosts of the virtual world tell nothing any more."

    def __init__(self, told: AbstractContextManager[Iterator[_MessageT]]) -> None:
        self._told = told
        self._news = threading.Condition()
        # Nothing comes before the first instant, and 0 in a message does not say that one.
        self._complete_until_ps = 0
        self._error: Exception | None = None

    def __enter__(self) -> Watch[_MessageT]:
        messages = self._told.__enter__()
        self._thread = threading.Thread(target=self._read, args=(messages,), name="watch")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._told.__exit__(kind, error, trace)
        self._thread.join()

    def wait_for(self, time_ps: int) -> None:
        """Returns once everything until that instant has been read."""
        with self._news:
            read = self._news.wait_for(
                lambda: self._error is not None or self._complete_until_ps >= time_ps,
                _READ_DEADLINE_S,
            )
        if self._error is not None:
            raise self._error
        if not read:
            raise MeasurementError(self.silence)

    @abstractmethod
    def _take(self, message: _MessageT) -> None:
        """One message; called by the thread only."""

    def _until_ps(self, message: _MessageT) -> int:
        """Until when everything has come with this message; 0: it does not say."""
        return message.complete_until_ps

    def _read(self, messages: Iterator[_MessageT]) -> None:
        try:
            for message in messages:
                self._take(message)
                if until_ps := self._until_ps(message):
                    with self._news:
                        self._complete_until_ps = until_ps
                        self._news.notify_all()
        except Exception as error:  # noqa: BLE001 (whoever waits raises it)
            with self._news:
                self._error = error
                self._news.notify_all()


class SocketWatch(Watch[world_pb2.WatchHostsResponse]):
    """The TCP connections of some hosts, sampled as the live world's `ss` samples them."""

    def __init__(self, world: World, hosts: Sequence[str], zero_ps: int) -> None:
        """`zero_ps` is the instant that times are counted from."""
        interval_ns = round(SOCKET_INTERVAL_S * _NS_PER_S)
        super().__init__(world.watch_hosts(interval_ns=interval_ns, hosts=hosts))
        self._zero_ps = zero_ps
        self.samples: dict[str, list[SocketSample]] = {host: [] for host in hosts}

    def _take(self, message: world_pb2.WatchHostsResponse) -> None:
        if not message.HasField("sample"):
            return
        time_s = (message.sample.time_ps - self._zero_ps) / PS_PER_S
        for host in message.sample.hosts:
            self.samples[host.host] += [
                socket_sample(connection, time_s)
                for connection in host.connections
                if connection.state == _ESTABLISHED
            ]


def socket_sample(connection: world_pb2.Connection, time_s: float) -> SocketSample:
    """A connection as `ss -ti` would show it, without the times in which it was limited."""
    return SocketSample(
        time_s=time_s,
        local=connection.local,
        peer=connection.peer,
        congestion=connection.congestion,
        mss_bytes=connection.mss_bytes,
        cwnd_packets=connection.cwnd,
        ssthresh_packets=connection.ssthresh,
        rtt_ms=connection.rtt_ps / _PS_PER_MS,
        unacked_packets=connection.unacked,
        retransmits=connection.retrans_total,
        bytes_acked=connection.bytes_acked,
        delivered_packets=connection.delivered,
        delivery_rate_bps=float(connection.delivery_rate_bps),
        receiver_window_bytes=connection.snd_wnd_bytes,
        rwnd_limited_ms=0,
        sndbuf_limited_ms=0,
    )


class DatagramWatch(Watch[world_pb2.WatchHostsResponse]):
    """The payloads of the datagrams that come to the sinks of a host."""

    def __init__(self, world: World, host: str) -> None:
        super().__init__(world.watch_hosts(hosts=[host], events=True))
        # When each came, and its first bytes.
        self.datagrams: list[tuple[int, bytes]] = []

    def _take(self, message: world_pb2.WatchHostsResponse) -> None:
        self.datagrams += datagrams(message)


def datagrams(message: world_pb2.WatchHostsResponse) -> list[tuple[int, bytes]]:
    """The arrival of each datagram in a message, and its first bytes."""
    return [
        (event.time_ps, event.datagram.payload)
        for event in message.events
        if event.HasField("datagram")
    ]
