"""Values as people type them, as bytes, and back."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from typing import Any

from bm_runtime.standard.ttypes import (
    BmMatchParam,
    BmMatchParamExact,
    BmMatchParamLPM,
    BmMatchParamRange,
    BmMatchParamTernary,
    BmMatchParamType,
    BmMatchParamValid,
)

from .mistakes import BadData, BadKey, Mistake
from .program import Action, Key, Table

# Addresses may be typed where a value has their width: what they are, and how they are read.
_ADDRESSES: dict[int, tuple[str, str, Callable[[str], bytes]]] = {
    32: ("IPv4", ".", lambda text: ipaddress.IPv4Address(text).packed),
    48: ("MAC", ":", lambda text: bytes(int(part, 16) for part in _six(text.split(":")))),
    128: ("IPv6", ":", lambda text: ipaddress.IPv6Address(text).packed),
}


def _six(parts: list[str]) -> list[str]:
    if len(parts) != 6:
        raise ValueError
    return parts


def number(text: str, name: str) -> int:
    """Read a whole number, which the message calls `name`."""
    try:
        return int(text, 0)
    except ValueError:
        raise Mistake(f"Bad format for {name}, expected integer") from None


def truth(text: str) -> bool:
    """Read a truth value."""
    if text in ("true", "True"):
        return True
    if text in ("false", "False"):
        return False
    try:
        return bool(int(text, 0))
    except ValueError:
        raise Mistake("Invalid bool parameter") from None


def value(text: str, width: int) -> bytes:
    """Read an address or a number of `width` bits, in as many bytes as they need."""
    kind, mark, read = _ADDRESSES.get(width, ("", "\0", bytes))
    if mark in text:
        try:
            return read(text)
        except ValueError:
            raise Mistake(f"Invalid {kind} address") from None
    try:
        found = int(text, 0)
    except ValueError:
        raise Mistake(
            "Invalid input, could not cast to integer, try in hex with 0x prefix"
        ) from None
    try:
        return found.to_bytes((width + 7) // 8, "big")
    except OverflowError:
        raise Mistake("Parameter is too large" if found > 0 else "Parameter is negative") from None


def data(action: Action, texts: list[str]) -> list[bytes]:
    """Read the data of an action."""
    if len(texts) != len(action.params):
        raise Mistake(f"Action {action.name} needs {len(action.params)} parameters")

    def one(text: str, width: int) -> bytes:
        try:
            return value(text, width)
        except Mistake as error:
            raise BadData(f"Error while parsing {text} - {error}") from None

    return [one(text, width) for text, (_, width) in zip(texts, action.params, strict=True)]


def key(table: Table, texts: list[str]) -> list[BmMatchParam]:
    """Read the key of an entry."""
    if len(texts) != len(table.keys):
        raise Mistake(f"Table {table.name} needs {len(table.keys)} key fields")
    return [_part(of, text) for of, text in zip(table.keys, texts, strict=True)]


def _part(of: Key, text: str) -> BmMatchParam:
    def read(part: str) -> bytes:
        try:
            return value(part, of.width)
        except Mistake as error:
            raise BadKey(f"Error while parsing {part} - {error}") from None

    def pair(mark: str, what: str, between: str) -> tuple[str, str]:
        first, found, second = text.partition(mark)
        if not found:
            raise BadKey(f"Invalid {what} value {text}, use '{mark}' to separate {between}")
        return first, second

    match of.match:
        case "exact":
            exact = BmMatchParamExact(read(text))
            return BmMatchParam(BmMatchParamType.EXACT, exact=exact)
        case "lpm":
            prefix, length = pair("/", "LPM", "prefix and length")
            lpm = BmMatchParamLPM(read(prefix), number(length, "prefix length"))
            return BmMatchParam(BmMatchParamType.LPM, lpm=lpm)
        case "ternary":
            first, mask = pair("&&&", "ternary", "key and mask")
            ternary = BmMatchParamTernary(read(first), read(mask))
            return BmMatchParam(BmMatchParamType.TERNARY, ternary=ternary)
        case "range":
            low, high = (read(end) for end in pair("->", "range", "range start and range end"))
            if low > high:
                raise BadKey(f"start is greater than end in expression {text}")
            return BmMatchParam(BmMatchParamType.RANGE, range=BmMatchParamRange(low, high))
        case _:
            there = BmMatchParamValid(bool(number(text, "validity")))
            return BmMatchParam(BmMatchParamType.VALID, valid=there)


def colons(bytes_: bytes) -> str:
    """Show bytes in hex with colons between them."""
    return ":".join(f"{byte:02x}" for byte in bytes_)


def shown_key(params: Iterable[Any]) -> str:
    """Show a key in one line, as it is shown when an entry is added."""
    return "\t".join(
        f"{BmMatchParamType._VALUES_TO_NAMES[param.type]}-{shown_part(param, colons)}"
        for param in params
    )


def shown_part(param: Any, show: Callable[[bytes], str]) -> str:
    """Show one part of a key."""
    match param.type:
        case BmMatchParamType.EXACT:
            return show(param.exact.key)
        case BmMatchParamType.LPM:
            return f"{show(param.lpm.key)}/{param.lpm.prefix_length}"
        case BmMatchParamType.TERNARY:
            return f"{show(param.ternary.key)} &&& {show(param.ternary.mask)}"
        case BmMatchParamType.RANGE:
            return f"{show(param.range.start)} -> {show(param.range.end_)}"
        case _:
            return str(int(param.valid.key))
