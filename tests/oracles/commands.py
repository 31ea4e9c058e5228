"""`--help` and `--limits` of every program and every subcommand, and `make help`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from tests.oracles.running import ROOT, each, report, run
from tests.oracles.sections import Files
from tests.oracles.sizes import Sizes

# All programs of these folders; the second has the names of the p4lang originals.
_FOLDERS = ("build/bin", "build/dropin")
# Python programs that parse arguments by themselves.
_MODULES = ("apps.collector", "apps.qos", "apps.watch", "vitrine")
# Commands whose output lists what there is, and takes nothing.
_LISTS = (("make", "help"), (sys.executable, "-m", "vitrine", "labs"))
# Subcommands: clap lists them below `Commands:`, argparse between braces.
_CLAP = re.compile(r"^Commands:\n((?: {2,}.*\n)+)", re.MULTILINE)
_ARGPARSE = re.compile(r"^usage: [^{\n]*\n? *\{([\w,-]+)\}", re.MULTILINE)


def record(sizes: Sizes) -> Files:
    programs = [
        str(path.relative_to(ROOT))
        for folder in _FOLDERS
        for path in sorted((ROOT / folder).iterdir())
    ]
    built = [(program,) for program in programs if not program.endswith("made-from")]
    modules = [(sys.executable, "-m", module) for module in _MODULES]
    helps = each("commands", [*built, *modules], _helps, sizes.jobs)
    limits = each("limits", built, _limits, sizes.jobs)
    lists = each("lists", _LISTS, _said, sizes.jobs)
    return {
        "help.txt": [line for lines in helps for line in lines],
        "limits.txt": [line for lines in limits for line in lines],
        "lists.txt": [line for lines in lists for line in lines],
    }


def _helps(command: Sequence[str]) -> list[str]:
    """The help of a command, then that of its subcommands."""
    lines = _said((*command, "--help"))
    text = "".join(f"{line}\n" for line in lines)
    for name in subcommands(text):
        lines += _helps((*command, name))
    return lines


def subcommands(text: str) -> list[str]:
    """The names that a help lists."""
    names: list[str] = []
    for listed in _CLAP.findall(text):
        rows = (line for line in listed.splitlines() if not line.startswith("   "))
        names += (row.split()[0] for row in rows)
    for listed in _ARGPARSE.findall(text):
        names += listed.split(",")
    return [name for name in names if name != "help"]


def _limits(command: Sequence[str]) -> list[str]:
    return _said((*command, "--limits"))


def _said(command: Sequence[str]) -> list[str]:
    words = ["python" if word == sys.executable else word for word in command]
    return [f"$ {' '.join(words)}", *report(run(*command)), ""]
