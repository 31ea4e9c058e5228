"""Parses the words and runs the command; an error becomes a sentence and an exit code."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from controller import reader
from topo import ending
from vitrine.command import parser

# Commands that keep what they have measured when they end early.
_KEEP = ("run",)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code; see `vitrine --help`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "_ARGCOMPLETE" in os.environ:
        parser.complete()
    return run(parser.parse(words))


def run(given: Namespace) -> int:
    """One command that was parsed."""
    # The programs and `up` take care of signals themselves.
    with ending.as_exit():
        return _guarded(given)


def _guarded(given: Namespace) -> int:
    from controller.errors import ControllerError
    from course.errors import CourseError
    from labs.errors import LabError, SettingError
    from topo.errors import TopologyError

    try:
        # The end of a network must not depend on what lies in these folders.
        if given.command != "down":
            _refuse_links()
        status = given.own.run(given) or 0
        # Here, and not where Python ends: errors could not be handled there.
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        if not reader.is_gone():
            raise
        status = reader.let_go()
        if given.command in _KEEP:
            print(
                "vitrine: the program that read this has ended, and so the run ends too. "
                "`vitrine results` lists what is kept.",
                file=sys.stderr,
            )
        return status
    except (SettingError, CourseError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 2
    except (ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        kept = {
            "run": "; the network is gone again",
            "up": "; nothing is left of the network",
            "sweep": "; the rows that are done are kept, and the same command goes on from there",
        }
        print(f"\nvitrine: interrupted{kept.get(given.command, '')}.", file=sys.stderr)
        return ending.INTERRUPTED


def _refuse_links() -> None:
    """Root writes results and logs into folders of the user who called sudo."""
    if os.geteuid() == 0:
        from controller import ownership
        from controller.toolchain import ROOT
        from labs.archive import RESULTS

        for folder in (RESULTS, ROOT / "build" / "log"):
            ownership.refuse_links(folder)
