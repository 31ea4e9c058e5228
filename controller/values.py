"""Values of P4 fields and parameters as P4Runtime's byte strings, checked by width.

P4Runtime carries an unsigned value as the shortest big-endian byte string that holds it
("canonical", P4Runtime specification section 8.4); zero is one zero byte. The width comes from
P4Info and the meaning from the type the caller chose: an integer, an IPv4 or IPv6 address, or a
`Mac`. Nothing is guessed from how a string looks.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TypeAlias

from controller.errors import ValueRangeError

_MAC_PATTERN = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


@dataclass(frozen=True, order=True)
class Mac:
    """An Ethernet address. `Mac.parse` takes the usual six pairs of hexadecimal digits."""

    number: int

    width_bits = 48

    def __post_init__(self) -> None:
        if not 0 <= self.number < 1 << self.width_bits:
            raise ValueRangeError(f"{self.number} is no Ethernet address: it must fit 48 bits.")

    @classmethod
    def parse(cls, text: str) -> Mac:
        """Reads `00:00:0a:00:01:01`."""
        if not _MAC_PATTERN.fullmatch(text):
            raise ValueRangeError(
                f"{text!r} is no Ethernet address: write six pairs of hexadecimal digits, "
                "such as 00:00:0a:00:01:01."
            )
        return cls(int(text.replace(":", ""), 16))

    @property
    def packed(self) -> bytes:
        """As it stands on the wire, like the `packed` of an IP address."""
        return self.number.to_bytes(6, "big")

    def __str__(self) -> str:
        return ":".join(f"{byte:02x}" for byte in self.packed)


Value: TypeAlias = int | ipaddress.IPv4Address | ipaddress.IPv6Address | Mac


def encode(value: Value, width_bits: int, what: str) -> bytes:
    """The canonical bytes of `value` in a field of `width_bits`; `what` names it in errors."""
    number = _number(value, width_bits, what)
    if not 0 <= number < 1 << width_bits:
        raise ValueRangeError(
            f"{what} is {width_bits} bits wide and cannot hold {value}: "
            f"the largest value is {(1 << width_bits) - 1}."
        )
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def decode(data: bytes) -> int:
    """The number in a byte string, canonical or padded."""
    return int.from_bytes(data, "big")


def _number(value: Value, width_bits: int, what: str) -> int:
    """`value` as an integer; an address must have exactly the width of its field."""
    # bool is an int to Python; here it is a mistake: P4Runtime has no truth values.
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, Mac):
        address_bits, number = value.width_bits, value.number
    elif isinstance(value, ipaddress.IPv4Address | ipaddress.IPv6Address):
        address_bits, number = value.max_prefixlen, int(value)
    else:
        raise ValueRangeError(
            f"{what} cannot be {value!r}: give an integer, a Mac or an address of ipaddress."
        )
    if address_bits != width_bits:
        raise ValueRangeError(
            f"{what} is {width_bits} bits wide, and {value} is an address of {address_bits} bits."
        )
    return number
