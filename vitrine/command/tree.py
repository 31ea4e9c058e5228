"""The structure of a command, and the list of all of them.

    @command("top", "a router's queues, drops and cables in the terminal", ROUTER)
    def top(given): ...

A command's function gets the parsed options and returns an exit status; None is 0.
"""

from __future__ import annotations

import importlib
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from vitrine.command.options import Option

Run: TypeAlias = "Callable[[Namespace], int | None]"


class Needs(Enum):
    """The parts that a clone sets up before a command runs."""

    NOTHING = "nothing"
    PYTHON = "the Python packages"
    # Programs, too, which every network in virtual time needs.
    PROGRAMS = "the programs"
    # The world that `--world` names, or that this machine can do; the live one needs root.
    WORLD = "a world"
    # As PROGRAMS, or with `--live` as the live world.
    LIVE_IF_ASKED = "the programs, or live networks"
    # Root where the network that is up is a live one.
    OWNER = "the owner of the network"
    # As PROGRAMS, and the page that is one file.
    PAGE = "the page"
    # Live networks: root.
    ROOT = "live networks"


@dataclass(frozen=True)
class Command:
    """A subcommand."""

    name: str
    summary: str
    options: tuple[Option, ...]
    run: Run
    needs: Needs
    examples: tuple[str, ...]
    # Programs that parse their own words; `--help` is theirs too.
    hands_on: bool


# Headings of the help, and the modules that declare what stands below them.
GROUPS = {
    "labs": "Labs",
    "networks": "A network that is up",
    "course": "Exercises",
    "programs": "Programs",
    "kit": "The kit",
}
COMMANDS: dict[str, list[Command]] = {group: [] for group in GROUPS}
DEVELOP: list[Command] = []


def command(
    name: str,
    summary: str,
    *options: Option,
    needs: Needs = Needs.PYTHON,
    examples: Sequence[str] = (),
    hands_on: bool = False,
) -> Callable[[Run], Run]:
    """Makes a function a command of the group that its module is named after."""

    def added(run: Run) -> Run:
        group = run.__module__.rpartition(".")[2]
        own = Command(name, summary, options, run, needs, tuple(examples), hands_on)
        (DEVELOP if group == "develop" else COMMANDS[group]).append(own)
        return run

    return added


def loaded() -> dict[str, list[Command]]:
    """All commands by group."""
    for group in (*GROUPS, "develop"):
        importlib.import_module(f"vitrine.command.{group}")
    return COMMANDS


def named(*words: str) -> Command | None:
    """The command that these words begin, such as `named("run")` or `named("dev", "chaos")`."""
    groups = loaded()
    if words[0] == "dev":
        commands, name = DEVELOP, words[1]
    else:
        commands, name = [each for group in groups.values() for each in group], words[0]
    return next((each for each in commands if each.name == name), None)
