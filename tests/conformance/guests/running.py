"""Runs one of our programs on something that a project ships."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.finished import finished

# The longest program of these projects takes a second; this is for busy machines.
DEADLINE_S = 120


def failure_of(
    command: Sequence[str | Path], folder: Path, wrong: Callable[[list[str]], list[str]]
) -> str | None:
    """`None` if it ended well; else the first of the lines it printed that say what is wrong."""
    done = finished(command, DEADLINE_S, folder=folder)
    if done.was_late:
        return f"no answer within {DEADLINE_S} s"
    if done.status == 0:
        return None
    return (wrong(done.lines) or done.lines or ["no message"])[0]
