"""`make run RATE=5mbit` in words of this command, and what became of targets that are gone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from labs.hint import meant
from vitrine.command import tree
from vitrine.command.tree import Command

# Variables with another name than their option.
_CALLED = {
    **{"TIME": "duration", "HOURS": "duration", "MINUTES": "duration", "CC": "congestion"},
    "FORM": "json",
}
# Variables that name what the command is about, in the order in which it takes them.
_SUBJECTS = ("LAB", "NAME", "RUN", "A", "B", "SWEEP", "TOPO", "IN", "OUT", "WHEEL")
# The variable that is said of a subject.
_NAMED = {
    **{"lab": "LAB", "topology": "TOPO", "run": "RUN", "runs": "A", "sweep": "SWEEP"},
    **{"exercise": "NAME", "submissions": "IN", "out": "OUT", "wheel": "WHEEL"},
}
_UNITS = {"HOURS": "h", "MINUTES": "min"}
# The variables that the scripts of the set-up read.
_OF_SET_UP = ("RUST_INSTALL", "NAMESPACES")
# Targets of earlier versions whose command is not called like them.
MOVED = {
    "labs-check": "run --all",
    "vm-test": "dev image-test",
    "vm-chroot-test": "dev chroot-test",
}
# Targets that are a script of their own.
SCRIPTS = {"provision": "vm/provision.sh"}


class MakeError(Exception):
    """A variable that a command does not take."""


def behind(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that were written behind the target."""
    _, _, words = environment.get("MAKEFLAGS", "").rpartition("-- ")
    pairs = (word.partition("=") for word in shlex.split(words) if "=" in word)
    return {
        name: value
        for name, _, value in pairs
        if name not in _OF_SET_UP and not name.startswith("VITRINE_")
    }


def words(command: Command, written: Mapping[str, str]) -> list[str]:
    """The words behind a target, in the form of the command."""
    options = {each.key: each for each in command.options if not each.is_positional}
    room = sum(2 if each.key == "runs" else 1 for each in command.options if each.is_positional)
    subjects: list[str] = []
    found: list[str] = []
    for name, value in sorted(written.items(), key=lambda pair: _place(pair[0])):
        key = _key(command, name, value)
        if name in _SUBJECTS and key not in options and len(subjects) < room:
            subjects += [value] if value else []
        elif key not in options:
            raise MakeError(f"there is no setting {name}: {_meant(command, name)}")
        elif options[key].is_switch:
            found += [options[key].words[0]] if value not in ("", "0", "off", "text") else []
            if key == "no_glass" and value == "off":
                found.append("--no-glass")
        elif value:
            unit = _UNITS.get(name, "")
            found += [options[key].words[0], f"{value}{unit}"]
    return [*subjects, *found]


def _place(name: str) -> int:
    return _SUBJECTS.index(name) if name in _SUBJECTS else len(_SUBJECTS)


def _key(command: Command, name: str, value: str) -> str:
    """The option that a variable is. GLASS and SCHEDULER had more than one meaning."""
    if name == "GLASS":
        return "pages" if command.name == "check" else "no_glass" if value == "off" else "share"
    if name == "SCHEDULER" and command.name == "sweep":
        return "cluster"
    return _CALLED.get(name, name.lower())


def _meant(command: Command, name: str) -> str:
    known = [each.key.upper() for each in command.options if not each.is_positional]
    known += [_NAMED[each.key] for each in command.options if each.key in _NAMED]
    return meant(name.upper(), known) if known else "it takes none."


def moved(target: str, written: Mapping[str, str]) -> str:
    """The message for a former target: its successor."""
    if target in SCRIPTS:
        return f"make {target} is now: {SCRIPTS[target]}"
    name = MOVED.get(target, target)
    if target == "handout" and "RUN" in written:
        name = "dev handout"
    for before in (name.split(), ["dev", *name.split()]):
        if (command := tree.named(*before)) is not None:
            try:
                options = words(command, written)
            except MakeError:
                options = []
            return f"make {target} is now: {shlex.join(['vitrine', *before, *options])}"
    return f"make has no target {target}: make help lists them, vitrine --help has the commands"
