"""A client of Apache Thrift's binary protocol, as far as simple_switch's service needs one.

    client = ThriftClient("127.0.0.1", 9090)
    done = client.call("simple_switch", "set_egress_queue_depth", i32(2), i32(100))

Written by hand because five calls are needed: the `thrift` package would want code generated from
another project's definitions. What goes over the wire is Thrift's strict binary protocol without
frames, with the service's name before each method's ("service:method"), as bmv2's tools speak it.
Arguments are numbered from 1 in the order of the call; an answer may be of any type and comes as
plain Python values, a struct as a dictionary from field numbers.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Any

from controller.errors import ConnectError, RequestError

CALL_DEADLINE_S = 10.0

_STRICT_CALL = 0x8001_0001
_REPLY, _EXCEPTION = 2, 3
_STOP, _BOOL, _BYTE, _DOUBLE, _I16, _I32, _I64 = 0, 2, 3, 4, 6, 8, 10
_STRING, _STRUCT, _MAP, _SET, _LIST = 11, 12, 13, 14, 15
_NUMBERS = {_BOOL: "!?", _BYTE: "!b", _DOUBLE: "!d", _I16: "!h", _I32: "!i", _I64: "!q"}
# The field of an answer that holds a method's result; those above hold its declared exceptions.
_RESULT = 0


@dataclass(frozen=True)
class Argument:
    """A value with its type on the wire."""

    type: int
    data: bytes


def i32(value: int) -> Argument:
    """A number of 32 bits."""
    return Argument(_I32, struct.pack("!i", value))


def i64(value: int) -> Argument:
    """A number of 64 bits."""
    return Argument(_I64, struct.pack("!q", value))


def text(value: str) -> Argument:
    """A string."""
    data = value.encode()
    return Argument(_STRING, struct.pack("!i", len(data)) + data)


class ThriftClient:
    """A connection to a Thrift server; calls follow one another."""

    def __init__(self, host: str, port: int, deadline_s: float = CALL_DEADLINE_S) -> None:
        """Connects, or says that nothing answers there."""
        self._address = f"{host}:{port}"
        self._sequence = 0
        try:
            self._socket = socket.create_connection((host, port), deadline_s)
        except OSError as error:
            raise ConnectError(
                f"no Thrift server answers at {self._address} ({error.strerror or error}): "
                "is simple_switch running, with that --thrift-port?"
            ) from error
        self._stream = self._socket.makefile("rb")

    def close(self) -> None:
        """Ends the connection."""
        self._stream.close()
        self._socket.close()

    def call(self, service: str, method: str, *arguments: Argument) -> Any:
        """A method's result; a refusal by the server is an error that names the method."""
        self._sequence += 1
        name = text(f"{service}:{method}").data
        head = struct.pack("!I", _STRICT_CALL) + name + struct.pack("!i", self._sequence)
        fields = b"".join(
            struct.pack("!bh", argument.type, number) + argument.data
            for number, argument in enumerate(arguments, start=1)
        )
        try:
            self._socket.sendall(head + fields + bytes([_STOP]))
            kind = self._number("!I") & 0xFF
            self._value(_STRING)
            sequence = self._number("!i")
            answer = self._value(_STRUCT)
        except OSError as error:
            raise RequestError(f"{method} at {self._address} failed: {error}.") from error
        if kind == _EXCEPTION:
            raise RequestError(f"{self._address} refused {method}: {answer.get(1, answer)}.")
        if kind != _REPLY or sequence != self._sequence:
            raise RequestError(f"{self._address} answered {method} with what is no answer to it.")
        refusals = {number: value for number, value in answer.items() if number != _RESULT}
        if refusals:
            raise RequestError(f"{self._address} refused {method}: error {refusals}.")
        return answer.get(_RESULT)

    # ---- reading ---------------------------------------------------------------------------------

    def _value(self, kind: int) -> Any:
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        if kind == _STRING:
            data = self._exactly(self._number("!i"))
            return data.decode(errors="surrogateescape")
        if kind == _STRUCT:
            return self._struct()
        if kind in (_LIST, _SET):
            element, count = self._number("!b"), self._number("!i")
            return [self._value(element) for _ in range(count)]
        if kind == _MAP:
            key, value, count = self._number("!b"), self._number("!b"), self._number("!i")
            return {self._value(key): self._value(value) for _ in range(count)}
        raise RequestError(f"{self._address} sent a value of the unknown Thrift type {kind}.")

    def _struct(self) -> dict[int, Any]:
        fields = {}
        while (kind := self._number("!b")) != _STOP:
            number = self._number("!h")
            fields[number] = self._value(kind)
        return fields

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._exactly(struct.calcsize(form)))[0]

    def _exactly(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) < count:
            raise RequestError(f"{self._address} closed the connection in the middle of an answer.")
        return data
