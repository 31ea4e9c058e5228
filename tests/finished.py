"""A program that is run to its end, or to a deadline. The caller gives that its meaning."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """How a program ended."""

    # None: it was late and has been ended.
    status: int | None
    # Both of its outputs, in the order in which they were written.
    output: str

    @property
    def was_late(self) -> bool:
        return self.status is None

    @property
    def lines(self) -> list[str]:
        """Its output, without empty lines."""
        return [line for line in self.output.splitlines() if line.strip()]


def finished(
    command: Sequence[object],
    deadline_s: float,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    typed: str | None = None,
) -> Finished:
    """Runs a command, in its own folder and environment if need be; `typed` is its input."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env=environment,
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=deadline_s,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        # Partial output comes as bytes, whatever was requested.
        said = late.stdout or b""
        return Finished(None, said if isinstance(said, str) else said.decode(errors="replace"))
    return Finished(done.returncode, done.stdout)
