"""Processes that are started, watched and ended by id, never by name.

A process id alone can be reused by the kernel; together with the process's start time it names one
process for good.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controller.ownership import open_no_link
from controller.routers import started_ticks
from topo import wait
from topo.errors import ProcessError

# How long a process may take to end by itself after SIGTERM.
STOP_DEADLINE_S = 5.0


@dataclass(frozen=True)
class Identity:
    """One process of this boot, also after it has ended."""

    pid: int
    start_ticks: int

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """The process that has this id now, if one has and it is not a zombie."""
        ticks = started_ticks(pid)
        return None if ticks is None else cls(pid, ticks)

    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        return Identity.of(self.pid) == self

    def name(self) -> str:
        """The name of its program, as the kernel has it."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}/comm").read_text().strip()
        return "?"

    def end(self) -> None:
        """Asks the process to end, and after a deadline makes it; returns when it is gone."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.is_alive():
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
            if wait.holds_within(lambda: not self.is_alive(), STOP_DEADLINE_S):
                return
        raise ProcessError(f"process {self.pid} does not end, not even when killed.")


class Process:
    """A child of ours with its output in a file."""

    def __init__(self, argv: Sequence[str], log: Path) -> None:
        """Starts `argv`; a program that is not there is an error here."""
        self.argv = list(argv)
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Root's process must not write through a link that another user has put there.
            with open(log, "wb", opener=open_no_link) as output:
                # A session of its own: Ctrl-C at the terminal reaches only us, and we end the
                # others in the right order.
                self._child = subprocess.Popen(
                    self.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            where = f" ({error.filename})" if error.filename == str(log) else ""
            raise ProcessError(
                f"{self.argv[0]} cannot be started: {error.strerror}{where}."
            ) from error

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._child.poll() is not None

    def wait(self, what: str, deadline_s: float) -> str:
        """The output of a process that ends well by itself; else an error with its last words."""
        wait.until(self.has_ended, f"the end of {what}", deadline_s)
        if self._child.returncode != 0:
            raise ProcessError(
                f"{what} ended with status {self._child.returncode}: {self.last_words()}"
            )
        return self.log.read_text(errors="replace")

    def finish(self, what: str, deadline_s: float) -> str:
        """Asks a program to end that has something to complete first; its output, as of `wait`."""
        self._child.send_signal(signal.SIGTERM)
        return self.wait(what, deadline_s)

    def pause(self) -> None:
        """It does nothing until it is resumed."""
        self._child.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It goes on where it was paused."""
        self._child.send_signal(signal.SIGCONT)

    def last_words(self) -> str:
        """The last lines of the output, for error messages."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return " / ".join(lines[-3:]) or "it said nothing."

    def end(self) -> None:
        """Ends the process and waits until it is gone. Ending it twice does no harm."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.has_ended():
                return
            self._child.send_signal(number)
            # One that is paused would not hear of it.
            self.go_on()
            if wait.holds_within(self.has_ended, STOP_DEADLINE_S):
                return
        raise ProcessError(f"{self.argv[0]} (process {self.pid}) does not end.")
