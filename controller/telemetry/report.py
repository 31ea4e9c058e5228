"""The telemetry report, version 2.0: one UDP payload from a node to the collector.

    group header (2 words): version, hardware id, sequence number | node id
    individual report, repeated: type word | report bitmap, domain | metadata | inner packet

A group holds any number of individual reports. This decoder reads one datagram at a time and keeps
everything; `bulk` reads thousands and keeps what the collector stores. Tests hold them together.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from controller.telemetry.instructions import (
    REPORT_INSTRUCTIONS,
    WORD_BYTES,
    values_of,
    words_of,
)
from controller.telemetry.stack import MalformedError

REPORT_VERSION = 2
GROUP_HEADER_BYTES = 8
SEQUENCE_BITS = 22
SEQUENCE_MASK = (1 << SEQUENCE_BITS) - 1
HARDWARE_MASK = 0x3F
# The length of a report that goes on to the end of the datagram.
LENGTH_TO_END = 0xFF


class ReportType(IntEnum):
    """The header before the inner packet."""

    INNER_ONLY = 0
    INT = 1
    IOAM = 2


class InnerType(IntEnum):
    """The first header of the inner packet."""

    NONE = 0
    TLV = 1
    DOMAIN_EXTENSION = 2
    ETHERNET = 3
    IPV4 = 4
    IPV6 = 5


@dataclass(frozen=True)
class Report:
    """One individual report, with the group header's facts about the sender."""

    hardware_id: int
    sequence: int
    node_id: int
    report_type: int
    inner_type: int
    # Of a watched flow: dropped; met a congested queue; is tracked; an intermediate report.
    dropped: bool
    congested: bool
    tracked: bool
    intermediate: bool
    bitmap: int
    domain_id: int
    values: dict[str, int | None]
    inner: bytes


def decode_reports(datagram: bytes) -> list[Report]:
    """All individual reports of one datagram; `MalformedError` says what does not fit."""
    if len(datagram) < GROUP_HEADER_BYTES:
        raise MalformedError(
            f"a group header takes {GROUP_HEADER_BYTES} bytes, there are {len(datagram)}"
        )
    first, node_id = struct.unpack_from("!II", datagram)
    version = first >> 28
    if version != REPORT_VERSION:
        raise MalformedError(f"the report's version is {version}, {REPORT_VERSION} is known")
    hardware_id = first >> SEQUENCE_BITS & HARDWARE_MASK
    sequence = first & SEQUENCE_MASK
    return list(_individual_reports(datagram, hardware_id, sequence, node_id))


def _individual_reports(
    datagram: bytes, hardware_id: int, sequence: int, node_id: int
) -> Iterator[Report]:
    offset = GROUP_HEADER_BYTES
    while offset < len(datagram):
        if len(datagram) - offset < WORD_BYTES:
            raise MalformedError(f"{len(datagram) - offset} stray bytes after the last report")
        types, length_words, metadata_words, flags = struct.unpack_from("!BBBB", datagram, offset)
        start = offset + WORD_BYTES
        end = len(datagram) if length_words == LENGTH_TO_END else start + WORD_BYTES * length_words
        if end > len(datagram):
            raise MalformedError(
                f"the report at byte {offset} announces {length_words} words, "
                f"but {len(datagram) - start} bytes follow"
            )
        body = datagram[start:end]
        report_type = types >> 4
        bitmap, domain_id, values, inner = _contents(report_type, metadata_words, body, offset)
        yield Report(
            hardware_id=hardware_id,
            sequence=sequence,
            node_id=node_id,
            report_type=report_type,
            inner_type=types & 0xF,
            dropped=bool(flags & 0x80),
            congested=bool(flags & 0x40),
            tracked=bool(flags & 0x20),
            intermediate=bool(flags & 0x10),
            bitmap=bitmap,
            domain_id=domain_id,
            values=values,
            inner=inner,
        )
        offset = end


def _contents(
    report_type: int, metadata_words: int, body: bytes, offset: int
) -> tuple[int, int, dict[str, int | None], bytes]:
    """Bitmap, domain, values and inner packet of one report."""
    if report_type == ReportType.INNER_ONLY:
        return 0, 0, {}, body
    if report_type != ReportType.INT:
        raise MalformedError(f"the report at byte {offset} is of type {report_type}: not INT")
    fixed_bytes = 2 * WORD_BYTES
    metadata_end = fixed_bytes + WORD_BYTES * metadata_words
    if len(body) < metadata_end:
        raise MalformedError(
            f"the report at byte {offset} announces {metadata_words} words of metadata, "
            f"but {len(body) - fixed_bytes} bytes follow its fixed words"
        )
    bitmap, domain_id = struct.unpack_from("!HH", body)
    if words_of(bitmap, REPORT_INSTRUCTIONS) > metadata_words:
        raise MalformedError(
            f"the report at byte {offset} has {metadata_words} words of metadata, "
            f"its bitmap {bitmap:#06x} takes {words_of(bitmap, REPORT_INSTRUCTIONS)}"
        )
    values = values_of(bitmap, body[fixed_bytes:metadata_end], REPORT_INSTRUCTIONS)
    return bitmap, domain_id, values, body[metadata_end:]
