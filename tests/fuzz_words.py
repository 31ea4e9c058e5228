"""Words with a meaning for a fuzzer's subject, as a dictionary for libFuzzer.

    python -m tests.fuzz_words json > json.dict

The words are taken from where the subject has them: examples, interfaces, protobuf's descriptors;
so nobody keeps them in step. `source` has its own, switch/fuzz/p4.dict.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2
from vitrine.v1 import router_pb2, world_pb2

from controller.toolchain import ROOT

_WORD_BYTES_MAX = 40


def dictionary(words: Iterable[bytes]) -> str:
    """Words in libFuzzer's spelling, each once."""
    chosen = sorted({word for word in words if 0 < len(word) <= _WORD_BYTES_MAX})
    return "".join(f'"{_spelled(word)}"\n' for word in chosen)


def _spelled(word: bytes) -> str:
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\x{byte:02x}"
        for byte in word
    )


def _json() -> Iterator[bytes]:
    """Keys and short strings of BMv2 JSON as we write it."""
    for path in sorted(ROOT.glob("switch/crates/pipeline/tests/programs/*.json")):
        yield from (json.dumps(each).encode() for each in _strings(json.loads(path.read_text())))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        yield from (word for each in value.values() for word in _strings(each))
    elif isinstance(value, list):
        yield from (word for each in value for word in _strings(each))
    elif isinstance(value, str):
        yield value


def _stf() -> Iterator[bytes]:
    """The statements, which the reader compares with, and what stands in values."""
    reader = (ROOT / "switch/crates/stf/src/script.rs").read_text()
    yield from (word.encode() for word in re.findall(r'"([a-z_]+)" (?:=>|if|\|)', reader))
    yield from (b"$", b"*", b"&&&", b"..", b"/", b"0x", b"0b", b"packets == ", b"bytes >= ", b"#")


def _fields(*files: FileDescriptor) -> Iterator[bytes]:
    """The tag in front of each field of protobuf messages; a length of 0 behind those with one."""
    for file in files:
        for message in file.message_types_by_name.values():
            yield from _tags(message)


def _tags(message: Descriptor) -> Iterator[bytes]:
    for field in message.fields:
        wire_type = {
            FieldDescriptor.CPPTYPE_STRING: 2,
            FieldDescriptor.CPPTYPE_MESSAGE: 2,
            FieldDescriptor.CPPTYPE_DOUBLE: 1,
            FieldDescriptor.CPPTYPE_FLOAT: 5,
        }.get(field.cpp_type, 0)
        number, tag = field.number << 3 | wire_type, b""
        while number >= 0x80:
            tag, number = tag + bytes([number & 0x7F | 0x80]), number >> 7
        yield tag + bytes([number]) + (b"\0" if wire_type == 2 else b"")
    for nested in message.nested_types:
        yield from _tags(nested)


def _thrift() -> Iterator[bytes]:
    """The beginning of each call: version and kind, then the name with its length."""
    for path in sorted(ROOT.glob("guests/*/*/[A-Z]*.py")):
        for name in re.findall(r'^        "(\w+)": \w*\(', path.read_text(), re.MULTILINE):
            yield struct.pack(">II", 0x80010001, len(name)) + name.encode()


def _headers() -> Iterator[bytes]:
    """The first and the deciding bytes of headers: types of Ethernet, versions, protocols,
    options."""
    for ether_type in (0x0800, 0x0806, 0x8100, 0x86DD, 0x8847, 0x88A8):
        yield struct.pack(">H", ether_type)
    yield from (
        b"\x45\x00",
        b"\x46\xb8",
        b"\x60\x00\x00\x00",
        b"\x40\x06",
        b"\x40\x11",
        b"\x20\x00",
    )
    yield from (b"\x06\x40", b"\x11\x40", b"\x00\x05\xdc", b"\x50\x10", b"\xff\xff", b"\x08\x0a")


DICTIONARIES: dict[str, Callable[[], Iterable[bytes]]] = {
    "json": _json,
    "messages": lambda: _fields(p4runtime_pb2.DESCRIPTOR, router_pb2.DESCRIPTOR),
    "p4info": lambda: _fields(p4info_pb2.DESCRIPTOR),
    "packets": _headers,
    "stf": _stf,
    "super_packets": _headers,
    "thrift": _thrift,
    "world": lambda: _fields(world_pb2.DESCRIPTOR, router_pb2.DESCRIPTOR),
}


if __name__ == "__main__":
    sys.stdout.write(dictionary(DICTIONARIES[sys.argv[1]]()))
