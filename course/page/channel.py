"""Replaces gRPC in the page: calls to a network that is a WebAssembly module.

`import grpc` in the page imports this module (`course.page.handout`): the part of gRPC that the
kit's clients use. Frames are those of `labs/glass/server.py`. There are no threads: a call lets the
network work until the response is there.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

import vitrine_page
from google.rpc import code_pb2, status_pb2

_CALL, _SEND, _DONE, _CANCEL = 1, 2, 3, 4
_MESSAGE, _END = 2, 3
_HEAD = struct.Struct(">BI")
_DETAILS = "grpc-status-details-bin"

StatusCode = Enum(  # type: ignore[misc]
    "StatusCode",
    {name: (number, name.lower().replace("_", " ")) for name, number in code_pb2.Code.items()},
)


class RpcError(Exception):
    """A call failed."""

    def __init__(self, code: Any, details: str, trailing: Sequence[tuple[str, bytes]] = ()) -> None:
        super().__init__(details)
        self._code, self._details, self._trailing = code, details, trailing

    def code(self) -> Any:
        """The status code."""
        return self._code

    def details(self) -> str:
        """The reason, as a sentence."""
        return self._details

    def trailing_metadata(self) -> Sequence[tuple[str, bytes]]:
        """Contains the details of the status."""
        return self._trailing


class Call:
    """A call in flight; iterate over it for the responses."""

    def __init__(self, channel: Channel, number: int, read: Callable[[bytes], Any]) -> None:
        self._channel, self._number, self._read = channel, number, read
        self.waiting: deque[bytes] = deque()
        self.is_over = False
        self.error: RpcError | None = None

    def say(self, message: Any) -> None:
        """Sends a message."""
        self._channel.put(_SEND, self._number, message.SerializeToString())

    def initial_metadata(self) -> tuple[()]:
        """Returns when the network has started the call."""
        self._channel.work()
        return ()

    def cancel(self) -> None:
        """Ends the call."""
        self._channel.put(_CANCEL, self._number)

    def __iter__(self) -> Iterator[Any]:
        while True:
            while not self.waiting and not self.is_over:
                if not self._channel.work():
                    raise RpcError(StatusCode.UNAVAILABLE, "the network has nothing more to send")  # type: ignore[attr-defined]
            if self.waiting:
                yield self._read(self.waiting.popleft())
            elif self.error:
                raise self.error
            else:
                return


class Channel:
    """A connection to one network."""

    def __init__(self, wall_s: float) -> None:
        """A network that is still busy after `wall_s` seconds is given up."""
        self._network = vitrine_page.network(wall_s)
        self._calls: dict[int, Call] = {}

    def unary_unary(self, method: str, request_serializer: Any, response_deserializer: Any) -> Any:
        """A function for calls with one response."""

        def ask(request: Any, **_: object) -> Any:
            return next(iter(self._begin(method, request, response_deserializer)))

        return ask

    def unary_stream(self, method: str, request_serializer: Any, response_deserializer: Any) -> Any:
        """A function for calls with a stream of responses."""

        def ask(request: Any, **_: object) -> Call:
            return self._begin(method, request, response_deserializer)

        return ask

    def stream_stream(
        self, method: str, request_serializer: Any, response_deserializer: Any
    ) -> Any:
        """A function for calls that send more than one message, with `Call.say`."""

        def ask(**_: object) -> Call:
            return self._begin(method, None, response_deserializer)

        return ask

    @property
    def is_late(self) -> bool:
        """Whether the network was given up."""
        return bool(self._network.isLate)

    def close(self) -> None:
        """Nothing to close: the network is freed with this object."""

    def _begin(self, method: str, request: Any, read: Callable[[bytes], Any]) -> Call:
        number = len(self._calls) + 1
        call = self._calls[number] = Call(self, number, read)
        # The frame names no router: the requests do.
        self.put(_CALL, number, b"\0" + bytes([len(method)]) + method.encode())
        if request is not None:
            call.say(request)
            self.put(_DONE, number)
        return call

    def put(self, kind: int, number: int, rest: bytes = b"") -> None:
        """Sends a frame."""
        self._network.take(_HEAD.pack(kind, number) + rest)

    def work(self) -> bool:
        """Lets the network work until it sends something; False if it sends nothing."""
        frames = self._network.work()
        for frame in frames:
            self._take(frame.to_bytes())
        return bool(len(frames))

    def _take(self, frame: bytes) -> None:
        kind, number = _HEAD.unpack_from(frame)
        call, rest = self._calls[number], frame[_HEAD.size :]
        if kind == _MESSAGE:
            call.waiting.append(rest)
            return
        call.is_over = True
        if kind != _END:
            status = status_pb2.Status.FromString(rest)
            code = next(each for each in StatusCode if each.value[0] == status.code)
            call.error = RpcError(code, status.message, [(_DETAILS, rest)])
