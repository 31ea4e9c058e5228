"""The ways to wait: for a condition, with a deadline, or for an instant. Nothing else here sleeps.

Deadlines are meant for machines of today. Where a machine is emulated in software, VITRINE_PATIENCE
says how many times as long everything may take.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from topo.errors import DeadlineError

T = TypeVar("T")

# Too short to be noticed, and long enough to cost nothing.
_PAUSE_S = 0.01


def until(condition: Callable[[], bool], what: str, deadline_s: float) -> None:
    """Returns once `condition` holds; after `deadline_s` an error says `what` did not happen."""
    allowed_s = deadline_s * patience()
    if not holds_within(condition, allowed_s):
        raise DeadlineError(f"{what} did not happen within {allowed_s:g} s.")


def patience() -> float:
    """How many times as long as planned things may take before they count as failed."""
    text = os.environ.get("VITRINE_PATIENCE", "1")
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1 <= factor < float("inf"):
        raise DeadlineError(f"VITRINE_PATIENCE is {text!r}: expected a number of at least 1.")
    return factor


def holds_within(condition: Callable[[], bool], deadline_s: float) -> bool:
    """Whether `condition` comes to hold before the deadline; it is looked at least once."""
    end = time.monotonic() + deadline_s
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_S)
    return True


def for_instant(at_s: float) -> None:
    """Returns at an instant of the monotonic clock, as exactly as the kernel wakes anybody."""
    while (left_s := at_s - time.monotonic()) > 0:
        time.sleep(left_s)


async def changes(look: Callable[[], T], every_s: float) -> AsyncIterator[T]:
    """The present result of `look`, and from then on each different one."""
    seen = look()
    yield seen
    while True:
        await asyncio.sleep(every_s)
        now = look()
        if now != seen:
            seen = now
            yield seen
