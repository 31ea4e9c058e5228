"""The labs from the command line, as the Makefile calls them.

python -m labs list           a line for each lab
python -m labs run NAME [--toolchain p4lang]
                              conducts one; its settings come from the environment
python -m labs check          conducts all, and fails if a band of any is not met
"""

from __future__ import annotations

import os
import sys

from controller.errors import ControllerError
from controller.toolchain import Toolchain
from labs import catalogue
from labs.command import conduct, conduct_both
from labs.definition import Lab
from labs.errors import LabError, SettingError
from labs.settings import Settings
from topo.errors import TopologyError

# A setting of its own: each toolchain in turn, and a report of both.
BOTH = "both"

USAGE = "say what to do: list, run NAME, or check."


def main(arguments: list[str]) -> int:
    """Returns the exit status."""
    try:
        return _do(arguments)
    except (ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # 128 + SIGINT, as shells count it.
        print("\nvitrine: interrupted; the network is gone again.", file=sys.stderr)
        return 130


def _do(arguments: list[str]) -> int:
    match arguments:
        case ["list"]:
            _list()
        case ["run"] | ["run", ""]:
            _list()
            raise SettingError("which lab? Say make lab LAB=NAME with a name from this list.")
        case ["run", name]:
            _run(catalogue.named(name))
        case ["run", name, "--toolchain", toolchain]:
            os.environ["TOOLCHAIN"] = toolchain
            _run(catalogue.named(name))
        case ["check"]:
            return _check()
        case _:
            raise SettingError(USAGE)
    return 0


def _run(kind: type[Lab]) -> None:
    if os.environ.get("TOOLCHAIN") == BOTH:
        ours = {**os.environ, "TOOLCHAIN": ""}
        conduct_both(kind, Settings.from_environment(kind.takes, ours), sys.stdout)
    else:
        conduct(kind(Settings.from_environment(kind.takes)), sys.stdout)


def _list() -> None:
    width = max(len(lab.name) for lab in catalogue.LABS)
    for lab in catalogue.LABS:
        settings = f"  [{', '.join(sorted(lab.takes))}]" if lab.takes else ""
        print(f"{lab.name:{width}}  {lab.summary}{settings}")


def _check() -> int:
    # One setting for all: how long they may take. What else a lab takes is its own.
    settings = Settings.from_environment(())
    missed, disturbed = [], []
    for kind in catalogue.LABS:
        if settings.toolchain is not Toolchain.VITRINE and kind.needs is not None:
            print(f"{kind.name}: skipped, it needs {kind.needs}.\n", flush=True)
            continue
        assessment = conduct(kind(settings), sys.stdout)
        missed += [f"{kind.name}: {band}" for band in assessment.bands if not band.met]
        disturbed += [f"{kind.name}, {sentence}" for sentence in assessment.disturbances]
        print(flush=True)
    if missed:
        busy = ["the machine was busy, which may be why:", *disturbed] if disturbed else []
        raise LabError("\n  ".join(["these bands are not met:", *missed, *busy]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
