"""The common part of all commands: words in, a message for any mistake."""

from __future__ import annotations

import cmd
import os
from collections.abc import Callable
from functools import wraps
from typing import Any

from bm_runtime.standard import ttypes as standard
from sswitch_runtime import ttypes as sswitch
from thrift.Thrift import TApplicationException

from .mistakes import BadData, BadKey, Mistake
from .program import Program

# Exceptions of the interface: what they are called, and the names of their codes.
_FAILURES = (
    (standard.InvalidTableOperation, "table", standard.TableOperationErrorCode),
    (standard.InvalidCounterOperation, "counter", standard.CounterOperationErrorCode),
    (standard.InvalidMeterOperation, "meter", standard.MeterOperationErrorCode),
    (standard.InvalidRegisterOperation, "register", standard.RegisterOperationErrorCode),
    (standard.InvalidLearnOperation, "learn", standard.LearnOperationErrorCode),
    (standard.InvalidSwapOperation, "swap", standard.SwapOperationErrorCode),
    (standard.InvalidDevMgrOperation, "device manager", standard.DevMgrErrorCode),
    (standard.InvalidCrcOperation, "crc", standard.CrcErrorCode),
    (standard.InvalidParseVSetOperation, "parser value set", standard.ParseVSetOperationErrorCode),
    (sswitch.InvalidMirroringOperation, "mirroring", sswitch.MirroringOperationErrorCode),
)


def command(fewest: int, most: int | None = -1) -> Callable[[Any], Any]:
    """Make a command of a method that takes words: at least `fewest`, at most `most` (as many,
    unless said; None is any number). What goes wrong is printed.
    """
    limit = fewest if most == -1 else most

    def decorate(method: Callable[..., None]) -> Callable[[Any, str], None]:
        @wraps(method)
        def run(self: Any, line: str) -> None:
            words = line.split()
            try:
                if len(words) < fewest:
                    raise Mistake("Insufficient number of args")
                if limit is not None and len(words) > limit:
                    raise Mistake(f"Wrong number of args, expected {limit} but got {len(words)}")
                method(self, *words)
            except BadKey as error:
                print(f"Invalid match key: {error}")
            except BadData as error:
                print(f"Invalid runtime data: {error}")
            except Mistake as error:
                said = str(error)
                print(said if said.startswith("Invalid PRE") else f"Error: {said}")
            except TApplicationException as error:
                print(f"Error: {error}")
            except tuple(failure for failure, _, _ in _FAILURES) as error:
                what, codes = next(
                    (what, codes) for of, what, codes in _FAILURES if isinstance(error, of)
                )
                name = codes._VALUES_TO_NAMES.get(error.code, error.code)  # type: ignore[union-attr]
                print(f"Invalid {what} operation ({name})")

        return run

    return decorate


class Commands(cmd.Cmd):
    """A prompt at a switch. The topics add their commands to it."""

    prompt = "RuntimeCmd: "
    intro = "Control utility for runtime P4 table manipulation"

    def __init__(self, standard_client: Any, mc_client: Any, sswitch_client: Any) -> None:
        super().__init__()
        self.client = standard_client
        self.mc_client = mc_client
        self.sswitch_client = sswitch_client
        self.program = Program("")

    def do_EOF(self, _line: str) -> bool:  # noqa: N802 - cmd's name for the end of input
        """End."""
        print()
        return True

    def do_shell(self, line: str) -> None:
        """Run a shell command: shell <command>."""
        print(os.popen(line).read())

    def emptyline(self) -> bool:
        """Do nothing for an empty line."""
        return False

    def do_help(self, arg: str) -> None:
        """List the commands, or say what one does: help <command>."""
        super().do_help(arg)
