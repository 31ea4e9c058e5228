"""A mistake in a system's Python as one sentence, with the last line of the system's own file."""

from __future__ import annotations

import traceback

from controller.errors import ControllerError
from labs.errors import LabError
from labs.score.systems import is_own


def sentence(error: Exception) -> str:
    """The error's own words if it is one of the kit's, else its kind too; and where it was made."""
    words = str(error)
    if not isinstance(error, ControllerError | LabError):
        words = f"{type(error).__name__}: {words}"
    place = _place(error)
    return f"{words} ({place})" if place else words


def _place(error: Exception) -> str:
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_own(frame.filename):
            return f"{frame.filename}:{frame.lineno}, in {frame.name}"
    return ""
