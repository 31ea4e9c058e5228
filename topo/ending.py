"""Signals that end a program do so the way Ctrl-C does: through `with` blocks, which clean up."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

# Somebody asks for the end, or the terminal is closed.
ENDING = (signal.SIGTERM, signal.SIGHUP)
# The status of a program that Ctrl-C has ended, as shells count it.
INTERRUPTED = 128 + signal.SIGINT


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
    """Ending waits: a second Ctrl-C must not interrupt the cleaning up that the first one began.

    Programs started meanwhile inherit the blocked signals. For this one they are not enough: the
    kernel gives a signal to any thread that does not block it, and Python's handler then runs here.
    """
    waiting: list[signal.Signals] = []

    def wait(number: int, frame: FrameType | None) -> None:
        waiting.append(signal.Signals(number))

    signals = (signal.SIGINT, *ENDING)
    before = {number: signal.getsignal(number) for number in signals}
    heeded = [number for number in signals if before[number] is not signal.SIG_IGN]
    for number in heeded:
        signal.signal(number, wait)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number in heeded:
            signal.signal(number, before[number])
        for number in dict.fromkeys(waiting):
            signal.raise_signal(number)
