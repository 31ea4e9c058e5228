"""Generated programs through the P4 project's compiler and switch, if they have been built.

    ORACLE=<folder of p4c-bm2-ss and simple_switch_grpc> build/venv/bin/python -m tests.generated

simple_switch runs each program as our compiler made it and, if there is one, as p4c did; what it
does must be what the evaluator says. So where our switch agrees with the evaluator and
simple_switch does not, the evaluator's section of the specification says which of them is right.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from controller.errors import WriteError
from controller.p4info import MatchKind, P4Info
from controller.toolchain import ToolchainError, compile_by_p4c
from tests.generated import play
from tests.parity import __main__ as parity
from tests.parity import reference, stf
from topo.errors import ProcessError

_REGISTER = re.compile(r"check_register (\S+)\((\d+)\) (\d+)")
_COUNTER = re.compile(r"check_counter (\S+)\((\d+)\) packets == (\d+)")

# Programs that p4c and simple_switch of 2026-08 refuse though the specification allows them: their
# messages, and its sentence (P4-16 1.2.5, P4Runtime 1.5).
KNOWN = (
    (r"BMV2 does not support for-in loops", "for-in loops are statements (12, `for`)"),
    (
        r"Cannot cast from '(int|bit)<\d+>' to '(int|bit)<\d+>'",
        "what ++ joins may have different signs (8.7), which p4c rewrites to casts that it refuses",
    ),
    (r"Expression \((int|bit)<\d+>\)\w+ cannot be the target", "slices are l-values (8.7)"),
    (
        r"Expression [\w.]+\.last(\.\w+)? cannot be the target",
        "references to `last` are l-values (6.7)",
    ),
    (
        r"incorrect number of trailing zeros",
        "a prefix is counted in bits of the field (P4Runtime, 9.1.1), not of its bytes",
    ),
)
# simple_switch's differences with every program that has such a table, or such a register.
PREFIXES = (
    "it counts a prefix from the first bit of the key's bytes, not of the key (P4-16, 14.2.1)"
)
RACES = (
    "it takes files without pauses, and each port's egress has a thread: registers of egress see "
    "packets of several ports in any order"
)


@dataclass(frozen=True)
class Difference:
    """A difference: its category, and its description."""

    kind: str
    text: str
    # The specification is known to say otherwise than they do.
    is_known: bool = False


def use(folder: str) -> None:
    """Puts the programs of a folder before all others."""
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def differences(made: play.Case, folder: Path, number: int) -> list[Difference]:
    """simple_switch's differences; `number` keeps runs apart."""
    source = folder / "program.p4"
    source.write_text(made.source, "utf-8")
    told = _with(made, folder / "ours", number, lambda stem: parity.compile_by_ours(source, stem))
    why = cause(made, folder / "ours" / "program")
    if told and why is not None:
        told = [Difference(f"simple_switch: {why}", told[0].text, is_known=True)]
    elif shutil.which("p4c-bm2-ss"):
        told += _with(made, folder / "p4c", number, lambda stem: compile_by_p4c(source, stem))
    return told


def cause(made: play.Case, stem: Path) -> str | None:
    """Why simple_switch may do something else with a program."""
    tables = P4Info.load(stem.with_suffix(".p4info.txtpb")).tables
    keys = (key for table in tables for key in table.keys)
    if any(key.kind is MatchKind.LPM and key.width_bits % 8 for key in keys):
        return PREFIXES
    return RACES if "check_register egress." in made.script else None


def _with(
    made: play.Case, folder: Path, number: int, compile_: Callable[[Path], None]
) -> list[Difference]:
    """Its differences with the program of one compiler, which the folder is named after."""
    folder.mkdir()
    stem, script = folder / "program", folder / "program.stf"
    whose = f"{folder.name}'s program" if folder.name == "p4c" else "our program"
    try:
        compile_(stem)
    except ToolchainError as error:
        return [refused(f"{folder.name} refuses", str(error))]
    script.write_text(made.script, "utf-8")
    play.leave_out_what_is_dead(stem.with_suffix(".json"), script)
    case = stf.Script.read(script)
    try:
        observed = reference.observe(stem, case, folder / "run", number)
    except ProcessError as error:
        return [refused(f"simple_switch refuses {whose}", str(error))]
    except WriteError as error:
        return [refused(f"simple_switch_grpc refuses an entry of {whose}", str(error))]
    told = _otherwise(made, case, observed)
    return [Difference(f"{whose} on simple_switch differs", each) for each in told]


def refused(kind: str, words: str) -> Difference:
    """The programs that they refuse, in their words."""
    for pattern, why in KNOWN:
        found = re.search(pattern, words)
        if found is not None:
            return Difference(f"{kind}: {why}", found[0], is_known=True)
    telling = [line for line in words.splitlines() if "error" in line.lower()]
    return Difference(kind, " / ".join(telling[:3]) or words)


def _otherwise(made: play.Case, case: stf.Script, observed: reference.Observed) -> list[str]:
    """Frames, registers and counters that are not what the evaluator says."""
    observed.frames = {
        port: parity.in_order(case, port, frames) for port, frames in observed.frames.items()
    }
    told = parity.against_expectations(case, observed)
    for pattern, found in (
        (_REGISTER, observed.registers),
        (_COUNTER, {place: packets for place, (packets, _) in observed.counters.items()}),
    ):
        for name, index, value in pattern.findall(made.script):
            seen = found.get((name, int(index)))
            if seen is not None and seen != int(value):
                told.append(f"{name}({index}) is {seen}, the evaluator says {value}")
    return told
