"""Programs that are tried on a submission: each has so long, and then it is ended."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GRACE_S = 5.0


@dataclass(frozen=True)
class Done:
    """How a program ended."""

    output: str
    errors: str
    # None: its time was up.
    status: int | None


class Runner:
    """Runs programs as they are: for students who check their own work."""

    # The processor time that all programs of a submission may use together.
    budget_s = math.inf

    def __init__(self, seconds: float = 60.0) -> None:
        self.seconds = seconds

    def with_account(self, file: Path, budget_s: float) -> Runner:
        """One for a submission with a budget; here nobody counts."""
        return self

    def used_s(self) -> float:
        """The processor time that programs of the submission have used, where somebody counts."""
        return 0.0

    def command(
        self, argv: Sequence[str], readable: Sequence[Path], writable: Sequence[Path] = ()
    ) -> list[str]:
        """The command line that runs `argv`, which may read and write these folders."""
        return list(argv)

    def environment(self) -> Mapping[str, str]:
        """What programs find in their environment."""
        return os.environ

    def python(self, readable: Sequence[Path]) -> str:
        """The Python of a student's class, as `VITRINE_PYTHON` names it."""
        return " ".join(self.command([sys.executable], readable))

    def run(
        self,
        argv: Sequence[str],
        *,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        seconds: float | None = None,
        trusted: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Done:
        """Runs a program to its end, or until its time is up; then its children end with it.

        A `trusted` program is one of the kit's that does what it does whatever it is given.
        """
        process = subprocess.Popen(
            list(argv) if trusted else self.command(argv, readable, writable),
            env={**self.environment(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(timeout=seconds or self.seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return Done(*_rest(process), None)
        finally:
            _end(process)
        return Done(output, errors, process.returncode)


def as_user(argv: Sequence[str]) -> list[str]:
    """The command line that runs `argv` as the user behind sudo, if there is one.

    A live check is root's; what a student wrote need not be.
    """
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if os.geteuid() != 0 or not user or not group:
        return list(argv)
    return ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--", *argv]


def _rest(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a program that was ended had said, unless somebody it left behind holds the pipe."""
    try:
        return process.communicate(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        return "", ""


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a program that was given a group of its own, with whatever it has started in there."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
