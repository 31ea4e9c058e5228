"""The projects whose programs are guests here: where they keep them, and what they pass to p4c."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# What `main` looks like in a program of an architecture that is ours too.
_MAIN = re.compile(r"(?<!package )\b(?:V1Switch|PSA_Switch)\s*(?:<[^>]*>)?\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Programs of P4-14 say so in their own words.
_P4_14 = re.compile(r"^\s*(?:header_type|parser\s+\w+\s*\{|table\s+\w+\s*\{\s*reads)", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """One project: the folder that its checkout has, and how its programs are compiled."""

    name: str
    # What stands in front of the program on the command line, with {root} for the checkout.
    flags: tuple[str, ...] = ()
    # What follows these where the program is for a switch; what the P4Info that the project ships
    # was made without.
    switch_flags: tuple[str, ...] = ()


PROJECTS = (
    Project("tutorials"),
    Project("p4-learning"),
    Project("p4-guide"),
    Project(
        "sonic-pins",
        ("-I", "{root}", "-I", "{root}/sai_p4/instantiations/google"),
        ("-DPLATFORM_BMV2",),
    ),
    Project(
        "onos",
        (
            "-I",
            "{root}/pipelines/fabric/impl/src/main/resources",
        ),
    ),
    Project("up4"),
)


@dataclass(frozen=True)
class Program:
    """A program with a `main`, and the P4Info that the project ships for it, if it does."""

    path: Path
    p4info: Path | None


def checkout_of(project: Project, checkouts: Path) -> Path | None:
    """The project's checkout, whoever's it is: `tutorials`, `p4lang-tutorials`."""
    folders = sorted(folder for folder in checkouts.iterdir() if folder.is_dir())
    named = re.compile(rf"(?:.*[-+_])?{re.escape(project.name)}", re.IGNORECASE)
    return next((folder for folder in folders if named.fullmatch(folder.name)), None)


def programs(root: Path) -> Iterator[Program]:
    """Every program with a `main` of v1model or PSA, in order."""
    for path in sorted(root.rglob("*.p4")):
        text = _COMMENT.sub(" ", path.read_text(errors="replace"))
        if _MAIN.search(text) and not _P4_14.search(text):
            yield Program(path, _shipped(path))


def _shipped(program: Path) -> Path | None:
    """The P4Info beside a program, or in the folder of what was made of it."""
    stems = (program.stem, program.name)
    places = (program.parent, program.parent / "build")
    names = (
        place / f"{stem}{ending}"
        for place in places
        for stem in stems
        for ending in (".p4info.txtpb", ".p4info.txt", ".p4info.pb.txt", "_p4rt.txt")
    )
    return next((name for name in names if name.is_file()), None)
