"""Reads messages that come a thousand times a second, where the protobuf runtime is too slow.

    parse = quick.parser(router_pb2.WatchResponse)
    message = parse(data)                       # the same attributes, HasField, WhichOneof

p4runtime-shell asks for protobuf 3.20.3, which is pure Python on Python 3.11 and later: a sample of
60 bytes takes it 170 us. This builds plain objects in a tenth of that, for reading only. Where the
runtime is compiled, as in a clone of the kit (vm/overrides.txt), it is used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.internal import api_implementation

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# The treatment of a value.
_PLAIN, _SIGNED, _ZIGZAG, _BOOL, _TEXT, _RAW, _MESSAGE, _PACKED = range(8)

_KINDS = {
    FieldDescriptor.TYPE_UINT64: _PLAIN,
    FieldDescriptor.TYPE_UINT32: _PLAIN,
    FieldDescriptor.TYPE_ENUM: _PLAIN,
    FieldDescriptor.TYPE_INT64: _SIGNED,
    FieldDescriptor.TYPE_INT32: _SIGNED,
    FieldDescriptor.TYPE_SINT64: _ZIGZAG,
    FieldDescriptor.TYPE_SINT32: _ZIGZAG,
    FieldDescriptor.TYPE_BOOL: _BOOL,
    FieldDescriptor.TYPE_STRING: _TEXT,
    FieldDescriptor.TYPE_BYTES: _RAW,
    FieldDescriptor.TYPE_MESSAGE: _MESSAGE,
}
_BYTES_KINDS = (_TEXT, _RAW, _MESSAGE)
# From this many on, numpy reads packed numbers faster than a loop.
_MANY_BYTES = 200


def parser(message: Any) -> Callable[[bytes], Any]:
    """A reader of messages of that class."""
    if api_implementation.Type() != "python":
        return message.FromString
    reader = _reader(message.DESCRIPTOR, {})
    return lambda data: _parse(reader, data, 0, len(data))


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message by their numbers, as they are on the wire: whole numbers and bytes.

    For who wants little of a large message: what is not looked at costs nothing.
    """
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        else:
            size = 8 if wire == _FIXED64 else 4
        yield tag >> 3, data[at : at + size]
        at += size


class Read:
    """A message that was read; a class is derived from it for each kind of message."""

    # By tag: what becomes of the value, the field's name, whether it is repeated, whose reader.
    table: dict[int, tuple[int, str, bool, type[Read]]]
    oneofs: dict[str, frozenset[str]]

    def HasField(self, name: str) -> bool:  # noqa: N802 (protobuf's name)
        """Whether the message has it, of fields that can be absent."""
        return name in self.__dict__

    def WhichOneof(self, name: str) -> str | None:  # noqa: N802 (protobuf's name)
        """Which member of a oneof the message has."""
        return next((each for each in self.__dict__ if each in self.oneofs[name]), None)


def _reader(descriptor: Descriptor, known: dict[str, type[Read]]) -> type[Read]:
    """The class for a kind of message; what is absent is an attribute of the class."""
    if descriptor.full_name in known:
        return known[descriptor.full_name]
    reader: type[Read] = type(descriptor.name, (Read,), {"table": {}, "oneofs": {}})
    known[descriptor.full_name] = reader
    for oneof in descriptor.oneofs:
        reader.oneofs[oneof.name] = frozenset(field.name for field in oneof.fields)
    for field in descriptor.fields:
        kind = _KINDS[field.type]
        is_repeated = field.label == FieldDescriptor.LABEL_REPEATED
        of = _reader(field.message_type, known) if kind == _MESSAGE else Read
        wire = _BYTES if kind in _BYTES_KINDS else _VARINT
        reader.table[field.number << 3 | wire] = (kind, field.name, is_repeated, of)
        if is_repeated and wire == _VARINT:
            reader.table[field.number << 3 | _BYTES] = (_PACKED, field.name, True, Read)
        default: Any = () if is_repeated else of() if kind == _MESSAGE else field.default_value
        setattr(reader, field.name, default)
    return reader


def _parse(reader: type[Read], data: bytes, at: int, end: int) -> Read:
    message = reader()
    fields = message.__dict__
    table = reader.table
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = _varint(data, at - 1)
        wire = tag & 7
        if wire == _VARINT:
            value: Any = data[at]
            at += 1
            if value > 127:
                value, at = _varint(data, at - 1)
            begin = at
        elif wire == _BYTES:
            value = data[at]
            at += 1
            if value > 127:
                value, at = _varint(data, at - 1)
            begin = at
            at += value
        else:
            at += 8 if wire == _FIXED64 else 4
            continue
        entry = table.get(tag)
        if entry is None:
            continue
        kind, name, is_repeated, of = entry
        if kind == _MESSAGE:
            value = _parse(of, data, begin, at)
        elif kind != _PLAIN:
            if kind == _PACKED:
                fields.setdefault(name, []).extend(_packed(data, begin, at))
                continue
            value = _value(kind, value, data, begin, at)
        if is_repeated:
            if name in fields:
                fields[name].append(value)
            else:
                fields[name] = [value]
        else:
            fields[name] = value
    return message


def _value(kind: int, value: int, data: bytes, begin: int, end: int) -> Any:
    if kind == _TEXT:
        return data[begin:end].decode()
    if kind == _RAW:
        return data[begin:end]
    if kind == _BOOL:
        return value != 0
    if kind == _ZIGZAG:
        return value >> 1 ^ -(value & 1)
    return value - (1 << 64) if value >> 63 else value


def _packed(data: bytes, at: int, end: int) -> list[int]:
    """Whole numbers side by side, none of them below zero."""
    if end - at >= _MANY_BYTES:
        # A controller alone, and the page of an exercise, may be without numpy.
        with contextlib.suppress(ImportError):
            return _many_packed(data, at, end)
    values = []
    while at < end:
        value, at = _varint(data, at)
        values.append(value)
    return values


def _many_packed(data: bytes, at: int, end: int) -> list[int]:
    """The same for a column of numbers, all of them at once: a tenth of a microsecond each."""
    # Only columns need numpy.
    import numpy as np

    raw = np.frombuffer(data, dtype=np.uint8, count=end - at, offset=at)
    starts = np.concatenate(([0], np.flatnonzero(raw < 128)[:-1] + 1))
    # How far each byte is into its number: the place, less that of the number's first byte.
    lengths = np.diff(starts, append=len(raw))
    within = np.arange(len(raw)) - np.repeat(starts, lengths)
    sevens = (raw & 127).astype(np.uint64) << (7 * within).astype(np.uint64)
    values: list[int] = np.bitwise_or.reduceat(sevens, starts).tolist()
    return values


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
