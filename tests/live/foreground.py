"""Programs started as a terminal starts them: Ctrl-C reaches them."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from typing import Any


def start(argv: Sequence[str], **options: Any) -> subprocess.Popen:
    """`Popen` for a program that heeds SIGINT.

    A shell without job control starts what it puts in the background with SIGINT ignored, and
    children inherit that: without this, `make test &` would test programs deaf to Ctrl-C.
    """
    return subprocess.Popen(argv, preexec_fn=_heed_ctrl_c, **options)


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
