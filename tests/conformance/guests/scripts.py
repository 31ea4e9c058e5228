"""STF scripts that a project ships: packets, and what must come out.

A script `name.stf` is for the program beside it. Where the project ships BMv2 JSON of that program
(`name.json`, `name.<compiler>.json`), each is run as it is, which P4-14 programs need; otherwise
`name.p4` is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .running import failure_of


@dataclass(frozen=True)
class Script:
    """A script, and a program to run it on."""

    stf: Path
    program: Path

    def name(self, root: Path) -> str:
        """The program's path in the checkout."""
        return self.program.relative_to(root).as_posix()


def scripts(root: Path) -> Iterator[Script]:
    """Every script of a checkout with every program that it is for."""
    for stf in sorted(root.rglob("*.stf")):
        shipped = sorted(
            file
            for file in stf.parent.glob("*.json")
            if file.name == f"{stf.stem}.json" or file.name.startswith(f"{stf.stem}.")
        )
        for program in shipped or [stf.with_suffix(".p4")]:
            yield Script(stf, program)


def run(simulator: Path, script: Script) -> str | None:
    """`None` if every packet came out as written; otherwise the first that did not."""
    command = [simulator, "stf", script.program.name, script.stf.name]
    return failure_of(command, script.stf.parent, lambda lines: lines)
