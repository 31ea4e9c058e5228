"""Programs that are tried on a submission: each has limits of time and output."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course.wall_clock import CASE_S, SUBMISSION_S, WallClock

# Without packages of others: what a check finds here must be what grading finds, and where the kit
# is installed its own packages are among them, with all that students are to write.
PYTHON = (sys.executable, "-S")
# Nor from the folder in which the check was started, which may be the kit's.
PATHS = {"PYTHONSAFEPATH": "1"}
# A program that writes more is ended. The longest trace of a right solution has 3 MB.
OUTPUT_BYTES_MAX = 32 << 20
# Of its messages these first ones are kept.
_ERRORS_BYTES_KEPT = 64 << 10
_READ_BYTES = 1 << 16
_LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Done:
    """How a program ended."""

    output: str
    errors: str
    # None: it was ended.
    status: int | None
    # Why it was ended, as a sentence.
    why: str = ""


class Runner:
    """Runs programs as they are: for students who check their own work."""

    # The processor time that all programs of a submission may use together.
    budget_s = math.inf

    def __init__(self, seconds: float = 60.0) -> None:
        self.seconds = seconds
        self.clock = WallClock()

    def with_account(self, file: Path, budget_s: float) -> Runner:
        """A runner for a submission that is graded. Processor time is not counted here."""
        runner = Runner(self.seconds)
        runner.clock = WallClock(CASE_S, SUBMISSION_S)
        return runner

    def used_s(self) -> float:
        """The processor time that programs of the submission have used, where it is counted."""
        return 0.0

    def command(
        self, argv: Sequence[str], readable: Sequence[Path], writable: Sequence[Path] = ()
    ) -> list[str]:
        """The command line that runs `argv`, which may read and write these folders."""
        return list(argv)

    def environment(self) -> Mapping[str, str]:
        """The environment of programs."""
        return {**os.environ, **PATHS}

    def python(self, readable: Sequence[Path]) -> str:
        """The Python of a student's class, as `VITRINE_PYTHON` names it."""
        return " ".join(self.command(PYTHON, readable))

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
            start_new_session=True,
        )
        with self.clock.ends(lambda: _end(process)):
            try:
                output, errors, why = _read(process, seconds or self.seconds)
            finally:
                _end(process)
                process.wait()
        if self.clock.is_late:
            why = why or "It had not come to an end when the time of its case was up."
        status = None if why else process.returncode
        return Done(output.decode(errors="replace"), errors.decode(errors="replace"), status, why)


def as_user(argv: Sequence[str]) -> list[str]:
    """The command line that runs `argv` as the user behind sudo, if there is one.

    A live check is root's; what a student wrote need not be.
    """
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if os.geteuid() != 0 or not user or not group:
        return list(argv)
    return ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--", *argv]


def _read(process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, bytes, str]:
    """A program's output until it ends, and why that is not all, as a sentence.

    It is read as it comes and kept to its limit, so what is read takes no more memory than that.
    """
    assert process.stdout is not None and process.stderr is not None, "both were asked for"
    until_s = time.monotonic() + seconds
    kept = {process.stdout: bytearray(), process.stderr: bytearray()}
    most = {process.stdout: OUTPUT_BYTES_MAX, process.stderr: _ERRORS_BYTES_KEPT}
    written, why = 0, ""
    with selectors.DefaultSelector() as selector, process.stdout, process.stderr:
        for pipe in kept:
            selector.register(pipe, selectors.EVENT_READ, pipe)
        while selector.get_map() and not why:
            for key, _ in selector.select(_LOOK_EVERY_S):
                pipe = key.data
                more = os.read(key.fd, _READ_BYTES)
                if not more:
                    selector.unregister(pipe)
                    continue
                written += len(more)
                kept[pipe] += more[: most[pipe] - len(kept[pipe])]
            if written > OUTPUT_BYTES_MAX:
                why = f"It wrote more than {OUTPUT_BYTES_MAX >> 20} MB, and was ended."
            elif time.monotonic() > until_s:
                why = f"It had not come to an end after {seconds:.0f} s."
            elif process.poll() is not None and not selector.select(0):
                # Somebody it left behind holds the pipes, and will not be waited for.
                break
        if not why:
            try:
                process.wait(max(0.0, until_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                why = f"It had not come to an end after {seconds:.0f} s."
    return bytes(kept[process.stdout]), bytes(kept[process.stderr]), why


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program that was given a group of its own, with whatever it has started in there."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
