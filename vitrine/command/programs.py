"""The compiler, the switch and the simulator, which parse their own words."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import NoReturn

from vitrine.command import names
from vitrine.command import options as o
from vitrine.command.tree import Needs, command


def become(program: str, words: list[str]) -> NoReturn:
    """Ends as that program."""
    file = names.ROOT / "build" / "bin" / program
    os.execv(file, [program, *words])


@command(
    "compile", "compile a P4 program (vitrine-p4c)", o.WORDS, needs=Needs.PROGRAMS, hands_on=True
)
def compile_(given: Namespace) -> None:
    become("vitrine-p4c", given.words)


@command(
    "switch",
    "start a switch by itself (vitrine-switch)",
    o.WORDS,
    needs=Needs.PROGRAMS,
    hands_on=True,
)
def switch(given: Namespace) -> None:
    become("vitrine-switch", given.words)


@command(
    "sim",
    "packet tests, traces and models in virtual time (vitrine-sim)",
    o.WORDS,
    needs=Needs.PROGRAMS,
    hands_on=True,
)
def sim(given: Namespace) -> None:
    become("vitrine-sim", given.words)
