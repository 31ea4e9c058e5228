"""A generated program through compiler and switch, beside what the evaluator says."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.finished import finished
from tests.generated import tree as t
from tests.generated import write
from tests.generated.evaluate import Machine
from tests.generated.values import UndefinedError

ROOT = Path(__file__).resolve().parents[2]
# Another folder, where a change is tried that is not built for users yet.
BIN = Path(os.environ.get("VITRINE_BIN", ROOT / "build" / "bin"))
INCLUDE = ROOT / "p4src" / "include"
_DEADLINE_S = 60.0
# Programs are as random as they are meant to be; what is only suspicious is no message.
_QUIET = "--Wdisable"


@dataclass(frozen=True)
class Failure:
    """A failure: its place, so that a smaller program can be seen to fail likewise, and its
    kind."""

    kind: str
    text: str


@dataclass(frozen=True)
class Case:
    """A program as text, and what is sent and expected as STF."""

    source: str
    script: str
    packets: int


def defined(program: t.Program) -> t.Program:
    """The program without the packets whose way the specification leaves open."""
    machine, kept = Machine(program), []
    for packet in program.packets:
        try:
            machine.send(packet)
        except UndefinedError:
            continue
        kept.append(packet)
    return replace(program, packets=tuple(kept))


def case(program: t.Program) -> Case:
    """Text and script of a program in which every packet has a defined result."""
    machine = Machine(program)
    lines = [*write.entries(program.ingress), *write.entries(program.egress)]
    for packet in program.packets:
        lines.append(f"packet {packet.port} {packet.data.hex()}")
        sent = machine.send(packet)
        if sent is not None:
            lines.append(f"expect {sent[0]} {_digits(sent[1])} $")
    lines.append("wait")
    for control in (program.ingress, program.egress):
        for array in control.arrays:
            for index, value in enumerate(machine.cells[array.name]):
                name = f"{control.name}.{array.name}({index})"
                is_counter = array.kind == "counter"
                lines.append(
                    f"check_counter {name} packets == {value}"
                    if is_counter
                    else f"check_register {name} {value}"
                )
    return Case(write.program(program), "\n".join(lines) + "\n", len(program.packets))


def run(made: Case, folder: Path) -> Failure | None:
    """Compiles and plays: machine code first, then the interpreter."""
    folder.mkdir(parents=True, exist_ok=True)
    source, script, compiled = (folder / f"program.{each}" for each in ("p4", "stf", "json"))
    source.write_text(made.source, "utf-8")
    script.write_text(made.script, "utf-8")
    text = _run([BIN / "vitrine-p4c", _QUIET, "-I", INCLUDE, "-o", compiled, source])
    if text is not None:
        message = next((line for line in text.splitlines() if "error: " in line), text[-80:])
        return Failure(f"compiler: {_without_names(message.rpartition('error: ')[2])}", text)
    leave_out_what_is_dead(compiled, script)
    for mode in ((), ("--interpreted",)):
        text = _run([BIN / "vitrine-sim", "stf", *mode, compiled, script])
        if text is not None:
            how = "interpreter" if mode else "machine code"
            what = "differs" if "FAILED" in text else "broke"
            return Failure(f"{how} {what}", f"{how}: {text}")
    return None


def leave_out_what_is_dead(compiled: Path, script: Path) -> None:
    """No entries for tables that no packet can reach; if one did, it would be seen to miss them."""
    program = json.loads(compiled.read_text("utf-8"))
    tables = {each["name"] for pipeline in program["pipelines"] for each in pipeline["tables"]}
    lines = [
        line
        for line in script.read_text("utf-8").splitlines(keepends=True)
        if not line.startswith("add ") or line.split()[1] in tables
    ]
    script.write_text("".join(lines), "utf-8")


def _digits(bits: Sequence[int | None]) -> str:
    digits = ""
    for at in range(0, len(bits), 4):
        four = bits[at : at + 4]
        digits += "*" if None in four else f"{int(''.join(map(str, four)), 2):x}"
    return digits


def _without_names(message: str) -> str:
    """A message as one would sort it: what stands between ticks and every number are left out."""
    outside = message.split("`")[::2]
    return " ".join(word for word in " ".join(outside).split() if not any(map(str.isdigit, word)))


def _run(command: Sequence[str | Path]) -> str | None:
    """The message of a command that fails."""
    done = finished(command, _DEADLINE_S)
    if done.was_late:
        return f"{Path(command[0]).name} was not done after {_DEADLINE_S:.0f} s"
    return None if done.status == 0 else f"exit status {done.status}\n{done.output}"
