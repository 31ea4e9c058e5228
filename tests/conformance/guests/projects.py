"""The projects whose programs are guests here: where they keep them, and what they pass to p4c."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The instantiation of `main` in a program for one of our architectures.
_MAIN = re.compile(r"(?<!package )\b(?:V1Switch|PSA_Switch)\s*(?:<[^>]*>)?\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Programs of P4-14 say so in their own words.
_P4_14 = re.compile(r"^\s*(?:header_type|parser\s+\w+\s*\{|table\s+\w+\s*\{\s*reads)", re.MULTILINE)


@dataclass(frozen=True)
class Flavour:
    """One of several builds of a program, as the project's Makefile makes them."""

    name: str
    # The program, and the P4Info that is shipped for this build, in the checkout.
    program: str
    p4info: str
    # Further flags of the compiler.
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Project:
    """One project: the folder that its checkout has, and how its programs are compiled."""

    name: str
    # Flags before the program on the command line, with {root} for the checkout.
    flags: tuple[str, ...] = ()
    # Further flags where the program is for a switch; the P4Info that the project ships was made
    # without them.
    switch_flags: tuple[str, ...] = ()
    # Programs that are built more than once, or whose P4Info is not beside them.
    flavours: tuple[Flavour, ...] = ()
    # Other files of the project for a compiler or a switch, and the target that runs them.
    elsewhere: str = ""


_FABRIC = "pipelines/fabric/impl/src/main/resources"
_FABRIC_FLAGS = ("-DTARGET_BMV2", "-DCPU_PORT=255", "-DWITH_PORT_COUNTER", "-DWITH_DEBUG")
_BASIC = "pipelines/basic/src/main/resources"
_INT = ("-DWITH_INT_SOURCE", "-DWITH_INT_TRANSIT")


def _fabric(name: str, *flags: str) -> Flavour:
    p4info = f"{_FABRIC}/p4c-out/{name}/bmv2/default/p4info.txt"
    return Flavour(name, f"{_FABRIC}/fabric.p4", p4info, (*_FABRIC_FLAGS, *flags))


PROJECTS = (
    Project("tutorials", elsewhere="exercises on networks: make conformance-tutorials"),
    Project("p4-learning", elsewhere="networks on p4-utils: make conformance-p4-learning"),
    Project("p4-guide", elsewhere="PTF tests: make conformance-ptf"),
    Project(
        "sonic-pins",
        ("-I", "{root}", "-I", "{root}/sai_p4/instantiations/google"),
        ("-DPLATFORM_BMV2",),
        elsewhere="p4_fuzzer, in whose place is: python -m tests.conformance.entries PROGRAM.p4",
    ),
    Project(
        "onos",
        flavours=(
            Flavour("basic", f"{_BASIC}/basic.p4", f"{_BASIC}/p4c-out/bmv2/basic_p4info.txt"),
            Flavour(
                "int",
                f"{_BASIC}/int.p4",
                f"{_BASIC}/p4c-out/bmv2/int_p4info.txt",
                ("-DTARGET_BMV2",),
            ),
            _fabric("fabric"),
            _fabric("fabric-spgw", "-DWITH_SPGW"),
            _fabric("fabric-bng", "-DWITH_BNG", "-DWITHOUT_XCONNECT"),
            _fabric("fabric-int", *_INT),
            _fabric("fabric-spgw-int", "-DWITH_SPGW", *_INT),
            _fabric(
                "fabric-full",
                *("-DWITH_MULTICAST", "-DWITH_IPV6", "-DWITH_SIMPLE_NEXT", "-DWITH_HASHED_NEXT"),
                *("-DWITH_BNG", "-DWITH_SPGW", *_INT, "-DWITH_INT_SINK"),
            ),
        ),
    ),
    Project("up4", flavours=(Flavour("up4", "p4src/main.p4", "p4src/build/p4info.txt"),)),
)


@dataclass(frozen=True)
class Program:
    """A program with a `main`, and the P4Info that the project ships for it, if it does."""

    path: Path
    p4info: Path | None
    # Its name in the project, and the compiler's flags for this build.
    name: str
    flags: tuple[str, ...] = ()


def checkout_of(project: Project, checkouts: Path) -> Path | None:
    """The project's checkout, with any owner: `tutorials`, `p4lang-tutorials`."""
    folders = sorted(folder for folder in checkouts.iterdir() if folder.is_dir())
    named = re.compile(rf"(?:.*[-+_])?{re.escape(project.name)}", re.IGNORECASE)
    return next((folder for folder in folders if named.fullmatch(folder.name)), None)


def programs(root: Path, flavours: tuple[Flavour, ...] = ()) -> Iterator[Program]:
    """Every program with a `main` of v1model or PSA, in order; of some, every flavour."""
    for path in sorted(root.rglob("*.p4")):
        text = _COMMENT.sub(" ", path.read_text(errors="replace"))
        if not _MAIN.search(text) or _P4_14.search(text):
            continue
        name = path.relative_to(root).as_posix()
        builds = [flavour for flavour in flavours if flavour.program == name]
        for flavour in builds:
            shipped = root / flavour.p4info
            yield Program(
                path,
                shipped if shipped.is_file() else None,
                f"{name} ({flavour.name})",
                flavour.flags,
            )
        if not builds:
            yield Program(path, _shipped(path), name)


def _shipped(program: Path) -> Path | None:
    """The P4Info beside a program, or in its build folder."""
    stems = (program.stem, program.name)
    places = (program.parent, program.parent / "build")
    names = (
        place / f"{stem}{ending}"
        for place in places
        for stem in stems
        for ending in (".p4info.txtpb", ".p4info.txt", ".p4info.pb.txt", "_p4rt.txt")
    )
    return next((name for name in names if name.is_file()), None)
