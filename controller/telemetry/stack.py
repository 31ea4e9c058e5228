"""The INT headers inside a TCP or UDP packet: shim, INT-MD or INT-MX header, stack of metadata.

    L4 header | shim (1 word) | INT header (3 words) | hop N | ... | hop 1 | payload

The newest hop stands first. A stack that does not divide into whole hops is refused: what follows
would be read as something it is not.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from controller.telemetry.instructions import (
    PACKET_INSTRUCTIONS,
    WORD_BYTES,
    values_of,
    words_of,
)

SHIM_BYTES = 4
INT_HEADER_BYTES = 12
INT_VERSION = 2


class MalformedError(Exception):
    """The bytes are not what they claim to be; the sentence says where."""


class IntType(IntEnum):
    """The type of the header behind the shim."""

    MD = 1
    DESTINATION = 2
    MX = 3


class NextProtocolType(IntEnum):
    """The meaning of the last two bytes of the shim."""

    DSCP = 0
    UDP_PORT = 1
    IP_PROTOCOL = 2


@dataclass(frozen=True)
class Shim:
    """Announces INT headers and remembers what the source changed to announce them."""

    int_type: int
    next_protocol_type: int
    # Words that follow the shim.
    length_words: int
    original: int

    @property
    def original_dscp(self) -> int:
        """The DSCP the packet had, where the DSCP marks INT packets."""
        return (self.original >> 2) & 0x3F


@dataclass(frozen=True)
class IntHeader:
    """The INT-MD or INT-MX header."""

    discard: bool
    hops_exceeded: bool
    mtu_exceeded: bool
    hop_words: int
    remaining_hops: int
    bitmap: int
    domain_id: int
    domain_bitmap: int
    domain_flags: int


@dataclass(frozen=True)
class IntStack:
    """All INT headers of one packet; `hops` begins with the newest."""

    shim: Shim
    header: IntHeader
    hops: tuple[dict[str, int | None], ...]

    @property
    def size_bytes(self) -> int:
        """How many bytes INT added to the packet."""
        return SHIM_BYTES + WORD_BYTES * self.shim.length_words


def is_whole(data: bytes) -> bool:
    """Whether all words that the shim announces are there, in a packet that may have been cut."""
    return len(data) >= SHIM_BYTES and len(data) >= SHIM_BYTES + WORD_BYTES * data[1]


def decode_stack(data: bytes) -> IntStack:
    """Reads the INT headers that `data` begins with; `MalformedError` says what does not fit."""
    shim = _decode_shim(data)
    header = _decode_header(data[SHIM_BYTES : SHIM_BYTES + INT_HEADER_BYTES])
    end = SHIM_BYTES + WORD_BYTES * shim.length_words
    if len(data) < end:
        raise MalformedError(
            f"the shim announces {shim.length_words} words, "
            f"but only {len(data) - SHIM_BYTES} bytes follow it"
        )
    metadata = data[SHIM_BYTES + INT_HEADER_BYTES : end]
    if shim.int_type == IntType.MX:
        return IntStack(shim, header, ())
    return IntStack(shim, header, _decode_hops(header, metadata))


def _decode_shim(data: bytes) -> Shim:
    if len(data) < SHIM_BYTES + INT_HEADER_BYTES:
        raise MalformedError(
            f"shim and INT header take {SHIM_BYTES + INT_HEADER_BYTES} bytes, there are {len(data)}"
        )
    types, length_words, original = struct.unpack_from("!BBH", data)
    shim = Shim(types >> 4, (types >> 2) & 0x3, length_words, original)
    if shim.int_type not in (IntType.MD, IntType.MX):
        raise MalformedError(f"the shim's type is {shim.int_type}; 1 (MD) and 3 (MX) are known")
    if WORD_BYTES * shim.length_words < INT_HEADER_BYTES:
        raise MalformedError(
            f"the shim announces {shim.length_words} words, the INT header alone takes 3"
        )
    return shim


def _decode_header(data: bytes) -> IntHeader:
    first, bitmap, domain_id, domain_bitmap, domain_flags = struct.unpack("!IHHHH", data)
    version = first >> 28
    if version != INT_VERSION:
        raise MalformedError(f"the INT header's version is {version}, {INT_VERSION} is known")
    return IntHeader(
        discard=bool(first >> 27 & 1),
        hops_exceeded=bool(first >> 26 & 1),
        mtu_exceeded=bool(first >> 25 & 1),
        hop_words=first >> 8 & 0x1F,
        remaining_hops=first & 0xFF,
        bitmap=bitmap,
        domain_id=domain_id,
        domain_bitmap=domain_bitmap,
        domain_flags=domain_flags,
    )


def _decode_hops(header: IntHeader, metadata: bytes) -> tuple[dict[str, int | None], ...]:
    expected = words_of(header.bitmap, PACKET_INSTRUCTIONS)
    if header.hop_words < expected:
        raise MalformedError(
            f"instructions {header.bitmap:#06x} take {expected} words a hop, "
            f"the header says {header.hop_words}"
        )
    hop_bytes = WORD_BYTES * header.hop_words
    if hop_bytes == 0:
        if metadata:
            raise MalformedError(f"{len(metadata)} bytes of metadata with no instruction set")
        return ()
    if len(metadata) % hop_bytes:
        raise MalformedError(
            f"{len(metadata)} bytes of metadata are no multiple of {hop_bytes} bytes a hop"
        )
    return tuple(
        values_of(header.bitmap, metadata[start : start + hop_bytes], PACKET_INSTRUCTIONS)
        for start in range(0, len(metadata), hop_bytes)
    )
