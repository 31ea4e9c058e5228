"""Runs one of our programs on something that a project ships."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

# The longest program of these projects takes a second; this is for busy machines.
DEADLINE_S = 120


def failure_of(
    command: Sequence[str | Path], folder: Path, wrong: Callable[[list[str]], list[str]]
) -> str | None:
    """`None` if it ended well; else the first of the lines it printed that say what is wrong."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {DEADLINE_S} s"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return (wrong(lines) or lines or ["no message"])[0]
