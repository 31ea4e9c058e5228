"""Generated programs through the P4 project's compiler and switch, for whoever has built them.

    ORACLE=<folder of p4c-bm2-ss and simple_switch_grpc> build/venv/bin/python -m tests.generated

simple_switch runs each program as either compiler made it; what it does must be what the evaluator
says. So where ours agrees with the evaluator and simple_switch does not, the evaluator's section of
the specification says which of them is right.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from controller.errors import WriteError
from controller.toolchain import ToolchainError, compile_by_p4c
from tests.generated import play
from tests.parity import __main__ as parity
from tests.parity import reference, stf
from topo.errors import ProcessError

_REGISTER = re.compile(r"check_register (\S+)\((\d+)\) (\d+)")
_COUNTER = re.compile(r"check_counter (\S+)\((\d+)\) packets == (\d+)")


def use(folder: str) -> None:
    """Puts the programs of a folder before all others."""
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def differences(made: play.Case, folder: Path, number: int) -> list[str]:
    """What simple_switch does otherwise; `number` keeps runs apart."""
    source, script = folder / "program.p4", folder / "program.stf"
    compiled = folder / "theirs" / "program"
    compiled.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(made.source, "utf-8")
    try:
        compile_by_p4c(source, compiled)
    except ToolchainError as error:
        return [f"p4c refuses it: {error}"]
    script.write_text(made.script, "utf-8")
    play.leave_out_what_is_dead(compiled.with_suffix(".json"), script)
    case = stf.Script.read(script)
    try:
        observed = reference.observe(compiled, case, folder / "run", number)
    except ProcessError as error:
        return [f"simple_switch refuses it: {error}"]
    except WriteError as error:
        return [f"simple_switch_grpc refuses an entry: {error}"]
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
