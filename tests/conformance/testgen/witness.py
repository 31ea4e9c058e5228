"""The result of simple_switch, with p4c's program, on a test that our switch does not pass.

Where it does as P4Testgen says, ours is wrong; where it does not either, P4Testgen may be.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from controller.errors import ControllerError
from controller.toolchain import ToolchainError, compile_by_p4c
from tests.parity import __main__ as parity
from tests.parity import reference, stf
from topo.errors import ProcessError

# Keeps runs at the same time apart.
_NUMBERS = itertools.count(100)


# Ports that programs of tests are likely to choose.
_PORTS = range(16)


class _Anywhere(stf.Script):
    """A test that wants nothing to come out, wherever it might."""

    @property
    def ports(self) -> list[int]:
        return sorted({*super().ports, *_PORTS})


class Witness:
    """p4c and simple_switch of a folder."""

    def __init__(self, folder: Path) -> None:
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"

    @staticmethod
    def is_there(folder: Path) -> bool:
        """Whether the folder has both."""
        names = ("p4c-bm2-ss", "simple_switch_grpc")
        return all(os.access(folder / each, os.X_OK) for each in names)

    def says(self, source: Path, test: Path) -> str:
        """Its word about a test of a program."""
        folder = test.parent / "theirs"
        stem = folder / "program"
        try:
            if not stem.with_suffix(".json").exists():
                compile_by_p4c(source, stem)
            script = stf.Script.read(test)
            if not script.expected:
                script = _Anywhere(script.settings, script.packets, ())
            run = folder / test.stem
            observed = reference.observe(stem, script, run, next(_NUMBERS))
            told = parity.against_expectations(script, observed)
        except ToolchainError as error:
            return f"p4c refuses it: {_first_line(error)}"
        except (ProcessError, ControllerError, reference.TooLateError, stf.StfError) as error:
            return f"simple_switch cannot say: {_first_line(error)}"
        return (
            f"nor does simple_switch: {told[0]:.200}" if told else "simple_switch does as expected"
        )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
