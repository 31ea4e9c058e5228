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
import functools
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pb2
from google.rpc import code_pb2, status_pb2
from p4.v1 import p4runtime_pb2
from vitrine.v1 import router_pb2, world_pb2

from controller.addresses import parted
from controller.connection import CHANNEL_OPTIONS

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
# What of it is a controller's: the router's packets and digests.
_REPORTS = frozenset({"packet", "digest"})


class RefusedError(Exception):
    """A call that came to nothing, as google.rpc.Status: what a router itself would answer with."""

    def __init__(self, code: int, message: str, packed: bytes = b"") -> None:
        super().__init__(message)
        self.status = packed or status_pb2.Status(code=code, message=message).SerializeToString()


@dataclass(frozen=True)
class _Method:
    takes_stream: bool
    gives_stream: bool


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

    def __init__(self, *, read_only: bool) -> None:
        self._addresses: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self.is_read_only = read_only
        self._channels: dict[str, grpc.aio.Channel] = {}

    def leads_to(self, addresses: Mapping[str, str], keys: Mapping[str, str] | None = None) -> None:
        """Where each router answers from now on, and the keys of those that ask for one."""
        self._keys = {name: key for name, key in (keys or {}).items() if key}
        # All routers in virtual time share one; requests say which is meant.
        self._addresses = {name: parted(address)[0] for name, address in addresses.items()}

    async def close(self) -> None:
        """Ends all calls."""
        for channel in self._channels.values():
            await channel.close()

    async def call(
        self, router: str, method: str, requests: asyncio.Queue[bytes | None]
    ) -> AsyncIterator[bytes]:
        """What a router answers. `requests` holds what it is sent, with None at the end.

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
        channel = self._channel(router)
        key = self._keys.get(router)
        metadata = (("authorization", f"Bearer {key}"),) if key else None
        try:
            if shape.gives_stream:
                async for message in _streaming(channel, method, shape, requests):
                    if method != _STREAM or not _is_report(message):
                        yield message
            else:
                request = await requests.get() or b""
                yield await channel.unary_unary(method)(request, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            raise _refused(error) from error

    def _channel(self, router: str) -> grpc.aio.Channel:
        address = self._addresses.get(router)
        if not address:
            raise RefusedError(code_pb2.NOT_FOUND, f"there is no router {router!r} here.")
        if address not in self._channels:
            self._channels[address] = grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)
        return self._channels[address]


def _streaming(
    channel: grpc.aio.Channel,
    method: str,
    shape: _Method,
    requests: asyncio.Queue[bytes | None],
) -> AsyncIterator[bytes]:
    async def given() -> AsyncIterator[bytes]:
        while (message := await requests.get()) is not None:
            yield message

    async def first() -> AsyncIterator[bytes]:
        request = await requests.get() or b""
        async for message in channel.unary_stream(method)(request):
            yield message

    return channel.stream_stream(method)(given()) if shape.takes_stream else first()


def _is_report(message: bytes) -> bool:
    told = p4runtime_pb2.StreamMessageResponse.FromString(message)
    return told.WhichOneof("update") in _REPORTS


def _refused(error: grpc.aio.AioRpcError) -> RefusedError:
    """The status as the router sent it: with its problems, one for each mistake."""
    packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    return RefusedError(error.code().value[0], error.details() or "", bytes(packed))
