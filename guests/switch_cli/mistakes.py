"""Users' mistakes."""

from __future__ import annotations


class Mistake(Exception):  # noqa: N818 - it is the user's, not the program's
    """Something that was typed is not right; the text says what."""


class BadKey(Mistake):
    """It is about a key."""


class BadData(Mistake):
    """It is about the data of an action."""
