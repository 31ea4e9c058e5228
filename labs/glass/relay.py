"""Carries messages between pages and routers without looking into them, but for one stream.

A call is a method of P4Runtime or vitrine.v1 by its full name, a router's name, and bytes. Which
methods there are, and which of them stream, the descriptors say; READING are those that change
nothing and take nothing from anybody, and a page that may only look gets no others. A router traces
for one client at a time, so a class cannot have Trace.

A page that steers has a stream of P4Runtime open and no use for packet-ins and digests. They are
left out: a page that has stopped reading would make a network in virtual time wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pb2
from google.rpc import code_pb2
from p4.v1 import p4runtime_pb2
from vitrine.v1 import router_pb2, world_pb2

from controller.addresses import parted
from controller.connection import CHANNEL_OPTIONS
from labs.glass import looking
from labs.glass.refusals import RefusedError

# The files whose messages the page speaks; what they import follows from them.
FILES = (router_pb2.DESCRIPTOR, world_pb2.DESCRIPTOR, p4runtime_pb2.DESCRIPTOR)

READING = frozenset(
    {
        *("/vitrine.v1.Router/Describe", "/vitrine.v1.Router/Watch"),
        *("/vitrine.v1.World/Look", "/vitrine.v1.World/WatchHosts"),
        *("/p4.v1.P4Runtime/Read", "/p4.v1.P4Runtime/GetForwardingPipelineConfig"),
        "/p4.v1.P4Runtime/Capabilities",
    }
)

_STREAM = "/p4.v1.P4Runtime/StreamChannel"
# The events of the stream that report to a controller: the router's packets and digests.
_REPORTS = frozenset({"packet", "digest"})


@dataclass(frozen=True)
class _Method:
    takes_stream: bool
    gives_stream: bool


class Requests:
    """The messages of one call of a page: one, or a stream of them.

    `put` never waits: the caller counts `waiting_bytes`, and decides how many are too many.
    """

    def __init__(self, method: str) -> None:
        shape = METHODS.get(method)
        self._takes_stream = shape is not None and shape.takes_stream
        self._is_open = True
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.waiting_bytes = 0

    def put(self, message: bytes) -> None:
        """The next message; what follows the one message of a call without a stream is dropped."""
        if self._is_open:
            self._is_open = self._takes_stream
            self.waiting_bytes += len(message)
            self._queue.put_nowait(message)

    def end(self) -> None:
        """The page has sent all."""
        if self._is_open:
            self._is_open = False
            self._queue.put_nowait(None)

    async def get(self) -> bytes | None:
        """The next message, or None after the last one."""
        message = await self._queue.get()
        self.waiting_bytes -= len(message or b"")
        return message


def _methods() -> dict[str, _Method]:
    found = {}
    for file in FILES:
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        for service in proto.service:
            for method in service.method:
                name = f"/{proto.package}.{service.name}/{method.name}"
                found[name] = _Method(method.client_streaming, method.server_streaming)
    return found


METHODS = _methods()


@functools.cache
def schema() -> bytes:
    """The definitions of all messages, as a FileDescriptorSet."""
    files: dict[str, Any] = {}

    def add(file: Any) -> None:
        for each in file.dependencies:
            add(each)
        files.setdefault(file.name, file)

    for file in FILES:
        add(file)
    found = descriptor_pb2.FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(found.file.add())
    return found.SerializeToString()


class Relay:
    """The ways to the routers of a network; a channel each, opened when it is first needed."""

    def __init__(self, *, read_only: bool, places: looking.Places, reads: looking.Reads) -> None:
        """`places` and `reads` are those that all pages which only look share."""
        self._places = places, looking.Places(looking.WATCHES_OF_PAGE_MAX)
        self._read = reads.of_page()
        self._addresses: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self.is_read_only = read_only
        self._channels: dict[str, grpc.aio.Channel] = {}

    def leads_to(self, addresses: Mapping[str, str], keys: Mapping[str, str] | None = None) -> None:
        """Sets the routers' addresses from now on, and the keys of those that require one."""
        self._keys = {name: key for name, key in (keys or {}).items() if key}
        # All routers in virtual time share one; requests say which is meant.
        self._addresses = {name: parted(address)[0] for name, address in addresses.items()}

    async def close(self) -> None:
        """Ends all calls."""
        for channel in self._channels.values():
            await channel.close()

    async def call(self, router: str, method: str, requests: Requests) -> AsyncGenerator[bytes]:
        """The router's answers to `requests`.

        Raises RefusedError where the router, or this relay, does not want to.
        """
        shape = METHODS.get(method)
        if shape is None:
            raise RefusedError(code_pb2.UNIMPLEMENTED, f"there is no method {method}.")
        if self.is_read_only and method not in READING:
            raise RefusedError(
                code_pb2.PERMISSION_DENIED,
                "this page may only look: the glass was opened for a class to watch.",
            )
        if shape.takes_stream:
            answers = self._stream(router, method, requests)
        else:
            # A page that keeps its request back holds no place and no turn of others.
            request = await requests.get() or b""
            if self.is_read_only:
                request = looking.lossy(method, request)
            answers = self._answers(router, method, shape, request)
        with contextlib.ExitStack() as stack:
            if self.is_read_only:
                for places in self._places:
                    stack.enter_context(places.place(router, method))
            try:
                if self.is_read_only and method not in looking.WATCHES:
                    answers = self._read.all_of(answers)
                async with contextlib.aclosing(answers):
                    async for message in answers:
                        yield message
            except grpc.aio.AioRpcError as error:
                raise _refused(error) from error

    async def _stream(self, router: str, method: str, requests: Requests) -> AsyncGenerator[bytes]:
        async for message in self._channel(router).stream_stream(method)(_all(requests)):
            if method != _STREAM or not _is_report(message):
                yield message

    async def _answers(
        self, router: str, method: str, shape: _Method, request: bytes
    ) -> AsyncGenerator[bytes]:
        channel = self._channel(router)
        if shape.gives_stream:
            call = channel.unary_stream(method)(request)
            try:
                async for message in call:
                    yield message
            finally:
                # The router need not go on for a page that has left.
                call.cancel()
        else:
            key = self._keys.get(router)
            metadata = (("authorization", f"Bearer {key}"),) if key else None
            yield await channel.unary_unary(method)(request, metadata=metadata)

    def _channel(self, router: str) -> grpc.aio.Channel:
        address = self._addresses.get(router)
        if not address:
            raise RefusedError(code_pb2.NOT_FOUND, f"there is no router {router!r} here.")
        if address not in self._channels:
            self._channels[address] = grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)
        return self._channels[address]


async def _all(requests: Requests) -> AsyncIterator[bytes]:
    while (message := await requests.get()) is not None:
        yield message


def _is_report(message: bytes) -> bool:
    told = p4runtime_pb2.StreamMessageResponse.FromString(message)
    return told.WhichOneof("update") in _REPORTS


def _refused(error: grpc.aio.AioRpcError) -> RefusedError:
    """The status as the router sent it: with its problems, one for each mistake."""
    packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    return RefusedError(error.code().value[0], error.details() or "", bytes(packed))
