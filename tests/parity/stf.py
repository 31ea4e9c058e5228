"""STF scripts as values: what fills a switch's tables, which packets come, what should leave.

Only the statements that the kit's own cases use; another one is an error, so that no case is
compared by halves. docs/compiler.md and `vitrine-sim stf` know the whole language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from controller.entities import CloneSession
from controller.entries import Call, Entry, Exact, Lpm, Match, Optional, Range, Ternary
from controller.p4info import Key, MatchKind, P4Info

# In quotes, a name may have what ends others, or begins a comment.
_COMMENT = re.compile(r'("[^"]*")|#.*')
_NAME = r'"[^"]+"|[^\s:("]+'
_KEY = re.compile(rf"({_NAME})\s*:\s*(\S+)")
_ADD = re.compile(rf"({_NAME})\s+(?:(\d+)\s+)?((?:(?:{_NAME})\s*:\s*\S+\s+)*)({_NAME})\s*\((.*)\)")
_SETDEFAULT = re.compile(rf"({_NAME})\s+({_NAME})\s*\((.*)\)")


class StfError(Exception):
    """A statement that is not understood here."""


@dataclass(frozen=True)
class Packet:
    """A packet that comes in, or one that is expected (`*` is any digit, `$` the end)."""

    port: int
    digits: str


@dataclass(frozen=True)
class Script:
    """A case: everything of one kind in its order."""

    settings: tuple[str, ...]
    packets: tuple[Packet, ...]
    expected: tuple[Packet, ...]

    @classmethod
    def read(cls, path: Path) -> Script:
        """The statements of a file. Tables are filled before the first packet in all our cases."""
        settings: list[str] = []
        packets: list[Packet] = []
        expected: list[Packet] = []
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            statement = _COMMENT.sub(lambda found: found[1] or "", line)
            word, _, rest = statement.strip().partition(" ")
            if word in ("packet", "expect"):
                port, *digits = rest.split()
                target = packets if word == "packet" else expected
                target.append(Packet(int(port), "".join(digits).lower()))
            elif word in ("add", "group", "member", "setdefault", "mirroring_add"):
                if packets:
                    raise StfError(f"{path.name}, line {number}: {word} behind a packet.")
                settings.append(f"{word} {rest}")
            # Checks are made anew from simple_switch's counts; waiting has no use without time, and
            # unexpected packets are a difference in any case.
            elif word not in ("", "wait", "no_packet", "check_counter", "check_register"):
                raise StfError(f"{path.name}, line {number}: the statement {word!r} is unknown.")
        return cls(tuple(settings), tuple(packets), tuple(expected))

    @property
    def ports(self) -> list[int]:
        """Every port that the case speaks of."""
        named = {packet.port for packet in (*self.packets, *self.expected)}
        named |= {int(each.split()[2]) for each in self.settings if each.startswith("mirroring")}
        return sorted(named)

    def entry_count(self, table: str) -> int:
        """How many entries a table is given."""
        added = [each.removeprefix("add ") for each in self.settings if each.startswith("add ")]
        names = [found for found in map(re.compile(_NAME).match, added) if found is not None]
        return sum(_bare(found[0]) == table for found in names)


def items(script: Script, program: P4Info) -> tuple[list[Entry | CloneSession], list[Entry]]:
    """The inserted entries and modified default entries, for a program."""
    inserted: list[Entry | CloneSession] = []
    modified: list[Entry] = []
    for line in script.settings:
        word, _, rest = line.partition(" ")
        if word == "mirroring_add":
            session, port = map(int, rest.split())
            inserted.append(CloneSession(session, ports=(port,)))
        elif word == "add":
            inserted.append(_entry(rest, program))
        else:
            found = _SETDEFAULT.fullmatch(rest.strip())
            if found is None:
                raise StfError(f"{rest!r} is no table and action.")
            modified.append(Entry(_bare(found[1]), None, _call(found[2], found[3])))
    return inserted, modified


def _entry(text: str, program: P4Info) -> Entry:
    found = _ADD.fullmatch(text.strip())
    if found is None:
        raise StfError(f"{text!r} is no entry.")
    table, priority, match, action, arguments = found.groups()
    table = _bare(table)
    keys = {key.name: key for key in program.tables[table].keys}
    written = ((_bare(name), value) for name, value in _KEY.findall(match))
    matches = {name: _match(value, keys[name]) for name, value in written}
    number = 0
    if program.tables[table].has_priorities:
        # The largest number wins, as in P4Runtime, where the smallest one is 1.
        number = int(priority or 0) + 1
    return Entry(table, matches, _call(action, arguments), number)


def _call(action: str, arguments: str) -> Call:
    pairs = (each.partition(":") for each in arguments.split(",") if each.strip())
    return Call(_bare(action), **{_bare(name): int(value, 0) for name, _, value in pairs})


def _bare(name: str) -> str:
    return name.strip().strip('"')


def _match(text: str, key: Key) -> Match:
    """A value whose digits may be `*`; `low->high` for ranges."""
    if key.kind is MatchKind.RANGE:
        low, _, high = text.partition("->")
        return Range(int(low, 0), int(high, 0))
    value, mask, fixed_bits = _digits(text, key.width_bits)
    if key.kind is MatchKind.LPM:
        return Lpm(value, fixed_bits)
    if key.kind is MatchKind.TERNARY:
        return Ternary(value, mask)
    return Optional(value) if key.kind is MatchKind.OPTIONAL else Exact(value)


def _digits(text: str, width_bits: int) -> tuple[int, int, int]:
    """The value, ones where it counts, and how many bits stand before the first `*`."""
    bits_per_digit = {"0x": 4, "0b": 1}.get(text[:2])
    if bits_per_digit is None or "*" not in text:
        return int(text, 0), (1 << width_bits) - 1, width_bits
    digits, base = text[2:], 1 << bits_per_digit
    value = int(digits.replace("*", "0"), base)
    full = f"{base - 1:x}"
    mask = int("".join("0" if digit == "*" else full for digit in digits), base)
    return value, mask, digits.index("*") * bits_per_digit
