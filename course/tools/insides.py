"""A class of the submission in the place of an arbiter, a scheduler or an AQM of the router."""

from __future__ import annotations

import compileall
import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT
from course.errors import CourseError
from course.exercise import Work
from course.process import OUTPUT_BYTES_MAX, PATHS
from course.story import Refused, Story
from course.tools.tracer import SIMULATOR

PACKAGE = ROOT / "insides"
# The base classes, and the process in which a class decides. `insides.examples` contains the
# solution, so a submission never sees it.
CONTRACT = ("__init__.py", "chance.py", "contract.py", "host.py")
# A class of some thirty lines decides some ten thousand times a second on an idle machine.
_WALL_S = 120.0


def simulate(work: Work, *arguments: str, because: str, done: str) -> dict[str, Any]:
    """The results of `vitrine-sim ARGUMENTS`; refused with its message where a class is wrong.

    A path that begins with `./` is one of the submission.
    """
    full = [_path(work, argument) for argument in arguments]
    ran = work.runner.run(
        [str(SIMULATOR), *full],
        trusted=True,
        seconds=_WALL_S,
        environment=environment(work),
    )
    again = again_line(work, full)
    if ran.status is None:
        raise Refused(
            Story(
                done=done,
                expected=f"The run to end within {_WALL_S:.0f} s, and to write no more than "
                f"{OUTPUT_BYTES_MAX >> 20} MB.",
                because="A decision of thirty lines takes some 50 microseconds. " + because,
                came=f"{ran.why} No single decision took as long as 5 s.",
                again=again,
            )
        )
    line = json.loads(ran.output.splitlines()[0]) if ran.output.strip() else {}
    if ran.status == 0:
        return dict(line)
    if "fault" not in line:
        raise Refused(
            Story(
                done=done,
                expected="A class that can be loaded and made.",
                because="insides/contract.py says what a class must have.",
                came="It could not begin.",
                way=tuple(ran.errors.strip().splitlines()[-5:]),
                again=again,
            )
        )
    fault = line["fault"]
    raise Refused(
        Story(
            done=f"{done} Decision {fault['decision']}, at {fault['at_ps'] / 1e6:.4f} us, was"
            f" about {fault['asked']}.",
            expected="A decision that is allowed"
            + (", and the same as the built-in one's." if "--same-as" in arguments else "."),
            because=because,
            came=f"{fault['what']}.",
            again=again,
        )
    )


def environment(work: Work) -> dict[str, str]:
    """With what a class of the submission is run."""
    packages = _packages(work)
    return {
        "VITRINE_PYTHON": work.runner.python([work.folder, packages]),
        "PYTHONPATH": str(packages),
        **PATHS,
    }


def _packages(work: Work) -> Path:
    """A folder with the contract and nothing else of the kit."""
    folder = work.scratch / "packages"
    if not folder.exists():
        package = folder / PACKAGE.name
        package.mkdir(parents=True)
        for name in CONTRACT:
            shutil.copy(PACKAGE / name, package / name)
        # A user without rights reads it, and cannot store what Python compiles.
        compileall.compile_dir(str(package), quiet=2)
        for each in (folder, *folder.rglob("*")):
            each.chmod(0o755 if each.is_dir() else 0o644)
    return folder


def again_line(work: Work, full: Sequence[str]) -> str:
    """The command line that does the same again."""
    at_home = [argument.replace(str(work.folder), work.shown) for argument in full]
    words = " ".join(shlex.quote(argument) for argument in at_home)
    return f"VITRINE_PYTHON=build/venv/bin/python build/bin/vitrine-sim {words}"


def require_file(work: Work, name: str) -> None:
    """Refuses a submission without this file."""
    if not (work.folder / name).is_file():
        raise Refused(
            Story(
                done=f"The check looked for {name}.",
                expected="The file that is to be handed in.",
                because="It is the one that the handout names under 'What to hand in'.",
                came="There is no such file in the folder.",
            )
        )
    if not SIMULATOR.exists():
        raise CourseError(f"there is no {SIMULATOR}: run `make build` first")


def _path(work: Work, argument: str) -> str:
    return f"{work.folder}/{argument[2:]}" if argument.startswith("./") else argument
