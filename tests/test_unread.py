"""A reader of a command's output may stop before its end: then the command ends silently."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from controller.reader import UNREAD
from controller.toolchain import ROOT

DROPS = ROOT / "tests" / "packets" / "drops"
INCLUDE = ("-I", str(ROOT / "p4src" / "include"))
COMMANDS = {
    "trace": ["vitrine-sim", "trace", *INCLUDE, f"{DROPS}.p4", "1:000102030405060708090a0b0800"],
    "stf": ["vitrine-sim", "stf", *INCLUDE, f"{DROPS}.p4", f"{DROPS}.stf"],
    "p4c": ["vitrine-p4c", "--help"],
    "labs": ["vitrine", "labs"],
    "sweep": ["vitrine", "sweep"],
    "course": ["vitrine", "exercise"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_whose_reader_is_gone_ends_as_head_expects(name):
    program, *words = COMMANDS[name]
    binary = ROOT / "build" / "bin" / program
    start = [str(binary)] if program.startswith("vitrine-") else [sys.executable, "-m", program]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as unread:
        ended = subprocess.run(
            [*start, *words], cwd=ROOT, stdout=unread, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (ended.returncode, ended.stderr) == (UNREAD, "")
