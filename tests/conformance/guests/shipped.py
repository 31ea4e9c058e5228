"""P4Info that projects ship, beside ours.

The files were made by compilers of all ages. What newer ones added to the format or to the core
library, and the order of objects, is nothing that a controller written for the file can meet.
"""

from __future__ import annotations

from tests.conformance.textproto import Message, difference, parse

# Fields that older compilers did not write.
_NEWER_FIELDS = ("initial_default_action",)
# An annotation that `NoAction` has got in the core library.
_NEWER_ANNOTATION = ("annotations", '"@noWarn(\\"unused\\")"')

# Fields that hold the id of an object, of which older compilers filled 16 bits with a hash of its
# name, and newer ones fill 24.
_ID_FIELDS = (
    "id",
    "const_default_action_id",
    "direct_resource_ids",
    "direct_table_id",
    "implementation_id",
    "table_ids",
)
_HASH_BITS = 0xFF0000


def same_to_controllers(ours: str, shipped: str) -> str | None:
    """`None` where both say the same to a controller; otherwise the first difference."""
    newer = tuple(field for field in _NEWER_FIELDS if field not in shipped)
    mine, theirs = parse(ours), parse(shipped)
    if _NEWER_ANNOTATION[1] not in shipped:
        mine = _without_annotation(mine)
    if not any(number & _HASH_BITS for number in _ids(theirs)):
        mine = _with_short_ids(mine)
    return difference(_in_order(_without(mine, newer)), _in_order(theirs), "")


def _without(message: Message, names: tuple[str, ...]) -> Message:
    kept = [(name, value) for name, value in message if name not in names]
    return [
        (name, _without(value, names) if isinstance(value, list) else value) for name, value in kept
    ]


def _without_annotation(message: Message) -> Message:
    kept = [field for field in message if field != _NEWER_ANNOTATION]
    return [
        (name, _without_annotation(value) if isinstance(value, list) else value)
        for name, value in kept
    ]


def _in_order(message: Message) -> Message:
    """The objects of a P4Info by their kinds and ids."""
    return sorted(message, key=lambda field: (field[0], _id(field[1])))


def _id(value: str | Message) -> int:
    fields = dict(value) if isinstance(value, list) else {}
    preamble = fields.get("preamble")
    number = dict(preamble).get("id") if isinstance(preamble, list) else None
    return int(number) if isinstance(number, str) else 0


def _ids(message: Message) -> list[int]:
    """Every id of an object: those of parameters and keys have no byte for the kind of object."""
    found: list[int] = []
    for name, value in message:
        if isinstance(value, list):
            found += _ids(value)
        elif name in _ID_FIELDS and int(value) >> 24:
            found.append(int(value))
    return found


def _with_short_ids(message: Message) -> Message:
    shortened: Message = []
    for name, value in message:
        if isinstance(value, list):
            value = _with_short_ids(value)
        elif name in _ID_FIELDS and int(value) >> 24:
            value = str(int(value) & ~_HASH_BITS)
        shortened.append((name, value))
    return shortened
