"""Signals that end a program do so the way Ctrl-C does: through `with` blocks, which clean up."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

# Somebody asks for the end, or the terminal is closed.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def as_exit() -> Iterator[None]:
    """SIGTERM and a closed terminal raise SystemExit here.

    What is ignored stays so: under nohup a closed terminal ends nothing.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        # As shells count it.
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in ENDING}
    heeded = [number for number in ENDING if before[number] is not signal.SIG_IGN]
    for number in heeded:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Ending waits: a second Ctrl-C must not interrupt the cleaning up that the first one began."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *ENDING))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
