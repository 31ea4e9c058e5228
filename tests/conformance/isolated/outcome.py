"""The error of a failed check."""

from __future__ import annotations


class CheckError(Exception):
    """An exercise does not do what it is about; the message says what was seen instead."""


def require(condition: bool, otherwise: str) -> None:
    """Ends the check with `otherwise` unless `condition` holds."""
    if not condition:
        raise CheckError(otherwise)
