"""The compiler, the switch and the simulator, which parse their own words."""

from __future__ import annotations

import os
from argparse import Namespace

from vitrine.command import names
from vitrine.command import options as o
from vitrine.command.tree import Needs, command


def _program(name: str, summary: str, program: str) -> None:
    """A command that becomes that program."""

    def run(given: Namespace) -> None:
        os.execv(names.ROOT / "build" / "bin" / program, [program, *given.words])

    summary = f"{summary} ({program})"
    command(name, summary, o.WORDS, needs=Needs.PROGRAMS, hands_on=True)(run)


_program("compile", "compile a P4 program", "vitrine-p4c")
_program("switch", "start a switch by itself", "vitrine-switch")
_program("sim", "packet tests, traces and models in virtual time", "vitrine-sim")
