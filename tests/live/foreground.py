"""Programs started as a terminal starts them: Ctrl-C and the end of the terminal reach them."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from typing import Any


def start(argv: Sequence[str], **options: Any) -> subprocess.Popen:
    """`Popen` for a program that obeys SIGINT and SIGHUP.

    A shell without job control starts background jobs with SIGINT ignored, and `nohup` ignores
    SIGHUP; children inherit both. Without this function, `make test &` would test programs that
    ignore Ctrl-C.
    """
    return subprocess.Popen(argv, preexec_fn=_obey_signals, **options)


def _obey_signals() -> None:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
