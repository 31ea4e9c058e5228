"""The switch's own capture (docs/captures.md): every frame that came in, left or was dropped."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ENHANCED_PACKET = 6
OPTION_END, OPTION_COMMENT = 0, 1
CAME_IN = re.compile(r"came in by port (\d+)")
LEFT = re.compile(r"left by port (\d+) from queue (\d+); in by port (\d+)")
DROPPED = re.compile(r"dropped: (\w+)(?:; for port (\d+), queue (\d+))?; in by port (\d+)")


@dataclass(frozen=True)
class Frame:
    """A frame at an edge of the router: it came in (no queue), left, or was dropped (a reason)."""

    # On the capture's clock, whose zero is not the router's.
    time_ns: int
    input: int
    # Port and queue it left by, or was for when it was dropped.
    queue: tuple[int, int] | None
    reason: str | None
    data: bytes


def read(path: Path) -> list[Frame]:
    """All frames, in the order in which things happened."""
    return list(_frames(path.read_bytes()))


def _frames(file: bytes) -> Iterator[Frame]:
    offset = 0
    while offset < len(file):
        kind, length = struct.unpack_from("=II", file, offset)
        if kind == ENHANCED_PACKET:
            _, high, low, captured, _ = struct.unpack_from("=IIIII", file, offset + 8)
            data = file[offset + 28 : offset + 28 + captured]
            comment = _comment(file, offset + 28 + (captured + 3) // 4 * 4)
            yield _frame(high << 32 | low, data, comment)
        offset += length


def _comment(file: bytes, offset: int) -> str:
    while True:
        code, length = struct.unpack_from("=HH", file, offset)
        if code == OPTION_COMMENT:
            return file[offset + 4 : offset + 4 + length].decode()
        assert code != OPTION_END, "the switch says of every frame what happened to it"
        offset += 4 + (length + 3) // 4 * 4


def _frame(time_ns: int, data: bytes, comment: str) -> Frame:
    if found := CAME_IN.fullmatch(comment):
        return Frame(time_ns, int(found[1]), None, None, data)
    if found := LEFT.fullmatch(comment):
        return Frame(time_ns, int(found[3]), (int(found[1]), int(found[2])), None, data)
    found = DROPPED.fullmatch(comment)
    assert found, f"no known fate: {comment}"
    queue = (int(found[2]), int(found[3])) if found[2] else None
    return Frame(time_ns, int(found[4]), queue, found[1], data)
