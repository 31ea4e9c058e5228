"""Cutting an IPv4 packet that is too long for a link into fragments (RFC 791, 3.2).

    cut(frame, mtu_bytes)  ->  the frames in their order; none if it must not or cannot be cut

Pure functions of bytes. What comes in may be a fragment, which a narrower link makes cut again.
"""

from __future__ import annotations

import struct

from apps.replies import checksum

_ETHERNET_BYTES, _HEADER_BYTES = 14, 20
_IPV4 = b"\x08\x00"
# Offsets are counted in units of this many bytes, so only the last fragment may end between them.
_UNIT_BYTES = 8
_DONT_FRAGMENT, _MORE_FRAGMENTS, _OFFSET_BITS = 0x4000, 0x2000, 0x1FFF
# An option that is to stand in every fragment has this bit; these two have no length of their own.
_COPIED = 0x80
_END_OF_OPTIONS, _NO_OPERATION = 0, 1


def cut(frame: bytes, mtu_bytes: int) -> list[bytes]:
    """Frames with fragments of at most `mtu_bytes`; an empty list if the sender forbids it."""
    ethernet, packet = frame[:_ETHERNET_BYTES], frame[_ETHERNET_BYTES:]
    if ethernet[12:] != _IPV4 or len(packet) < _HEADER_BYTES:
        return []
    return [ethernet + fragment for fragment in _cut(packet, mtu_bytes)]


def _cut(packet: bytes, mtu_bytes: int) -> list[bytes]:
    header_bytes = (packet[0] & 0x0F) * 4
    total_len, _, flags = struct.unpack_from("!HHH", packet, 2)
    header, body = packet[:header_bytes], packet[header_bytes:total_len]
    if flags & _DONT_FRAGMENT or len(header) < max(header_bytes, _HEADER_BYTES):
        return []
    later_header = header[:_HEADER_BYTES] + _copied_options(header[_HEADER_BYTES:])
    fragments: list[bytes] = []
    at = 0
    while at < len(body):
        room = mtu_bytes - len(header)
        if at + room < len(body):
            room -= room % _UNIT_BYTES
        if room <= 0:
            return []
        is_last = at + room >= len(body)
        more = flags & _MORE_FRAGMENTS if is_last else _MORE_FRAGMENTS
        offset = (flags & _OFFSET_BITS) + at // _UNIT_BYTES
        fragments.append(_fragment(header, body[at : at + room], more | offset))
        at += room
        header = later_header
    return fragments


def _fragment(header: bytes, body: bytes, flags_and_offset: int) -> bytes:
    words = len(header) // 4
    head = struct.pack("!BBH", 0x40 | words, header[1], len(header) + len(body)) + header[4:6]
    plain = head + struct.pack("!H", flags_and_offset) + header[8:10] + bytes(2) + header[12:]
    return plain[:10] + struct.pack("!H", checksum(plain)) + plain[12:] + body


def _copied_options(options: bytes) -> bytes:
    """Those options that later fragments have too, filled up to whole words."""
    kept = b""
    while options and options[0] != _END_OF_OPTIONS:
        length = 1 if options[0] == _NO_OPERATION else max(options[1], 2)
        if options[0] & _COPIED:
            kept += options[:length]
        options = options[length:]
    return kept + bytes(-len(kept) % 4)
