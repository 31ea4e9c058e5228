"""Runs programs of the kit in the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import vitrine_page

from course.page.decider import Decider
from course.process import Done, Runner


class PageRunner(Runner):
    """Programs are WebAssembly modules; a class of the submission runs in this Python."""

    def python(self, readable: Sequence[Path]) -> str:
        """Nothing: a page starts no second Python."""
        return ""

    def run(
        self,
        argv: Sequence[str],
        *,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        seconds: float | None = None,
        trusted: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Done:
        """Runs vitrine-p4c or vitrine-sim to its end, or until its time is up."""
        limit_s = seconds or self.seconds
        done = vitrine_page.run(list(argv), math.ceil(limit_s), Decider)
        status = done["status"] if done["status"] >= 0 else None
        return Done(_text(done["output"]), _text(done["errors"]), status, done["why"])


def _text(found: memoryview) -> str:
    return bytes(found).decode(errors="replace")
