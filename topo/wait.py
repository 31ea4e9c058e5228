"""The one way to wait: for a condition, with a deadline. Nothing else in the kit sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable

from topo.errors import DeadlineError

# Short enough that nobody notices, long enough to cost nothing.
_PAUSE_S = 0.01


def until(condition: Callable[[], bool], what: str, deadline_s: float) -> None:
    """Returns once `condition` holds; after `deadline_s` an error says `what` did not happen."""
    if not holds_within(condition, deadline_s):
        raise DeadlineError(f"{what} did not happen within {deadline_s:g} s.")


def holds_within(condition: Callable[[], bool], deadline_s: float) -> bool:
    """Whether `condition` comes to hold before the deadline; it is looked at least once."""
    end = time.monotonic() + deadline_s
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_S)
    return True
