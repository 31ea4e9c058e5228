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


def same_to_controllers(ours: str, shipped: str) -> str | None:
    """`None` where both say the same to a controller; otherwise the first difference."""
    newer = tuple(field for field in _NEWER_FIELDS if field not in shipped)
    mine, theirs = parse(ours), parse(shipped)
    if _NEWER_ANNOTATION[1] not in shipped:
        mine = _without_annotation(mine)
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
