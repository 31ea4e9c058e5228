"""The reader of a command's output may stop before its end, as `head` and `less` do."""

from __future__ import annotations

import functools
import os
import select
import sys
from collections.abc import Callable
from typing import ParamSpec

Words = ParamSpec("Words")

# A shell's exit status for a program that a closed pipe ended: 128 and the number of SIGPIPE.
UNREAD = 141


def ends_unread(main: Callable[Words, int]) -> Callable[Words, int]:
    """A command that ends silently, as other programs do, when its output is no longer read."""

    @functools.wraps(main)
    def command(*args: Words.args, **kwargs: Words.kwargs) -> int:
        try:
            status = main(*args, **kwargs)
            # Here, and not where Python ends: errors could not be handled there.
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            if not is_gone():
                raise
            return let_go()

    return command


def is_gone() -> bool:
    """Whether what we print goes to a program that has ended."""
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def let_go() -> int:
    """Lets what is still to be printed go nowhere, or Python would fail over it once more.

    Returns the exit status.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return UNREAD
