"""A program that makes a network, and the Mininet prompt that it ends in.

What a student types is written to the prompt, and what the prompt answers is read up to its next
appearance. All of it is kept in a file beside the exercise's logs.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.finished import finished

from .outcome import CheckError

_PROMPT = b"mininet> "
# Escape sequences of a terminal's colours.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# Compiling, starting and programming up to four switches takes some seconds on an idle machine.
START_DEADLINE_S = 180.0
COMMAND_DEADLINE_S = 180.0
FILE_DEADLINE_S = 60.0
ANSWER_DEADLINE_S = 90.0
# Mininet takes some hundred milliseconds to take a network down.
END_DEADLINE_S = 20.0


class Network:
    """A running network: `with Network(folder, command, tools) as it: it.ask("pingall")`."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        tools: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Remembers what to start, with `tools` in front of PATH; nothing runs before `with`."""
        self.folder = folder
        self._argv = command
        path = f"{tools}:{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, **(environment or {})}
        self._transcript = folder / "transcript.txt"
        self._pending = b""

    def __enter__(self) -> Network:
        self._log = self._transcript.open("wb")
        self._child = subprocess.Popen(
            self._argv,
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._read_to_prompt("the Mininet prompt", START_DEADLINE_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Closing its input is Ctrl-D at the prompt: Mininet takes the network down. Whatever does
        # not end by then ends with the namespace.
        try:
            _output, _ = self._child.communicate(timeout=END_DEADLINE_S)
            self._log.write(_output or b"")
        except subprocess.TimeoutExpired:
            self._child.kill()
        self._log.close()

    def ask(self, line: str, deadline_s: float = COMMAND_DEADLINE_S) -> str:
        """Types a line at the prompt and returns what was printed until the next one."""
        assert self._child.stdin is not None
        self._child.stdin.write(line.encode() + b"\n")
        self._child.stdin.flush()
        return self._read_to_prompt(f"an answer to `{line}`", deadline_s)

    def wait_for_answer(self, line: str, holds: Callable[[str], bool], otherwise: str) -> None:
        """Types a line again and again until its answer is the one that is waited for."""
        end = time.monotonic() + ANSWER_DEADLINE_S
        while not holds(self.ask(line)):
            if time.monotonic() > end:
                raise CheckError(otherwise)

    def start(self, command: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        """Starts a program of the exercise beside the network, as in a second shell."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env={**self._environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=(self.folder / log).open("wb"),
            stderr=subprocess.STDOUT,
        )

    def run(
        self, command: Sequence[str], typed: str = "", deadline_s: float = COMMAND_DEADLINE_S
    ) -> str:
        """Runs a program of the exercise beside the network to its end; returns what it said."""
        done = finished(
            command, deadline_s, folder=self.folder, environment=self._environment, typed=typed
        )
        if done.was_late:
            raise CheckError(f"{command[0]} did not end within {deadline_s:g} s")
        if done.status != 0:
            raise CheckError(f"{' '.join(command)} failed: {_last_line(done.output)}")
        return done.output

    def read(self, name: str) -> str:
        """A file of the exercise, which need not be there yet."""
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def wait_for(self, name: str, text: str, deadline_s: float = FILE_DEADLINE_S) -> str:
        """Waits until a file of the exercise holds `text`, and returns the file."""
        return self.wait_until(
            name, lambda content: text in content, f"{name} never said {text!r}", deadline_s
        )

    def wait_until(
        self,
        name: str,
        holds: Callable[[str], bool],
        otherwise: str,
        deadline_s: float = FILE_DEADLINE_S,
    ) -> str:
        """Waits until `holds(content of the file)`; ends with `otherwise` if that never comes."""
        end = time.monotonic() + deadline_s
        while not holds(content := self.read(name)):
            if time.monotonic() > end:
                raise CheckError(f"{otherwise}; it ended: {_last_line(content)}")
            select.select([], [], [], 0.05)
        return content

    def _read_to_prompt(self, what: str, deadline_s: float) -> str:
        assert self._child.stdout is not None
        end = time.monotonic() + deadline_s
        while _PROMPT not in self._pending:
            left = end - time.monotonic()
            ready, _, _ = select.select([self._child.stdout], [], [], max(left, 0.0))
            if not ready:
                raise CheckError(
                    f"{what} did not come within {deadline_s:g} s; {self._last_words()}"
                )
            piece = os.read(self._child.stdout.fileno(), 65536)
            if not piece:
                raise CheckError(f"the network ended before {what}; {self._last_words()}")
            self._log.write(piece)
            self._log.flush()
            self._pending += piece
        text, _, self._pending = self._pending.partition(_PROMPT)
        return _COLOURS.sub("", text.decode(errors="replace"))

    def _last_words(self) -> str:
        return f"the last line was: {_last_line(self._transcript.read_text(errors='replace'))}"


def _last_line(text: str) -> str:
    lines = [line for line in _COLOURS.sub("", text).splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing"
