"""The answers of simple_switch_CLI with our switch and with the original, line by line.

    make conformance-answers CHECKOUTS=<folder of checkouts> ORACLE=<folder of simple_switch>

Each program of p4-learning that a network of it describes is loaded into both switches, which have
no ports. simple_switch_CLI is given the command file that the network gives the switch, and then
questions about all that the program declares. One line a switch; what differs is shown below it,
and every word of both stays in `out/answers/`. Nothing of p4-learning is part of this repository.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.guests.projects import Project, checkout_of
from tests.conformance.p4_learning.networks import networks, stage
from tests.process.switch import BINARIES, ROOT, free_port, running

from .questions import questions

OUT = ROOT / "out" / "answers"
CLI = ROOT / "guests" / "simple_switch_CLI"
OURS = ROOT / "build" / "dropin"
_PROMPT = "RuntimeCmd: "
DEADLINE_S = 120.0


@dataclass(frozen=True)
class Asked:
    """A program as one switch of a network has it."""

    # The network, and the switch in it.
    name: str
    source: Path
    commands: tuple[str, ...]
    # Where things about it are kept.
    folder: Path

    @property
    def identity(self) -> tuple[str, tuple[str, ...]]:
        """The same program with the same commands runs once."""
        return self.source.read_text(), self.commands


def described(checkout: Path, names: list[str]) -> Iterator[Asked]:
    """The programs and commands of p4-learning's networks that are described as JSON."""
    for network in networks(checkout):
        is_meant = not names or any(name in network.name for name in names)
        if not is_meant or not network.file.endswith(".json"):
            continue
        scratch = OUT / re.sub(r"\W+", "_", network.name)
        folder = stage(checkout, network, scratch)
        description = json.loads((folder / network.file).read_text())
        for name, switch in description["topology"]["switches"].items():
            source = folder / switch.get("p4_src", description.get("p4_src"))
            file = switch.get("cli_input")
            commands = (folder / file).read_text().splitlines() if file else []
            yield Asked(f"{network.name} {name}", source, tuple(commands), scratch)


def answers(program: Path, compiled: Path, lines: list[str], log: Path) -> list[str]:
    """The output of the prompt for each line, with this switch."""
    port = free_port()
    flags = ("--thrift-port", str(port), "--notifications-addr", f"ipc://{log}.ipc")
    with running(*flags, str(compiled), port=port, log=log, program=program):
        run = subprocess.run(
            [sys.executable, CLI, "--thrift-port", str(port)],
            input="\n".join([*lines, ""]),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
    said = run.stdout + run.stderr
    log.with_suffix(".answers").write_text(said)
    return said.split(_PROMPT)[1:]


def compare(asked: Asked, original: Path) -> list[str]:
    """Asks both; returns a sentence about each line that they answer differently."""
    compiled = asked.folder / "program.json"
    # Includes are looked for where p4-utils starts the compiler.
    flags = ["--Wdisable", str(asked.source), "-o", str(compiled)]
    folder = asked.source.parent
    subprocess.run([BINARIES / "vitrine-p4c", *flags], check=True, cwd=folder, timeout=DEADLINE_S)
    lines = [line for line in asked.commands if line.strip()]
    lines += questions(json.loads(compiled.read_text()))
    ours = answers(OURS / "simple_switch", compiled, lines, asked.folder / "ours.log")
    theirs = answers(original, compiled, lines, asked.folder / "theirs.log")
    if len(ours) != len(theirs):
        return [f"{len(ours)} answers, and {len(theirs)} of the original to {len(lines)} lines"]
    triples = zip(lines, ours, theirs, strict=False)
    return [
        f"{line}\n      ours:   {_shown(own)}\n      theirs: {_shown(other)}"
        for line, own, other in triples
        if _comparable(line, own) != _comparable(line, other)
    ]


def _comparable(line: str, answer: str) -> list[str]:
    """The lines of an answer; the original keeps what is multicast in no order."""
    lines = answer.splitlines()
    return sorted(lines) if line == "mc_dump" else lines


def _shown(answer: str) -> str:
    return " | ".join(answer.strip().splitlines())


def main() -> int:
    """Prints what differs, and says by its status whether nothing does."""
    parser = argparse.ArgumentParser(prog="make conformance-answers", description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--original", type=Path, required=True)
    parser.add_argument("names", nargs="*", help="parts of names of networks; without any, all")
    arguments = parser.parse_args()
    checkout = checkout_of(Project("p4-learning"), arguments.checkouts)
    if checkout is None:
        parser.error(f"p4-learning is not in {arguments.checkouts}")
    original = arguments.original.absolute() / "simple_switch"
    if not original.is_file():
        parser.error(f"ORACLE must name the folder of simple_switch: there is no {original}")
    seen, differing = set(), 0
    for asked in described(checkout, arguments.names):
        if asked.identity in seen:
            continue
        seen.add(asked.identity)
        found = compare(asked, original)
        differing += bool(found)
        print(f"{asked.name:76} {'DIFFERS' if found else 'same'}")
        for difference in found:
            print(f"    {difference}")
        sys.stdout.flush()
    if not seen:
        parser.error(f"no network has {' or '.join(arguments.names)} in its name")
    print(f"\n{len(seen) - differing} of {len(seen)} switches answer as the original")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
