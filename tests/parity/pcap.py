"""Capture files (pcap, version 2.4) as simple_switch reads and writes them in place of ports."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
_RECORD = struct.Struct("<IIII")


def write(path: Path, packets: Iterable[tuple[int, bytes]]) -> None:
    """Packets with the instants, in microseconds, at which they come in."""
    records = (
        _RECORD.pack(*divmod(time_us, 1_000_000), len(data), len(data)) + data
        for time_us, data in packets
    )
    path.write_bytes(_HEADER + b"".join(records))


def read(path: Path) -> Iterator[bytes]:
    """The packets that are whole; the last one may be in the middle of being written."""
    content = path.read_bytes() if path.exists() else b""
    at = len(_HEADER)
    while at + _RECORD.size <= len(content):
        _, _, length, _ = _RECORD.unpack_from(content, at)
        at += _RECORD.size
        if at + length > len(content):
            return
        yield content[at : at + length]
        at += length
