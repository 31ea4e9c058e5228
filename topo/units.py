"""Quantities that people write, as whole numbers: "10 Mb/s" is 10,000,000 bits a second.

A number without a unit is refused: 10 could be megabits or packets, and a wrong guess costs a lab
hour. Prefixes are decimal, as on network lines: 1 Mb is 1,000,000 bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from topo.errors import UnitError

_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z/µ%]+)\s*")
_RATIO = re.compile(r"\s*(\d+)(?:\s*/\s*([1-9]\d*)|\.(\d+))?\s*")

_RATE_UNITS: Mapping[str, int] = {
    "b/s": 1,
    "kb/s": 10**3,
    "Mb/s": 10**6,
    "Gb/s": 10**9,
    # As tc and the lab texts write them.
    "bit": 1,
    "kbit": 10**3,
    "mbit": 10**6,
    "gbit": 10**9,
}
_SPAN_UNITS: Mapping[str, int] = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_PACKET_UNITS: Mapping[str, int] = {"packet": 1, "packets": 1}
_BYTE_UNITS: Mapping[str, int] = {
    "B": 1,
    "byte": 1,
    "bytes": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}
_PACKET_RATE_UNITS: Mapping[str, int] = {"packets/s": 1, "kpackets/s": 10**3, "Mpackets/s": 10**6}
# A share in parts per million, so that 0.0001 % is a whole number too.
ALL_PPM = 1_000_000
_SHARE_UNITS: Mapping[str, int] = {"ppm": 1, "%": 10**4}


def rate_bps(text: str) -> int:
    """Bits a second: `10 Mb/s`, `1.5 Mb/s` or tc's `10mbit`."""
    return _whole(text, _RATE_UNITS, "a rate", "10 Mb/s")


def span_ns(text: str) -> int:
    """Nanoseconds: `20 ms`."""
    return _whole(text, _SPAN_UNITS, "a length of time", "20 ms")


def packets(text: str) -> int:
    """A number of packets: `50 packets`."""
    return _whole(text, _PACKET_UNITS, "a queue limit", "50 packets")


def size_bytes(text: str) -> int:
    """A number of bytes: `1514 bytes`, `64 kB`, or in powers of two `16 MiB`."""
    return _whole(text, _BYTE_UNITS, "a size", "64 kB")


def packet_rate_pps(text: str) -> int:
    """Packets a second: `1000 packets/s`."""
    return _whole(text, _PACKET_RATE_UNITS, "a packet rate", "1000 packets/s")


def share_ppm(text: str) -> int:
    """A share in parts per million: `0.01 %` is 100, `20 ppm` is 20; at most all."""
    share = _whole(text, _SHARE_UNITS, "a share", "0.01 %")
    if share > ALL_PPM:
        raise UnitError(f"{text!r} is not a share: it is more than 100 %.")
    return share


def ratio(text: str) -> Fraction:
    """A number without a unit, kept exact: `2`, `1.5` or `3/2`."""
    match = _RATIO.fullmatch(text)
    if match is None:
        raise UnitError(f"{text!r} is not a ratio: write a number such as 2, 1.5 or 3/2.")
    whole, under, decimals = match.groups()
    return Fraction(f"{whole}.{decimals}") if decimals else Fraction(int(whole), int(under or 1))


def is_packets(text: str) -> bool:
    """Whether a quantity counts packets rather than bytes."""
    match = _QUANTITY.fullmatch(text)
    return match is not None and match[2] in _PACKET_UNITS


def is_packet_rate(text: str) -> bool:
    """Whether a rate counts packets rather than bits."""
    match = _QUANTITY.fullmatch(text)
    return match is not None and match[2] in _PACKET_RATE_UNITS


def counted(count: int, what: str, ending: str = "s") -> str:
    """So many of something, for people: 1 packet, 2 packets; `ending` is the plural's."""
    return f"{count} {what}{'' if count == 1 else ending}"


def format_rate(bps: float) -> str:
    """A rate for people, three digits and a unit: 9.57 Mb/s."""
    # Rounded first: 999.9 Mb/s are 1 Gb/s, and not 1e+03 Mb/s.
    rounded = float(f"{bps:.3g}")
    for unit in ("Gb/s", "Mb/s", "kb/s"):
        if rounded >= _RATE_UNITS[unit]:
            return f"{rounded / _RATE_UNITS[unit]:.3g} {unit}"
    return f"{bps:.0f} b/s"


def _whole(text: str, units: Mapping[str, int], what: str, example: str) -> int:
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        raise UnitError(f"{text!r} is not {what}: write a number and a unit, such as '{example}'.")
    number, unit = match.groups()
    if unit not in units:
        known = ", ".join(units)
        raise UnitError(f"{text!r} is not {what}: the unit must be one of {known}.")
    # Fraction keeps 1.5 Mb/s exact.
    value = Fraction(number) * units[unit]
    if value.denominator != 1:
        raise UnitError(f"{text!r} is not {what} in whole {next(iter(units))}.")
    return value.numerator
