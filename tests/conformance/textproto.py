"""Protobuf text files compared as messages, without knowing their schema.

Good enough for P4Info: the order of fields does not count, the order of the elements of a repeated
field does, the order of the entries of a map (`key` and `value`) does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}:]|[^\s{}:"]+')
# A message is a list of fields in the order of the text: name and scalar or message.
Message = list[tuple[str, "str | Message"]]


def same_message(ours: str, theirs: str) -> str | None:
    """`None` where both say the same; otherwise the first difference, for people."""
    return difference(parse(ours), parse(theirs), "")


def parse(text: str) -> Message:
    without_comments = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return fields(iter(TOKEN.findall(without_comments)))


def fields(tokens: Iterator[str]) -> Message:
    found: Message = []
    for name in tokens:
        if name == "}":
            break
        mark = next(tokens)
        found.append((name, fields(tokens) if mark == "{" else next(tokens)))
    return found


def grouped(message: Message) -> dict[str, list[str | Message]]:
    groups: dict[str, list[str | Message]] = {}
    for name, value in message:
        groups.setdefault(name, []).append(value)
    for values in groups.values():
        if all(is_map_entry(value) for value in values):
            values.sort(key=repr)
    return groups


def is_map_entry(value: str | Message) -> bool:
    return isinstance(value, list) and [name for name, _ in value] == ["key", "value"]


def difference(ours: Message, theirs: Message, path: str) -> str | None:
    left, right = grouped(ours), grouped(theirs)
    for name in sorted(left.keys() | right.keys()):
        here = f"{path}.{name}" if path else name
        one, other = left.get(name, []), right.get(name, [])
        for index, (mine, wanted) in enumerate(zip(one, other, strict=False)):
            found = value_difference(mine, wanted, f"{here}[{index}]")
            if found is not None:
                return found
        if len(one) != len(other):
            return f"{here}: {len(one)}, p4c has {len(other)}"
    return None


def value_difference(mine: str | Message, wanted: str | Message, path: str) -> str | None:
    if isinstance(mine, list) and isinstance(wanted, list):
        return difference(mine, wanted, path)
    return None if mine == wanted else f"{path}: {mine}, p4c has {wanted}"
