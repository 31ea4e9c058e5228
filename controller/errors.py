"""Errors between a controller and a device, each as one sentence.

Every error a user can cause or meet derives from `ControllerError`; anything else that escapes from
this package is a bug of the kit.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ControllerError(Exception):
    """The base of all errors of this package; its text is one sentence for the user."""


class NameNotFoundError(ControllerError):
    """The P4 program has nothing of that kind with that name."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        known = sorted(known)
        close = difflib.get_close_matches(name, known, n=1)
        if close:
            hint = f"did you mean {close[0]!r}?"
        elif known:
            hint = f"there are: {', '.join(known)}."
        else:
            hint = "there are none."
        super().__init__(f"no {kind} is named {name!r}; {hint}")


class ValueRangeError(ControllerError):
    """A value does not fit the width that the P4 program declares."""


class EntryError(ControllerError):
    """An entry does not fit its table: a key or parameter is missing, unknown or wrong."""


class ConnectError(ControllerError):
    """No device answered at the address in time."""


class NotYoursError(ConnectError):
    """A router of another user's, which admits no other."""


class NotPrimaryError(ControllerError):
    """Another controller with a higher election id holds the device."""


class WriteError(ControllerError):
    """The device refused a batch; the sentence names each refused update and the reason."""


class RequestError(ControllerError):
    """The device refused a request as a whole."""
