"""A terminal as `vitrine top` needs it: a screen of its own, single keys, its size at any time.

    with Terminal() as terminal:
        terminal.draw(lines)
        key = terminal.key(0.1)

Leaving the block, however it is left, gives the terminal back as it was.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Sequence
from types import TracebackType

# The alternate screen, so that what was in the terminal before is there again afterwards.
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _ERASE_LINE, _ERASE_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"

# The keys' codes, by their names here. Terminals send one of two forms for an arrow.
_SEQUENCES = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[C": "right",
    "\x1bOC": "right",
    "\x1b[D": "left",
    "\x1bOD": "left",
}


class Terminal:
    """The terminal at standard input and output, for the length of a `with` block."""

    def __enter__(self) -> Terminal:
        self._input = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._input)
        # Keys at once and unseen; Ctrl-C still ends the program.
        tty.setcbreak(self._input)
        sys.stdout.write(_ENTER)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A terminal that was closed has nothing to be given back.
        with contextlib.suppress(OSError):
            sys.stdout.write(_LEAVE)
            sys.stdout.flush()
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, as they are now: variables of the shell may be of another window."""
        return os.get_terminal_size(sys.stdout.fileno())

    def draw(self, lines: Sequence[str]) -> None:
        """Shows these lines from the top. Written over what was there, so that nothing flickers."""
        body = f"{_ERASE_LINE}\r\n".join(lines)
        sys.stdout.write(f"{_HOME}{body}{_ERASE_LINE}{_ERASE_BELOW}")
        sys.stdout.flush()

    def key(self, wait_s: float) -> str | None:
        """The next key within `wait_s`: a character, or the name of an arrow."""
        ready, _, _ = select.select([self._input], [], [], max(0.0, wait_s))
        if not ready:
            return None
        # An arrow's bytes come at once; what else was typed meanwhile is not worth keeping.
        text = os.read(self._input, 16).decode(errors="replace")
        return _SEQUENCES.get(text, text[:1] or None)
