"""Writes down what controllers say to the routers of a world, and hands it on.

    with recorded(address) as recorder:
        ...Session.connect(recorder.address)...
    recorder.said      # [(method, message), ...] in the order in which it was said

Only what changes something is kept. A controller's stream begins with its bid for the primary's
place, without which nothing that follows would be taken, so that is kept too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc

from controller.connection import CHANNEL_OPTIONS
from labs.glass.relay import METHODS

SET_CONFIG = "/p4.v1.P4Runtime/SetForwardingPipelineConfig"
_KEPT = frozenset(
    {
        SET_CONFIG,
        "/p4.v1.P4Runtime/Write",
        "/p4.v1.P4Runtime/StreamChannel",
        "/vitrine.v1.Router/Configure",
    }
)
# Each stream of a controller keeps a thread.
_THREADS = 64


class Recorder(grpc.GenericRpcHandler):
    """Knows methods by their names and messages as bytes."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self.address = ""
        self.said: list[tuple[str, bytes]] = []

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """The outcome of a call."""
        name = details.method
        shape = METHODS.get(name)
        if shape is None:
            return None
        if shape.takes_stream:
            stream = self._channel.stream_stream(name)
            return grpc.stream_stream_rpc_method_handler(
                lambda requests, context: _told(stream(self._kept(name, requests)), context)
            )
        if shape.gives_stream:
            reading = self._channel.unary_stream(name)
            return grpc.unary_stream_rpc_method_handler(
                lambda request, context: _told(reading(request), context)
            )
        asking = self._channel.unary_unary(name)

        def ask(request: bytes, context: Any) -> bytes:
            (kept,) = self._kept(name, iter([request]))
            try:
                return bytes(asking(kept))
            except grpc.RpcError as error:
                context.abort(error.code(), error.details())
                raise

        return grpc.unary_unary_rpc_method_handler(ask)

    def _kept(self, name: str, requests: Iterator[bytes]) -> Iterator[bytes]:
        # A controller that goes away ends its stream so.
        with contextlib.suppress(grpc.RpcError):
            for request in requests:
                if name in _KEPT:
                    self.said.append((name, request))
                yield request


def _told(answers: Any, context: Any) -> Iterator[bytes]:
    context.add_callback(answers.cancel)
    try:
        yield from answers
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.CANCELLED:
            context.abort(error.code(), error.details())


@contextlib.contextmanager
def recorded(address: str) -> Iterator[Recorder]:
    """Something that answers as the world at `address` does, for the length of a `with` block."""
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        recorder = Recorder(channel)
        server = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=CHANNEL_OPTIONS)
        server.add_generic_rpc_handlers((recorder,))
        recorder.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        try:
            yield recorder
        finally:
            server.stop(None).wait()
