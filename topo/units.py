"""Quantities that people write, as whole numbers: "10 Mb/s" is 10,000,000 bits a second.

A number without a unit is refused: 10 could be megabits or packets, and a wrong guess costs a lab
hour. Prefixes are decimal, as on network lines: 1 Mb is 1,000,000 bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from topo.errors import UnitError

_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z/µ]+)\s*")

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


def rate_bps(text: str) -> int:
    """Bits a second: `10 Mb/s`, `1.5 Mb/s` or tc's `10mbit`."""
    return _whole(text, _RATE_UNITS, "a rate", "10 Mb/s")


def span_ns(text: str) -> int:
    """Nanoseconds: `20 ms`."""
    return _whole(text, _SPAN_UNITS, "a length of time", "20 ms")


def packets(text: str) -> int:
    """A number of packets: `50 packets`."""
    return _whole(text, _PACKET_UNITS, "a queue limit", "50 packets")


def format_rate(bps: float) -> str:
    """A rate for people, three digits and a unit: 9.57 Mb/s."""
    for unit in ("Gb/s", "Mb/s", "kb/s"):
        if bps >= _RATE_UNITS[unit]:
            return f"{bps / _RATE_UNITS[unit]:.3g} {unit}"
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
