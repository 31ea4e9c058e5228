"""Signals that end a program do so the way Ctrl-C does: through `with` blocks, which clean up."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

# A request to end, or the terminal is closed.
ENDING = (signal.SIGTERM, signal.SIGHUP)
# A signal whose exception was dropped comes again this much later.
_AGAIN_S = 0.05
# The status of a program that Ctrl-C has ended, as shells count it.
INTERRUPTED = 128 + signal.SIGINT


@contextlib.contextmanager
def as_exit() -> Iterator[None]:
    """SIGTERM and a closed terminal raise SystemExit here.

    What is ignored stays so: under nohup a closed terminal ends nothing. And where the exception
    comes up in a place that can only drop it, as in the callbacks that each import has, the signal
    comes once more, Ctrl-C as well.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        # As shells count it.
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in ENDING}
    heeded = [number for number in ENDING if before[number] is not signal.SIG_IGN]
    hook = sys.unraisablehook

    def hear_again(dropped: sys.UnraisableHookArgs) -> None:
        number = _behind(dropped.exc_value)
        if number is None:
            hook(dropped)
        else:
            # Raised here, it would be dropped again, and a busy machine takes its time to start
            # a thread. So that waits for our last word.
            _Again(number).go()

    for number in heeded:
        signal.signal(number, leave)
    sys.unraisablehook = hear_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number in heeded:
            signal.signal(number, before[number])


class _Again:
    """Sends the main thread a signal once more, a moment later."""

    def __init__(self, number: signal.Signals) -> None:
        self._number = number
        self._told = threading.Event()
        threading.Thread(target=self._send, daemon=True).start()

    def go(self) -> None:
        self._told.set()

    def _send(self) -> None:
        self._told.wait()
        # Nothing tells it of the end of that moment.
        threading.Event().wait(_AGAIN_S)
        main = threading.main_thread().ident
        if main is not None:
            signal.pthread_kill(main, self._number)


def _behind(error: BaseException | None) -> signal.Signals | None:
    """The signal that an exception was raised for, if it was one that ends the program."""
    if isinstance(error, KeyboardInterrupt):
        return signal.SIGINT
    if isinstance(error, SystemExit):
        return next((number for number in ENDING if error.code == 128 + number), None)
    return None


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
