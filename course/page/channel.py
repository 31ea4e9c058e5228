"""Stands in for gRPC in the page: calls of a network that is a module beside this Python.

The page's own `grpc` is this module (`course.page.handout`), with as much of it as the kit's
clients use. Frames are those of `labs/glass/server.py`. There are no threads: a call works until it
is answered.
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
    """A call that was refused."""

    def __init__(self, code: Any, details: str, trailing: Sequence[tuple[str, bytes]] = ()) -> None:
        super().__init__(details)
        self._code, self._details, self._trailing = code, details, trailing

    def code(self) -> Any:
        """Why, as a number."""
        return self._code

    def details(self) -> str:
        """Why, as a sentence."""
        return self._details

    def trailing_metadata(self) -> Sequence[tuple[str, bytes]]:
        """Where the details of a status are."""
        return self._trailing


class Call:
    """A call that is under way; iterated, its answers."""

    def __init__(self, channel: Channel, number: int, read: Callable[[bytes], Any]) -> None:
        self._channel, self._number, self._read = channel, number, read
        self.waiting: deque[bytes] = deque()
        self.is_over = False
        self.error: RpcError | None = None

    def say(self, message: Any) -> None:
        """Sends a message."""
        self._channel.put(_SEND, self._number, message.SerializeToString())

    def initial_metadata(self) -> tuple[()]:
        """Returns when the other side has begun."""
        self._channel.work()
        return ()

    def cancel(self) -> None:
        """No more of it is wanted."""
        self._channel.put(_CANCEL, self._number)

    def __iter__(self) -> Iterator[Any]:
        while True:
            while not self.waiting and not self.is_over:
                if not self._channel.work():
                    raise RpcError(StatusCode.UNAVAILABLE, "nothing more comes")  # type: ignore[attr-defined]
            if self.waiting:
                yield self._read(self.waiting.popleft())
            elif self.error:
                raise self.error
            else:
                return


class Channel:
    """The way to one network."""

    def __init__(self, wall_s: float) -> None:
        """The network is given up when it is still busy after so many seconds."""
        self._network = vitrine_page.network(wall_s)
        self._calls: dict[int, Call] = {}

    def unary_unary(self, method: str, request_serializer: Any, response_deserializer: Any) -> Any:
        """A function for calls with one answer."""

        def ask(request: Any, **_: object) -> Any:
            return next(iter(self._begin(method, request, response_deserializer)))

        return ask

    def unary_stream(self, method: str, request_serializer: Any, response_deserializer: Any) -> Any:
        """A function for calls with many."""

        def ask(request: Any, **_: object) -> Call:
            return self._begin(method, request, response_deserializer)

        return ask

    def stream_stream(
        self, method: str, request_serializer: Any, response_deserializer: Any
    ) -> Any:
        """A function for calls that say more than one message, by `Call.say`."""

        def ask(**_: object) -> Call:
            return self._begin(method, None, response_deserializer)

        return ask

    @property
    def is_late(self) -> bool:
        """Whether the network was given up."""
        return bool(self._network.isLate)

    def close(self) -> None:
        """The network goes with whoever has it."""

    def _begin(self, method: str, request: Any, read: Callable[[bytes], Any]) -> Call:
        number = len(self._calls) + 1
        call = self._calls[number] = Call(self, number, read)
        # No router is named: requests say which one they mean.
        self.put(_CALL, number, b"\0" + bytes([len(method)]) + method.encode())
        if request is not None:
            call.say(request)
            self.put(_DONE, number)
        return call

    def put(self, kind: int, number: int, rest: bytes = b"") -> None:
        """Hands over a frame."""
        self._network.take(_HEAD.pack(kind, number) + rest)

    def work(self) -> bool:
        """Lets the network go on until it says something; whether it did."""
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
