"""The page beside a run: a server in a process of its own, so that it takes no time of the lab's.

    with beside.served(sys.stdout):
        ...networks come up and go, something happens...

It shows whatever network is up, one after the other, and ends with the block.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from controller.toolchain import ROOT

_END_DEADLINE_S = 5.0


@contextlib.contextmanager
def served(output: TextIO, *, opens: bool = False, share: str | None = None) -> Iterator[None]:
    """Says the page's address and serves it for the length of a `with` block.

    With `opens` it is opened where there is a desktop; at the address `share` a class may look.
    """
    argv = [sys.executable, "-m", "labs.glass"]
    argv += ["--open"] if opens else []
    argv += ["--share", share] if share else []
    with subprocess.Popen(
        argv,
        cwd=ROOT,
        # A pipe that we alone hold: however we end, it ends too.
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C at the terminal is ours.
        start_new_session=True,
    ) as child:
        assert child.stdout is not None and child.stdin is not None, "they were asked for"
        try:
            # Without a line it has said on standard error why not; a run goes on without it.
            for line in _told(child.stdout):
                print(line, file=output, flush=True)
            yield
        finally:
            child.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_END_DEADLINE_S)
            child.kill()


def _told(lines: Iterable[str]) -> Iterator[str]:
    """The server's lines until an empty one: then it is ready."""
    for line in lines:
        if not line.strip():
            return
        yield line.rstrip()
