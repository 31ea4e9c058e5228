"""Whether this machine can run live networks, as vm/privilege.sh finds out."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from vitrine.command.names import ROOT


@dataclass(frozen=True)
class Obstacle:
    """A reason against live networks, half a sentence, and what to do about it."""

    reason: str
    remedy: str


def obstacle(*, can_ask: bool = True) -> Obstacle | None:
    """The obstacle to live networks here, if any; with `can_ask` sudo may prompt for a password."""
    done = subprocess.run(
        [str(ROOT / "vm" / "privilege.sh")],
        stdin=None if can_ask else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    # A reason may have a colon; the remedy stands behind the last one.
    reason, _, remedy = done.stdout.strip().rpartition("Cannot go on: ")[2].rpartition(": ")
    return Obstacle(reason, remedy.rstrip("."))
